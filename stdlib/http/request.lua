-- Requests: the value that http.request makes, and how requests and options become the core's flat arguments.

local is_secret_field = require("httpscript.core").is_secret_field
local errors = require "http.errors"
local headers = require "http.headers"
local options = require "http.options"

local misuse = options.misuse

local request = {}

local Request = { __name = "http.request" }
-- Methods, and the fields that a request does not have yet: Apple's defaults.
local methods = {
  network_service_type = "default", allows_cellular_access = true, http_should_handle_cookies = true,
  http_should_use_pipelining = false,
}
Request.__index = methods

-- Apple's URLRequest properties, and the field types they take.
local FIELDS = {
  url = "string", method = "string", headers = "table", body = "string|function|table", timeout = "number",
  cache_policy = "string", network_service_type = "string", allows_cellular_access = "boolean",
  http_should_handle_cookies = "boolean", main_document_url = "string", http_should_use_pipelining = "boolean",
}

local CACHE_POLICIES = {
  use_protocol_cache_policy = true, reload_ignoring_local_cache_data = true, return_cache_data_else_load = true,
  return_cache_data_dont_load = true, reload_revalidating_cache_data = true,
}

local SERVICE_TYPES = {
  default = true, background = true, responsive_data = true, av_streaming = true, responsive_av = true, video = true,
  call_signaling = true, voice = true, voip = true,
}

-- Raises unless it is a network service type.
function request.check_service_type(name) options.expect_word(name, SERVICE_TYPES, "network service type") end

-- Raises unless it is a cache policy or nil.
function request.check_policy(policy)
  if policy ~= nil then options.expect_word(policy, CACHE_POLICIES, "cache policy") end
end

local check_policy = request.check_policy

-- Only for a field that is not there yet; request.check looks at the others.
function Request.__newindex(self, name, value)
  local types = FIELDS[name]
  if not types then
    local near = options.nearest(tostring(name), FIELDS)
    misuse("a request has no field '%s'%s", tostring(name), near and (" (did you mean '" .. near .. "'?)") or "")
  end
  if value ~= nil then options.expect(value, types, "a request's '" .. name .. "'") end
  rawset(self, name, value)
end

-- The text of a URL that a script gave in parts (`http.url`), or nil.
function request.url_text(value)
  if type(value) == "table" and (getmetatable(value) or {}).__name == "http.url" then return tostring(value) end
end

-- A request of a URL, with nothing else.
function request.get(url) return setmetatable({ url = url, method = "GET", headers = headers.from(nil) }, Request) end

-- http.request(url) or http.request{ url =, method =, headers =, body =, timeout =, ... } -> a mutable request.
function request.new(given)
  local text = type(given) == "string" and given or request.url_text(given)
  if text then return request.get(text) end
  if request.is(given) then return given:copy() end
  options.expect(given, "table", "argument #1 of http.request")
  options.check(given, FIELDS, "argument #1 of http.request")
  if given.url == nil then misuse("http.request needs a 'url'") end
  check_policy(given.cache_policy)
  local made = setmetatable({}, Request)
  for name, value in next, given do made[name] = value end
  made.method = given.method or "GET"
  made.headers = headers.from(given.headers)
  return made
end

function request.is(value) return getmetatable(value) == Request end

-- The request that a redirect leads to, of the one that was redirected and the core's values.
function request.redirected(before, method, url, flat, has_body)
  local made = {}
  for name, value in next, before do made[name] = value end
  made.method, made.url, made.headers = method, url, headers.from_flat(flat)
  if not has_body then made.body = nil end
  return setmetatable(made, Request)
end

function methods:copy()
  options.receiver(self, Request, "request:copy")
  -- What most have is named, so that the table is made once in its size.
  local made = {
    url = self.url, method = self.method, headers = headers.from(self.headers), body = self.body,
    timeout = self.timeout,
  }
  for name, value in next, self do
    if made[name] == nil then made[name] = value end
  end
  return setmetatable(made, Request)
end

function Request:__tostring() return tostring(self.method) .. " " .. request.shown_url(tostring(self.url)) end

-- The URL without user and password.
function request.shown_url(url)
  return (url:gsub("^(%a[%w+.-]*://)[^/?#@]*@", "%1"))
end

local function quote(text)
  if text:find("^[%w@%%+=:,./_-]+$") then return text end
  return "'" .. text:gsub("'", "'\\''") .. "'"
end

