---@meta http.filename

---Safe file names for downloads. Responses use it by themselves (`response.suggested_filename`).
local filename = {}

---Takes a Content-Disposition field apart (RFC 6266).
---@param header string
---@return { type: string|nil, parameters: table<string, string>, filename: string|nil } disposition `filename` is as sent, and not safe.
function filename.parse(header) end

---Makes a name safe to create in any directory: no directory part, no control characters, nothing that Windows refuses,
---no leading dots, at most 200 bytes.
---@param name string
---@return string|nil name nil when nothing is left.
function filename.safe(name) end

---The name from Content-Disposition, else from the URL's path, else the host, else "unknown"; always safe.
---@param disposition? string
---@param url? string
---@param media_type? string Gives an extension to a path without one.
---@return string
function filename.suggested(disposition, url, media_type) end

return filename
