--- XML documents: `xml.parse(text, { base = url, encoding = name })`.

local native = require "httpscript.html"
local dom = require "http.dom"

local xml = {}

local OPTIONS = { base = "string", encoding = "string" }

--- Parses a well-formed text. `encoding` comes before what the text declares. Returns a document, or nil and an error
-- with `line` and `column`. Nothing outside the text is read, and entities cannot blow it up.
function xml.parse(text, options)
  if type(text) ~= "string" then
    error(("bad argument #1 (string expected, got %s)"):format(text == nil and "no value" or type(text)), 2)
  end
  options = dom.check_options(options, OPTIONS, 2)
  local document, code, message, line, column = native.parse_xml(text, options.base, options.encoding)
  if not document then return dom.failure("xml", code, message, line, column) end
  return document
end

return xml
