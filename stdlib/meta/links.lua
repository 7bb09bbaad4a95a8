---@meta http.links

---Link header fields (RFC 8288). Responses use it by themselves (`response:links`).
local links = {}

---Reads fields. Malformed links are left out.
---@param fields string|string[] The value of one field, or of several.
---@param resolve? fun(reference: string): string|nil Makes a reference absolute.
---@return http.link[]
function links.parse(fields, resolve) end

return links
