---@meta http.cookies

---A cookie. `tostring` does not show the value.
---@class http.cookie
---@field name string "" for a nameless cookie, whose value alone is sent.
---@field value string
---@field domain string In lower case, without a leading dot.
---@field path string Default "/".
---@field expires? number Unix seconds; nil for a session cookie, which is not kept on disk.
---@field secure boolean Sent over https only.
---@field http_only boolean Kept and told; there are no documents whose scripts it could be hidden from.
---@field same_site? "none"|"lax"|"strict" Kept and told; a script's requests have no site they come from.
---@field host_only boolean Sent to `domain` alone and not to hosts below it.
---@field created number Unix seconds. Of two cookies with equally long paths the older one is sent first.

---Where cookies are kept, by the rules of RFC 6265bis: `Max-Age` before `Expires` and no more than 400 days, public
---suffixes, the prefixes `__Secure-` and `__Host-`, at most 4096 bytes, 180 for a domain and 3300 in all. A Secure
---cookie is taken and sent over https only.
---
---In a file (an SQLite database, mode 0600), several processes may use it at once; what one writes the others see within
---a tenth of a second. A damaged database is set aside as `<path>.damaged` with a warning and a new one begun; a file
---that is none is left alone. Where the file cannot be used, cookies are kept in memory, with a warning.
---@class http.cookie_storage
---@field accept_policy "always"|"never"|"only_from_main_document_domain" For every session that uses the storage; the session's own policy must allow a cookie too. Default "always".
---@field path? string The file; nil for a storage in memory.
local cookie_storage = {}

---All cookies that have not expired, or those that a request to `url` would carry, in the order of sending.
---@param url? string
---@return http.cookie[]
function cookie_storage:cookies(url) end

---Keeps a cookie, in the place of one with the same name, domain, path and `host_only`. A line, the value of a
---`Set-Cookie` field, is judged as if the server at `url` had sent it. In a table only name and value are needed, and a
---`domain` or else `url`, to whose host alone the cookie then belongs. A `domain` that is a public suffix (`com`, and any
---name of one label) is refused unless it is `url`'s host or `host_only` is true: then it is for that host alone. A
---`created` that is given stays as it is; a cookie that takes another's place keeps that one's. A cookie that has expired
---removes its like.
---@param cookie http.cookie|table|string
---@param url? string
---@return http.cookie|nil cookie As it was kept.
---@return http.error? err Domain "cookie", code "cookie_refused".
function cookie_storage:set(cookie, url) end

---Removes a cookie. Name, domain and path say which.
---@param cookie http.cookie|table
---@return boolean existed
function cookie_storage:delete(cookie) end

---Removes the cookies that were made at a time or later.
---@param date number Unix seconds.
---@return integer count
function cookie_storage:remove_since(date) end

---Removes all cookies.
---@return integer count
function cookie_storage:clear() end

---Adds the cookies of a file: Netscape's format (curl's and wget's cookie jars, browsers' `cookies.txt`) or JSON as
---`export` writes it. Cookies that `set` would refuse are passed over. With JSON the order of sending is what it was;
---Netscape's files do not say when a cookie was made, and the one that stands first is the older.
---@param path string
---@return integer|nil count How many were taken.
---@return http.error? err Where the file cannot be read, or `cannot_parse_response`: it holds no cookies but something else.
function cookie_storage:import(path) end

---Writes all cookies, session cookies too, to a file that only the user can read. Netscape's format has no room for
---`same_site` and `created`, nor for a tab; JSON none for bytes that are not UTF-8, which are an error.
---@param path string
---@param format? "netscape"|"json" Default "netscape".
---@return integer|nil count How many were written.
---@return http.error? err
function cookie_storage:export(path, format) end
