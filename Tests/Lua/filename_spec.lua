local filename = require "http.filename"
local reader = require "json_reader"

return function(t)
  local it, expect = t.it, t.expect

  local agreed, all = {}, reader.read(t.fixtures .. "content_disposition.json")
  for _, row in ipairs(all) do
    if row.suites_agree and row.n_suites > 1 then agreed[#agreed + 1] = row end
  end
  local function passes(row)
    local wanted = row.expected_filename
    if wanted == reader.null then wanted = nil end
    return filename.parse(row.header).filename == wanted
  end
  t.suite("Content-Disposition, where several suites agree", agreed, #agreed, passes)
  t.suite("Content-Disposition, every opinion", all, 190, passes)
  -- Chromium's own rules (host before directory, extensions for scripts' output): for the score only.
  t.suite("download names, Chromium", reader.read(t.fixtures .. "download_filename.json"), 30, function(row)
    local function given(text) return text ~= "" and text or nil end
    return filename.suggested(given(row.content_disposition), row.url, given(row.mime_type)) == row.expected_filename
  end)

  it("never leaves the directory", function()
    for name, wanted in pairs {
      ["../../etc/passwd"] = "passwd", ["/etc/cron.d/x"] = "x", ["..\\..\\boot.ini"] = "boot.ini", ["a/.."] = nil,
      [".."] = nil, ["."] = nil, [""] = nil, ["   "] = nil, [".bashrc"] = "bashrc", ["a/"] = nil,
    } do
      expect(filename.safe(name)):equals(wanted)
    end
    for _, name in ipairs { "..", "a/..", ".", "", "  ", "a/" } do
      expect(filename.safe(name)):equals(nil)
    end
  end)

  it("neutralises control characters, devices and direction marks", function()
    expect(filename.safe("a\0b\nc\127")):equals("a_b_c_")
    expect(filename.safe("CON")):equals("_CON")
    expect(filename.safe("com1.txt")):equals("_com1.txt")
    expect(filename.safe("nul .txt")):equals("_nul .txt")
    expect(filename.safe("console.txt")):equals("console.txt")
    expect(filename.safe("photo\226\128\174gpj.exe")):equals("photo_gpj.exe")
    expect(filename.safe("a<b>c:d|e?f*g\"h")):equals("a_b_c_d_e_f_g_h")
    expect(filename.safe("trailing. . ")):equals("trailing")
  end)

  it("keeps names short, whole characters and the extension", function()
    local name = filename.safe(("é"):rep(300) .. ".tar.gz")
    expect(#name <= 200):equals(true)
    expect(utf8.len(name) ~= nil):equals(true)
    expect(name):matches("%.gz$")
  end)

  it("takes bytes that are no UTF-8 for Latin-1", function()
    expect(filename.safe("caf\233.txt")):equals("café.txt")
  end)

  it("falls back to the URL, then the host, then a word", function()
    expect(filename.suggested(nil, "http://h/a/b%20c.txt?x#y")):equals("b c.txt")
    expect(filename.suggested("attachment", "http://h/a.txt")):equals("a.txt")
    expect(filename.suggested("attachment; filename=..", "http://h/a.txt")):equals("a.txt")
    expect(filename.suggested(nil, "http://user@h.example:80/")):equals("h.example")
    expect(filename.suggested(nil, "http://h/%2e%2e%2f")):equals("h")
    expect(filename.suggested(nil, "data:,x")):equals("unknown")
    expect(filename.suggested(nil, nil)):equals("unknown")
  end)

  it("adds an extension for the type to a path without one", function()
    expect(filename.suggested(nil, "http://h/images?id=3", "image/png")):equals("images.png")
    expect(filename.suggested(nil, "http://h/a.cgi", "image/png")):equals("a.cgi")
    expect(filename.suggested("attachment; filename=cat", "http://h/x", "image/png")):equals("cat")
  end)
end
