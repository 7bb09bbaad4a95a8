local multipart = require "http.multipart"
local reader = require "json_reader"

-- The body as one text, files shown as their names in angle brackets.
local function text_of(pieces)
  local texts = {}
  for _, piece in ipairs(pieces) do
    texts[#texts + 1] = type(piece) == "string" and piece or "<" .. piece.file .. ">"
  end
  return table.concat(texts)
end

-- A parser of its own, strict about the framing: -> list of { head = lines, body }
local function parse(body, content_type)
  local boundary = assert(content_type:match("^multipart/form%-data; boundary=([%w-]+)$"))
  local parts = {}
  body = "\r\n" .. body
  local position = 1
  while true do
    local first, last = body:find("\r\n--" .. boundary, position, true)
    assert(first, "the closing boundary is missing")
    if #parts > 0 then parts[#parts].body = body:sub(position, first - 1) end
    if body:sub(last + 1) == "--\r\n" then return parts end
    assert(body:sub(last + 1, last + 2) == "\r\n", "a boundary without a line end")
    local head_end, body_start = body:find("\r\n\r\n", last + 1, true)
    local lines = {}
    for line in body:sub(last + 3, head_end - 1):gmatch("[^\r\n]+") do
      lines[#lines + 1] = line
    end
    parts[#parts + 1] = { head = lines }
    position = body_start + 1
  end
end

return function(t)
  local it, expect = t.it, t.expect

  local function build(parts)
    local pieces, content_type = multipart.build(parts)
    return parse(text_of(pieces), content_type)
  end

  -- The rows of browsers' forms in UTF-8. Browsers also rewrite the line ends of values, which a library must not do
  -- to somebody's bytes: those rows are left out.
  local rows = {}
  for _, row in ipairs(reader.read(t.fixtures .. "multipart.json").produce_wpt) do
    local is_rewritten = row.value and row.value ~= row.expected.value and row.value:find("[\r\n]")
    if row.enctype == "multipart/form-data" and row.form_encoding == "utf-8" and not is_rewritten then
      rows[#rows + 1] = row
    end
  end
  t.suite("multipart names, WPT", rows, #rows, function(row)
    local part = { name = row.name, data = row.value }
    if row.file then
      part = { name = row.name, data = row.file.content, filename = row.file.filename, type = row.file.type }
    end
    local made = build { part }[1]
    -- The suite shows bytes as Latin-1 characters.
    local function bytes(text)
      return (text:gsub(utf8.charpattern, function(character)
        local code = utf8.codepoint(character)
        return code < 256 and string.char(code) or nil
      end))
    end
    local wanted = ('Content-Disposition: form-data; name="%s"'):format(bytes(row.expected.name))
    if row.expected.filename then wanted = ('%s; filename="%s"'):format(wanted, bytes(row.expected.filename)) end
    return made.head[1] == wanted and made.body == bytes(row.expected.value)
  end)

  it("lets no name break out of its quotes", function()
    local names = { 'a"b.txt', "end\\", "x\r\nContent-Type: text/evil\r\n\r\nSMUGGLED", "€.txt" }
    local parts = { { name = 'n"1', data = "v" } }
    for index, name in ipairs(names) do
      parts[#parts + 1] = { name = "file" .. index, filename = name, data = "content " .. index }
    end
    local made = build(parts)
    expect(#made):equals(5)
    expect(made[1].head):same { 'Content-Disposition: form-data; name="n%221"' }
    expect(made[2].head[1]):contains('filename="a%22b.txt"')
    expect(made[3].head[1]):contains('filename="end\\"')
    expect(made[4].head[1]):contains('filename="x%0D%0AContent-Type: text/evil%0D%0A%0D%0ASMUGGLED"')
    expect(made[5].head[1]):contains('filename="€.txt"')
    for index = 2, 5 do
      expect(#made[index].head):equals(2)
      expect(made[index].body):equals("content " .. index - 1)
    end
  end)

  it("keeps content byte by byte", function()
    local data = "Hello\0World\r\n--x\r\n\n\r"
    expect(build({ { name = "f", data = data } })[1].body):equals(data)
    expect(build({ { name = "f", data = "" } })[1].body):equals("")
    expect(build({ { name = "f", data = 42 } })[1].body):equals("42")
    expect(build({ { name = "f", data = false } })[1].body):equals("false")
  end)

  it("names files as pieces, with their own names and types", function()
    local pieces, content_type = multipart.build {
      { name = "a", data = "1" }, { name = "b", file = "/tmp/dir/photo.jpg" },
      { name = "c", file = "x", filename = "y.json", headers = { ["X-Note"] = "n" } },
      { name = "d", file = "z", filename = false },
    }
    expect(pieces[2]):same { file = "/tmp/dir/photo.jpg" }
    expect(pieces[4]):same { file = "x" }
    local made = parse(text_of(pieces), content_type)
    expect(made[2].head):same {
      'Content-Disposition: form-data; name="b"; filename="photo.jpg"', "Content-Type: image/jpeg",
    }
    expect(made[3].head):same {
      'Content-Disposition: form-data; name="c"; filename="y.json"', "Content-Type: application/json", "X-Note: n",
    }
    expect(made[4].head):same { 'Content-Disposition: form-data; name="d"' }
  end)

  it("makes a body of no parts", function()
    expect(#build {}):equals(0)
  end)

  it("never repeats a boundary", function()
    local seen = {}
    for _ = 1, 200 do
      local _, content_type = multipart.build { { name = "a", data = "b" } }
      expect(seen[content_type]):equals(nil)
      seen[content_type] = true
    end
  end)

  it("says which part is wrong and how", function()
    local function message(parts) return select(2, multipart.build(parts)) end
    local good = { name = "a", data = "b" }
    expect(message("x")):contains("a list of parts")
    expect(message({ good, "x" })):contains("part 2: a table")
    expect(message({ { data = "b" } })):contains("part 1: 'name' is missing")
    expect(message({ { name = "a" } })):contains("exactly one of 'data' and 'file'")
    expect(message({ { name = "a", data = "b", file = "c" } })):contains("exactly one of 'data' and 'file'")
    expect(message({ { name = "a", data = {} } })):contains("option 'data' must be")
    expect(message({ { name = "a", data = "b", file_name = "x" } })):contains("did you mean 'filename'?")
    expect(message({ { name = "a", data = "b", type = "x/y\r\nEvil: 1" } })):contains("'type' has a line break")
    expect(message({ { name = "a", data = "b", headers = { X = "1\n2" } } })):contains("header 'X' has a line break")
    expect(message({ { name = "a", data = "b", headers = { ["X Y"] = "1" } } })):contains("no token")
    local doubled = { ["content-disposition"] = "x" }
    expect(message({ { name = "a", data = "b", headers = doubled } })):contains("is made from")
    expect(message({ name = "a", data = "b" })):contains("not a table of names")
  end)
end
