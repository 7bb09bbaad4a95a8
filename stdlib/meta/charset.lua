---@meta http.charset

---Which charset a body is in, by the names that iconv takes. Responses use it by themselves (`response:text`).
local charset = {}

---The iconv name for a label as headers and documents write it.
---@param label string
---@return string|nil name nil for an unknown label.
function charset.canonical(label) end

---The charset parameter of a Content-Type, as written.
---@param content_type string|nil
---@return string|nil label
function charset.from_content_type(content_type) end

---What the first 1024 bytes of an HTML or XML document say.
---@param data string
---@return string|nil name
function charset.prescan(data) end

---The charset of a body: its byte order mark, else Content-Type, else the document itself, else a guess.
---@param data string
---@param content_type? string
---@return string name
---@return integer skip The length of the byte order mark.
---@return "mark"|"header"|"document"|"guess" source
function charset.detect(data, content_type) end

return charset
