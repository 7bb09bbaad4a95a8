-- AFNetworking's serializers: parameters to requests, and responses to values with what is acceptable said beforehand.

local errors = require "http.errors"
local headers = require "http.headers"
local options = require "http.options"
local query = require "http.serializer_query"
local request = require "http.request"

local misuse = options.misuse

local serializer = {}

-- Responses ----------------------------------------------------------------------------------------------------------

local Response = { __name = "http.serializer.response" }
Response.__index = Response

local ACCEPTABLE = { status = "number|table|function", types = "string|table" }
local JSON = { status = ACCEPTABLE.status, types = ACCEPTABLE.types, remove_null = "boolean", decode = "table" }

local function new_response(given, known, what, decode, types)
  given = options.check(given, known, what)
  return setmetatable({
    status = given.status, types = given.types or types, remove_null = given.remove_null, decode_options = given.decode,
    _decode = decode,
  }, Response)
end

-- s:validate(response) -> true | nil, err (bad_server_response, cannot_parse_response).
function Response:validate(response)
  options.receiver(self, Response, "serializer:validate")
  local fine, err = response:validate { status = self.status }
  if not fine then return nil, err end
  -- What has no body has no type either.
  if not self.types or response.status == 204 or response.body == "" then return true end
  fine, err = response:validate { status = function() return true end, type = self.types }
  return fine and true, err
end

-- s:object(response) -> value | nil, err. The value of an empty body is nil.
function Response:object(response)
  options.receiver(self, Response, "serializer:object")
  local fine, err = self:validate(response)
  if not fine then return nil, err end
  return self._decode(self, response)
end

-- serializer.http([{ status, types }]): the body as it is.
function serializer.http(given)
  return new_response(given, ACCEPTABLE, "the options of serializer.http", function(_, response)
    return response.body
  end)
end

-- Leaves out the members of objects that are null.
local function without_null(value, null)
  if type(value) ~= "table" then return value end
  for key, one in pairs(value) do
    if one == null and type(key) == "string" then
      value[key] = nil
    else
      without_null(one, null)
    end
  end
  return value
end

local function is_blank(body) return body == nil or not body:find("%S") end

-- serializer.json([{ status, types, remove_null, decode }]): the document as a value.
function serializer.json(given)
  local types = { "application/json", "application/*+json", "text/json", "text/javascript" }
  return new_response(given, JSON, "the options of serializer.json", function(self, response)
    if is_blank(response.body) then return nil end
    local value, err = response:json(self.decode_options)
    if err then return nil, err end
    return self.remove_null and without_null(value, require("json").null) or value
  end, types)
end

-- serializer.xml([{ status, types }]): an http.xml document.
function serializer.xml(given)
  local types = { "application/xml", "text/xml", "application/*+xml" }
  return new_response(given, ACCEPTABLE, "the options of serializer.xml", function(_, response)
    if is_blank(response.body) then return nil end
    return response:xml()
  end, types)
end

-- serializer.html([{ status, types }]): an http.html document.
function serializer.html(given)
  local types = { "text/html", "application/xhtml+xml" }
  return new_response(given, ACCEPTABLE, "the options of serializer.html", function(_, response)
    if is_blank(response.body) then return nil end
    return response:html()
  end, types)
end

-- serializer.compound(list): the first of the serializers that takes the response.
function serializer.compound(list)
  options.expect(list, "table", "argument #1 of serializer.compound")
  if #list == 0 then misuse("serializer.compound needs at least one serializer") end
  for _, one in ipairs(list) do options.receiver(one, Response, "an item of serializer.compound") end
  local made = setmetatable({ serializers = list }, Response)
  function made._decode(_, response)
    local problem
    for _, one in ipairs(list) do
      local value, err = one:object(response)
      if not err then return value end
      problem = problem or err
    end
    return nil, problem
  end
  function made.validate() return true end
  return made
end

