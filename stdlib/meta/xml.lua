---@meta http.xml

---XML documents. Nothing outside the text is read, and entities cannot blow it up.
local xml = {}

---Reads a document.
---@param text string
---@param options? http.html.options
---@return html.document|nil document
---@return http.error? err Of domain "xml", with `line` and `column`.
function xml.parse(text, options) end

return xml
