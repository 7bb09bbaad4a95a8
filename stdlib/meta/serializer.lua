---@meta http.serializer

---AFNetworking's serializers: parameters to requests, and responses to values, with what is acceptable said beforehand.
local serializer = {}

---The body as it is.
---@param options? http.serializer.acceptable
---@return http.serializer.response
function serializer.http(options) end

---The document as a value. Types by default: application/json, application/*+json, text/json, text/javascript.
---@param options? http.serializer.json.options
---@return http.serializer.response
function serializer.json(options) end

---An http.xml document. Types by default: application/xml, text/xml, application/*+xml.
---@param options? http.serializer.acceptable
---@return http.serializer.response
function serializer.xml(options) end

---An http.html document. Types by default: text/html, application/xhtml+xml.
---@param options? http.serializer.acceptable
---@return http.serializer.response
function serializer.html(options) end

---What the first serializer that takes the response makes of it; the error is that of the first.
---@param list http.serializer.response[]
---@return http.serializer.response
function serializer.compound(list) end

---Whether a value is a serializer of responses.
---@param value any
---@return boolean
function serializer.is_response(value) end

---Requests with parameters as a query, or (methods not in `methods_with_query`) as a form in the body.
---@param options? http.serializer.request.options
---@return http.serializer.request
function serializer.http_request(options) end

---Requests with parameters as a query, or as a JSON document in the body.
---@param options? http.serializer.request.options
---@return http.serializer.request
function serializer.json_request(options) end

---What a response serializer takes.
---@class http.serializer.acceptable
---@field status? integer|integer[]|{ from: integer, to: integer }|fun(status: integer): boolean Default: 200 to 299.
---@field types? string|string[] Media types; "*" matches anything. Default: those of the serializer.

---What the serializer of JSON takes besides.
---@class http.serializer.json.options: http.serializer.acceptable
---@field remove_null? boolean Leave out the members of objects that are null.
---@field decode? table Options of `json.decode`.

---What request serializers take.
---@class http.serializer.request.options
---@field query_style? "brackets"|"repeat"|"comma"|fun(parameters: table): string How nested parameters are written: a[b]=1&c[]=2 (default), a.b=1&c=2, a.b=1&c=2,3, or by a function.
---@field headers? table<string, string> Fields of every request.
---@field timeout? number Seconds.
---@field cache_policy? string
---@field methods_with_query? string[] Default: GET, HEAD, DELETE.
---@field user? string With `password`: an Authorization field for Basic.
---@field password? string
---@field encode? table Options of `json.encode`.

---Makes values of responses.
---@class http.serializer.response
local response = {}

---Whether the response is acceptable.
---@param answer http.response
---@return true|nil
---@return http.error|nil err `bad_server_response` (the status), `cannot_parse_response` (the type).
function response:validate(answer) end

---The value of an acceptable response; nil where the body is empty.
---@param answer http.response
---@return any value
---@return http.error|nil err
function response:object(answer) end

---Makes requests of parameters.
---@class http.serializer.request
local request = {}

---A request with these parameters.
---@param method string
---@param url string
---@param parameters? table|string
---@return http.request|nil
---@return http.error|nil err Domain "json" where the parameters are no document.
function request:request(method, url, parameters) end

---A request with a multipart form: the parameters as fields, then the parts.
---@param method string
---@param url string
---@param parameters table|nil
---@param parts http.part[]
---@return http.request|nil
---@return http.error|nil err
function request:multipart_request(method, url, parameters, parts) end

---Parameters as the text of a query.
---@param parameters table
---@return string
function request:encode_query(parameters) end

return serializer
