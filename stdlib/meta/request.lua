---@meta http.request

---The fields that make a request.
---@class http.request.fields
---@field url string With or without user and password. What a URL cannot have (spaces, `"`, `<`, `>`, backticks, bytes beyond ASCII, in the path also `^`, `{`, `}`, in the query `'`) is percent-encoded as browsers do; escapes that are there stay.
---@field method? string Default "GET".
---@field headers? http.headers|table<string, string|string[]>
---@field body? string|http.reader|{ file: string }
---@field timeout? number Seconds without any data after which the request fails with `timed_out`.
---@field cache_policy? "use_protocol_cache_policy"|"reload_ignoring_local_cache_data"|"return_cache_data_else_load"|"return_cache_data_dont_load"|"reload_revalidating_cache_data" What HTTP says (the default); from the network; what is stored, however old, else from the network; what is stored or `resource_unavailable`; what is stored once the server has confirmed it (which is not asked for what is fresh and `immutable`).
---@field network_service_type? http.service_type In place of the session's, unless it is "default" (which it is without this).
---@field allows_cellular_access? boolean Kept, and nothing else (default true).
---@field http_should_handle_cookies? boolean Stored cookies are sent, and those that come are kept (default true).
---@field main_document_url? string For the cookie accept policy "only_from_main_document_domain".
---@field http_should_use_pipelining? boolean In place of the session's.

---A request: Apple's URLRequest. It may be changed until it is sent; assigning to an unknown field raises. `tostring`
---shows the method and the URL without user and password.
---@class http.request: http.request.fields
---@field method string
---@field headers http.headers
local request = {}

---A request with the same fields.
---@return http.request
function request:copy() end

---The equal curl command line. The password in the URL and the values of Authorization, Proxy-Authorization, Cookie and
---of fields with names like X-Api-Key or X-Auth-Token are masked unless `reveal` is true.
---@param options? { reveal: boolean }
---@return string command
function request:curl(options) end

---Header fields. Indexing and assignment ignore case; `pairs` goes in wire order, repeated fields one by one. A field
---that occurs more than once reads as its values joined by ", "; assigning nil removes all of the name.
---@class http.headers
---@field [string] string
local headers = {}

---The values of a field, one by one.
---@param name string
---@return string[]
function headers:get_all(name) end

---Adds one more field.
---@param name string
---@param value string|number
function headers:add(name, value) end
