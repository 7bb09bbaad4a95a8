---@meta http.mime

---Media types by file name extension, and back.
local mime = {}

---What nothing more is known about: "application/octet-stream".
---@type string
mime.default = nil

---The media type that a file's name or path promises.
---@param name string
---@return string type `mime.default` when it promises none.
function mime.type_of(name) end

---The usual extension for a media type.
---@param type string Parameters are ignored.
---@return string|nil extension Without its dot.
function mime.extension_of(type) end

return mime