-- Whether a value is a serializer of responses.
function serializer.is_response(value) return getmetatable(value) == Response end

-- Requests -----------------------------------------------------------------------------------------------------------

local Request = { __name = "http.serializer.request" }
Request.__index = Request

local REQUEST = {
  query_style = "string|function", headers = "table", timeout = "number", cache_policy = "string",
  methods_with_query = "table", user = "string", password = "string", encode = "table",
}

local function new_request(given, what, encode_body)
  given = options.check(given, REQUEST, what)
  if type(given.query_style) == "string" then query.check_style(given.query_style) end
  request.check_policy(given.cache_policy)
  local in_query = {}
  for _, method in ipairs(given.methods_with_query or { "GET", "HEAD", "DELETE" }) do in_query[method] = true end
  return setmetatable({
    query_style = given.query_style or "brackets", headers = headers.from(given.headers), timeout = given.timeout,
    cache_policy = given.cache_policy, encode_options = given.encode, _in_query = in_query, _user = given.user,
    _password = given.password, _encode_body = encode_body,
  }, Request)
end

-- Parameters as name=value pairs in this serializer's style.
function Request:encode_query(parameters)
  options.receiver(self, Request, "serializer:encode_query")
  if type(self.query_style) == "function" then
    return options.expect(self.query_style(parameters), "string", "what the query_style function returns")
  end
  return query.encode(parameters, self.query_style)
end

local function base(self, method, url)
  options.expect(method, "string", "argument #1 (the method)")
  options.expect(url, "string", "argument #2 (the URL)")
  local made = request.new { url = url, method = method, headers = headers.from(self.headers) }
  made.timeout, made.cache_policy = self.timeout, self.cache_policy
  if self._user and not made.headers["Authorization"] then
    local credentials = require("httpscript.text").base64(self._user .. ":" .. (self._password or ""))
    made.headers["Authorization"] = "Basic " .. credentials
  end
  return made
end

-- s:request(method, url [, parameters]) -> request | nil, err.
function Request:request(method, url, parameters)
  options.receiver(self, Request, "serializer:request")
  local made = base(self, method, url)
  if parameters == nil then return made end
  options.expect(parameters, "table|string", "argument #3 (the parameters)")
  if self._in_query[method:upper()] then
    made.url = request.add_query(url, type(parameters) == "string" and parameters or self:encode_query(parameters))
    return made
  end
  local body, type_or_err = self._encode_body(self, parameters)
  if not body then return nil, type_or_err end
  made.body = body
  if not made.headers["Content-Type"] then made.headers["Content-Type"] = type_or_err end
  return made
end

-- s:multipart_request(method, url, parameters, parts) -> request | nil, err: the parameters as fields before the parts.
function Request:multipart_request(method, url, parameters, parts)
  options.receiver(self, Request, "serializer:multipart_request")
  options.expect(parts, "table", "argument #4 (the parts)")
  if method == "GET" or method == "HEAD" then misuse("a multipart request cannot be a %s", method) end
  local all = query.fields(parameters or {}, self.query_style)
  for _, part in ipairs(parts) do all[#all + 1] = part end
  local made, problem = request.with_multipart(base(self, method, url), all)
  if not made then return nil, errors.new { domain = "url", code = "bad_url", message = problem, url = url } end
  return made
end

-- serializer.http_request([options]): parameters as a query, or as a form in the body.
function serializer.http_request(given)
  return new_request(given, "the options of serializer.http_request", function(self, parameters)
    local text = type(parameters) == "string" and parameters or self:encode_query(parameters)
    return text, "application/x-www-form-urlencoded"
  end)
end

-- serializer.json_request([options]): parameters as a query, or as a JSON document in the body.
function serializer.json_request(given)
  return new_request(given, "the options of serializer.json_request", function(self, parameters)
    local text, err = require("json").encode(parameters, self.encode_options)
    if not text then return nil, err end
    return text, "application/json"
  end)
end

return serializer
