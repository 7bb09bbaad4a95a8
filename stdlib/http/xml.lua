--- XML documents: `xml.parse(text, { base = url, encoding = name })`.

local native = require "httpscript.html"
local dom = require "http.dom"
local options = require "http.options"

local xml = {}

local OPTIONS = { base = "string", encoding = "string" }

--- Parses a well-formed text. `encoding` comes before what the text declares. Returns a document, or nil and an error
-- with `line` and `column`. Nothing outside the text is read, and entities cannot blow it up.
function xml.parse(text, settings)
  options.expect(text, "string", "text")
  settings = options.check(settings, OPTIONS, "options")
  local document, code, message, line, column = native.parse_xml(text, settings.base, settings.encoding)
  if not document then return dom.failure("xml", code, message, line, column) end
  return document
end

return xml
