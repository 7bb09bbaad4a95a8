local mime = require "http.mime"

return function(t)
  local it, expect = t.it, t.expect

  it("knows types by extension, whatever the case", function()
    expect(mime.type_of("a/b.PNG")):equals("image/png")
    expect(mime.type_of("page.html")):equals("text/html")
    expect(mime.type_of("a.tar.gz")):equals("application/gzip")
    expect(mime.type_of("README")):equals("application/octet-stream")
    expect(mime.type_of("a.unknown")):equals("application/octet-stream")
    expect(mime.type_of("dir.png/file")):equals("application/octet-stream")
  end)

  it("knows the usual extension of a type", function()
    expect(mime.extension_of("text/html; charset=utf-8")):equals("html")
    expect(mime.extension_of("IMAGE/JPEG")):equals("jpg")
    expect(mime.extension_of("application/octet-stream")):equals(nil)
    expect(mime.extension_of("dance/party")):equals(nil)
    expect(mime.extension_of("")):equals(nil)
  end)
end