-- request:curl([{ reveal = true }]) -> the equal curl command line; Authorization, Cookie and the like and the URL's
-- password are masked unless revealed.
function methods:curl(given)
  options.receiver(self, Request, "request:curl")
  options.expect(self.url, "string", "a request's 'url'")
  options.expect(self.method, "string", "a request's 'method'")
  options.check(given, { reveal = "boolean" }, "argument #1 of curl")
  local reveal = given and given.reveal
  local parts = { "curl" }
  if self.method == "HEAD" then
    parts[#parts + 1] = "--head"
  elseif self.method ~= "GET" or self.body then
    parts[#parts + 1] = "-X " .. quote(self.method)
  end
  for name, value in pairs(self.headers) do
    if is_secret_field(name) and not reveal then value = "***" end
    parts[#parts + 1] = "-H " .. quote(value == "" and name .. ";" or name .. ": " .. value)
  end
  -- What curl would add to a body by itself.
  if self.body and not self.headers["Content-Type"] then parts[#parts + 1] = "-H Content-Type:" end
  if type(self.body) == "string" then
    parts[#parts + 1] = "--data-raw " .. quote(self.body)
  elseif type(self.body) == "table" and self.body.file then
    parts[#parts + 1] = "--data-binary " .. quote("@" .. self.body.file)
  elseif self.body then
    parts[#parts + 1] = "--data-binary @-"
  end
  local url = reveal and self.url or self.url:gsub("^(%a[%w+.-]*://[^/?#@:]*):[^/?#@]*@", "%1:***@")
  if url:find("[%[%]{}]") then parts[#parts + 1] = "--globoff" end
  parts[#parts + 1] = quote(url)
  return table.concat(parts, " ")
end

-- Bodies ------------------------------------------------------------------------------------------------------------

local function escape(text)
  return (text:gsub("[^%w%-%._~]", function(c) return ("%%%02X"):format(c:byte()) end))
end

-- application/x-www-form-urlencoded (WHATWG URL §5.2).
local function form_escape(text)
  return (text:gsub("[^%w%-%._*]", function(c) return c == " " and "+" or ("%%%02X"):format(c:byte()) end))
end

local function scalar(value, what)
  if type(value) == "boolean" then return tostring(value) end
  options.expect(value, "string|number", what)
  return tostring(value)
end

local function add_pairs(out, name, value, what, encode)
  if type(value) == "table" then
    for key in pairs(value) do
      if math.type(key) ~= "integer" then misuse("%s field '%s' must be a list, not a table of names", what, name) end
    end
    for _, one in ipairs(value) do
      out[#out + 1] = encode(name) .. "=" .. encode(scalar(one, what .. " field '" .. name .. "'"))
    end
  else
    out[#out + 1] = encode(name) .. "=" .. encode(scalar(value, what .. " field '" .. name .. "'"))
  end
end

-- name=value&...: a table of names (in sorted order; list values repeat) or a list of { name, value }.
local function encode_pairs(fields, what, encode)
  local out, names = {}, {}
  for _, pair in ipairs(fields) do
    options.expect(pair, "table", "an item of " .. what)
    add_pairs(out, scalar(pair[1], "a name in " .. what), pair[2], what, encode)
  end
  for name in pairs(fields) do
    if type(name) == "string" then
      names[#names + 1] = name
    elseif math.type(name) ~= "integer" or name < 1 or name > #fields then
      misuse("%s has a key that is not a name: %s", what, tostring(name))
    end
  end
  table.sort(names)
  for _, name in ipairs(names) do add_pairs(out, name, fields[name], what, encode) end
  return table.concat(out, "&")
end

request.escape = escape

-- The query text of the option `query`, without the question mark.
function request.encode_query(fields) return encode_pairs(fields, "'query'", escape) end

-- Puts a query text into a URL, before its fragment.
function request.add_query(url, query)
  if type(query) == "table" then query = request.encode_query(query) end
  if query == "" then return url end
  local base, fragment = url:match("^([^#]*)(#?.*)$")
  local joint = not base:find("?", 1, true) and "?" or (base:find("[?&]$") and "" or "&")
  return base .. joint .. query .. fragment
end

local function set_default(list, name, value)
  if list[name] == nil then list:add(name, value) end
end

local BODY_OPTIONS = { "body", "json", "form", "multipart" }

local function flatten_parts(pieces)
  local flat = {}
  for _, piece in ipairs(pieces) do
    flat[#flat + 1] = type(piece) == "table" and "file" or "data"
    flat[#flat + 1] = type(piece) == "table" and piece.file or piece
  end
  return flat
end

-- A body as kind, value and, for kind "reader", the function; for "parts", the flat list.
function request.flatten_body(body, what)
  if body == nil then return nil end
  if type(body) == "string" then return "data", body end
  if type(body) == "function" then return "reader", nil, body end
  if type(body) ~= "table" then
    misuse("%s must be a string, a function or { file = path }, not %s", what, type(body))
  end
  if type(body.file) == "string" then return "file", options.path(body.file, what .. "'s 'file'") end
  if type(body.reader) == "function" then return "reader", body.length, body.reader end
  if type(body.data) == "string" then return "data", body.data end
  if body.stream == true then return "stream" end
  if body._parts then return "parts", nil, body._parts end
  misuse("%s must be a string, a function or { file = path }", what)
end

-- A multipart form as a body and its Content-Type; nil and a message for parts that make none.
local function multipart_body(parts)
  local pieces, content_type = require("http.multipart").build(parts)
  if not pieces then return nil, content_type end
  return { _parts = flatten_parts(pieces) }, content_type
end

-- The body of a call's options; adds the Content-Type it implies to `list` unless there is one.
local function option_body(given, list)
  local found
  for _, name in ipairs(BODY_OPTIONS) do
    if given[name] ~= nil then
      if found then misuse("options '%s' and '%s' exclude each other", found, name) end
      found = name
    end
  end
  if found == nil then return nil end
  if found == "body" then return given.body end
  if found == "json" then
    local text, err = require("json").encode(given.json)
    if not text then misuse("option 'json': %s", tostring(err.message or err)) end
    set_default(list, "Content-Type", "application/json")
    return text
  end
  if found == "form" then
    set_default(list, "Content-Type", "application/x-www-form-urlencoded")
    return type(given.form) == "string" and given.form or encode_pairs(given.form, "'form'", form_escape)
  end
  local body, content_type = multipart_body(given.multipart)
  if not body then misuse("option 'multipart': %s", tostring(content_type)) end
  list["Content-Type"] = content_type
  return body
end

-- Gives a request a form of these parts -> the request | nil, what is wrong with them.
function request.with_multipart(self, parts)
  local body, content_type = multipart_body(parts)
  if not body then return nil, content_type end
  self.body, self.headers["Content-Type"] = body, content_type
  return self
end

-- Gives a request that was made without options its empty list of headers, before a script can see it.
function request.complete(self)
  if self and not self.headers then self.headers = headers.from(nil) end
  return self
end

local USUAL = { url = true, method = true, headers = true, body = true, timeout = true }

-- Whether nothing is set in a request but what most have.
function request.is_usual(self)
  for name in next, self do
    if not USUAL[name] then return false end
  end
  return true
end

-- Makes a request of a verb's method, URL and options.
function request.from_options(method, url, given)
  if not given then return setmetatable({ method = method, url = url }, Request) end
  local list = headers.from(given.headers)
  if given.query then url = request.add_query(url, given.query) end
  check_policy(given.cache_policy)
  return setmetatable({
    method = method, url = url, headers = list, body = option_body(given, list), timeout = given.timeout,
    cache_policy = given.cache_policy,
  }, Request)
end

local KNOWN_METHODS = { GET = true, HEAD = true, POST = true, PUT = true, PATCH = true, DELETE = true, OPTIONS = true }

local function bad_request(self, message)
  return nil, errors.new { domain = "url", code = "bad_url", message = message, url = request.shown_url(self.url) }
end

local function check_settings(self)
  if self.timeout then
    options.expect(self.timeout, "number", "a request's 'timeout'")
    if not (self.timeout > 0) then misuse("a request's 'timeout' must be more than 0 seconds") end
  end
  if self.cache_policy then check_policy(self.cache_policy) end
  if self.main_document_url then options.line(self.main_document_url, "a request's 'main_document_url'") end
  if self.network_service_type ~= "default" then request.check_service_type(self.network_service_type) end
end

-- What must not be sent in this session: nil and an error object, or true and the flat fields. (The URL is the core's
-- matter.)
function request.check(self)
  if type(self.method) ~= "string" then options.expect(self.method, "string", "a request's 'method'") end
  if type(self.url) ~= "string" then options.expect(self.url, "string", "a request's 'url'") end
  if not KNOWN_METHODS[self.method] and not self.method:find("^[!#$%%&'*+%-.^_`|~%w]+$") then
    return bad_request(self, ("method %q is not a token (RFC 9110 §9.1)"):format(self.method))
  end
  check_settings(self)
  local list = self.headers
  if not list then return true end
  if not headers.is(list) then list = headers.from(list) end
  local flat, problem = headers.flatten(list)
  if problem then return bad_request(self, problem) end
  return true, flat
end

return request
