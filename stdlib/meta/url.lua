---@meta http.url

---URLs, by libcurl's parser: what a script sees is what goes on the wire.
local url = {}

---Takes a URL apart.
---@param text string
---@return http.url|nil url
---@return http.error? err
function url.parse(text) end

---Makes a reference absolute (RFC 3986 §5).
---@param base string|http.url
---@param reference string|http.url
---@return string|nil text
---@return http.error? err
function url.resolve(base, reference) end

---Writes a URL in its one usual form: lower-case scheme and host, no default port, no dot segments, escapes in capitals
---and only where they are needed.
---@param text string|http.url
---@return string|nil text
---@return http.error? err
function url.normalize(text) end

---Percent-encodes everything but the unreserved characters, for a part of a path or a query.
---@param text string
---@return string
function url.encode(text) end

---Undoes percent-encoding. A percent sign that begins no escape stays.
---@param text string
---@return string bytes
function url.decode(text) end

---Writes a query.
---@param fields table<string, any>|any[][] Names and values (a list value repeats the name) in sorted order, or a list of `{ name, value }` in its own.
---@return string
function url.encode_query(fields) end

---Reads a query. A plus sign is a space.
---@param text string With or without its question mark.
---@return table<string, string|string[]> fields A repeated name has a list.
function url.decode_query(text) end

---The parts of a URL, as written on the wire; `tostring` puts them together.
---@class http.url
---@field scheme string|nil
---@field user string|nil
---@field password string|nil
---@field host string|nil
---@field port integer|nil nil where it is not written.
---@field path string|nil
---@field query string|nil
---@field fragment string|nil

return url
