---@meta http.multipart

---multipart/form-data (RFC 7578), as browsers write it. Calls use it by themselves (the option `multipart`).
local multipart = {}

---Builds a body.
---@param parts http.part[]
---@return (string|{ file: string })[]|nil pieces
---@return string content_type With the boundary; or what is wrong with which part.
function multipart.build(parts) end

---A part of a form: either `data` or `file`.
---@class http.part
---@field name string
---@field data? string|number|boolean
---@field file? string The path of a file, which is read while it is sent.
---@field filename? string|false The name to send (default: the last part of `file`); false for none.
---@field type? string A media type (default: by the name, where there is one).
---@field headers? table<string, string> Further fields of the part.

return multipart
