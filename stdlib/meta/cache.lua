---@meta http.cache

---A private HTTP cache (RFC 9111, RFC 5861, RFC 8246), as sessions have one. What may be stored is stored as it came, and
---given out while it is fresh (`max-age`, `Expires`, or a tenth of the time since `Last-Modified`, a week at most), for
---requests that agree in the fields that `Vary` names. Stale responses are validated with `ETag` and `Last-Modified`.
---
---A response is given to requests with the same credentials only, or with none as the first one, unless it is `public`
---(private caches need not, but a script may well speak for several users); one that a
---handler's answer to a challenge brought is stored only when it is `public`, `must-revalidate` or has `s-maxage`. Stored
---`Set-Cookie` fields are given out and set no cookie again. Sessions with `unix_socket`, `resolve` or `client_certificate` find only what
---sessions with the same ones have stored. Of the fields that select a response, only digests are kept.
---
---With a path, responses are on disk: SQLite for what is known of them, a file for each body, both for the user alone.
---They are written within a tenth of a second, by `session:flush`, or at the end. Several processes may use one
---directory. A body is given out when it has the length and the SHA-256 it was stored with. A damaged database is set
---aside with a warning; where there is no room, or the directory cannot be written, responses are kept in memory.
---@class http.cache
---@field memory_capacity integer Bytes.
---@field disk_capacity integer Bytes; 0 without a path.
---@field path? string The directory.
---@field usage { memory: integer, disk: integer } Bytes. What was used least recently goes first.
local cache = {}

---What is stored for a request, however old; nil for nothing. The request is taken with the fields that a session adds.
---@param request string|http.request|http.request.fields
---@return http.cached_response|nil cached
function cache:get(request) end

---Stores a response for a request, whether HTTP would let it be stored or not; it is given out as its fields say.
---@param cached http.cached_response|{ response: http.response|{ status: integer, headers?: table }, data?: string, user_info?: any, storage?: string }
---@param request string|http.request|http.request.fields
---@return boolean|nil stored False where it is too large, `not_allowed`, or varies with everything.
---@return http.error? err `user_info` cannot be JSON.
function cache:store(cached, request) end

---Removes all that is stored for a request's URL.
---@param request string|http.request|http.request.fields
function cache:remove(request) end

---Removes what was stored at a time or later.
---@param date number Unix seconds.
function cache:remove_since(date) end

---Removes everything.
function cache:clear() end

---A stored response, or one that is to be stored. Given to `will_cache_response` it may be changed there.
---@class http.cached_response
---@field response http.response
---@field data string The body, its content codings undone.
---@field stored_at number Unix seconds.
---@field user_info any Whatever JSON can say; kept beside it.
---@field storage "allowed"|"memory_only"|"not_allowed"
