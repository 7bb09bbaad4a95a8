-- The response object. Everything that costs something (fields, metrics, text) is made when first looked at.

local errors = require "http.errors"
local headers = require("http.lazy") "http.headers"
local options = require "http.options"

local Response = { __name = "http.response" }
local methods, getters = { from_cache = false }, {}

function Response.__index(self, name)
  local method = methods[name]
  if method ~= nil then return method end
  local getter = getters[name]
  if not getter then return nil end
  local value = getter(self)
  rawset(self, name, value)
  return value
end

function Response:__tostring()
  return ("http.response: %d %s"):format(self.status, self.url)
end

function getters:headers() return headers.from_block(rawget(self, "_block") or "") end

function getters:metrics()
  local record = rawget(self, "_metrics")
  return record and require("http.metrics").unpack(record)
end

function getters:redirects()
  local flat, hops = rawget(self, "_redirects"), {}
  for i = 1, flat and #flat or 0, 3 do
    hops[#hops + 1] = { status = flat[i], from = flat[i + 1], to = flat[i + 2], url = flat[i + 2] }
  end
  return hops
end

-- Content-Type without its parameters, in lower case (RFC 9110 §8.3).
function getters:mime_type()
  local value = self.headers["Content-Type"]
  local found = value and value:match("^%s*([^;,%s]+)")
  if found then return found:lower() end
  -- A file has no fields: its name tells.
  if not value and self.url:find("^file:") then
    return require("http.mime").type_of(self.url)
  end
end

-- The charset parameter as the server wrote it, or nil.
function getters:text_encoding_name()
  return require("http.charset").from_content_type(self.headers["Content-Type"])
end

function getters:suggested_filename()
  return require("http.filename").suggested(self.headers["Content-Disposition"], self.url, self.mime_type)
end

local function fail(self, code, message, fields)
  fields = fields or {}
  fields.domain, fields.code, fields.message = fields.domain or "url", code, message
  fields.url, fields.response = self.url, self
  return nil, errors.new(fields)
end

local function body_of(self)
  if self.body == nil then return fail(self, "resource_unavailable", "the body was not kept (it went to a sink)") end
  return self.body
end

-- r:json([options]) -> value | nil, err (domain "json").
function methods:json(decode_options)
  options.receiver(self, Response, "response:json")
  local body, err = body_of(self)
  if not body then return nil, err end
  local value, problem = require("json").decode(body, decode_options)
  if problem then problem.url = self.url end
  return value, problem
end

-- r:text() -> UTF-8 | nil, err. The charset is that of a byte order mark, Content-Type, or an HTML meta element.
function methods:text()
  options.receiver(self, Response, "response:text")
  local body, err = body_of(self)
  if not body then return nil, err end
  local charset = require "http.charset"
  local name, skip = charset.detect(body, self.headers["Content-Type"])
  local text = require "httpscript.text"
  if skip and skip > 0 then body = body:sub(skip + 1) end
  local converted, problem = text.convert(body, name or "UTF-8", "UTF-8")
  if not converted then
    return fail(self, "cannot_decode_content_data", ("cannot convert from %s: %s"):format(name, problem))
  end
  return converted
end

function methods:html()
  options.receiver(self, Response, "response:html")
  local body, err = body_of(self)
  if not body then return nil, err end
  return require("http.html").parse(body, { base = self.url, encoding = self.text_encoding_name })
end

function methods:xml()
  options.receiver(self, Response, "response:xml")
  local body, err = body_of(self)
  if not body then return nil, err end
  return require("http.xml").parse(body, { base = self.url, encoding = self.text_encoding_name })
end

-- r:links() -> list of { url, rel, params } from the Link fields (RFC 8288).
function methods:links()
  options.receiver(self, Response, "response:links")
  local url = require "http.url"
  return require("http.links").parse(self.headers:get_all("Link"), function(reference)
    return url.resolve(self.url, reference)
  end)
end

local function status_matches(status, wanted)
  if wanted == nil then return status >= 200 and status < 300 end
  if type(wanted) == "function" then return wanted(status) end
  if type(wanted) == "number" then return status == wanted end
  for _, one in ipairs(wanted) do
    if one == status then return true end
  end
  if wanted.from == nil then return false end
  options.expect(wanted.from, "number", "option 'status.from'")
  options.expect(wanted.to, "number", "option 'status.to'")
  return status >= wanted.from and status <= wanted.to
end

local function type_matches(mime, wanted)
  if type(wanted) == "string" then wanted = { wanted } end
  for _, one in ipairs(wanted) do
    options.expect(one, "string", "an item of option 'type'")
    local pattern = one:lower():gsub("[%-%.%+]", "%%%0"):gsub("%*", ".*")
    if mime and mime:find("^" .. pattern .. "$") then return true end
  end
  return false
end

-- r:validate([{ status, type }]) -> r | nil, err (bad_server_response). status: a number, a list, { from =, to = } or a
-- function (default 200 to 299); type: a media type or a list of them, "*" matches anything.
function methods:validate(wanted)
  options.receiver(self, Response, "response:validate")
  options.check(wanted, { status = "number|table|function", type = "string|table" }, "argument #1 of validate")
  wanted = wanted or {}
  if not status_matches(self.status, wanted.status) then
    return fail(self, "bad_server_response", ("unexpected status %d %s"):format(self.status, self.reason or ""))
  end
  if wanted.type and not type_matches(self.mime_type, wanted.type) then
    return fail(self, "cannot_parse_response", ("unexpected content type %s"):format(self.mime_type or "(none)"))
  end
  return self
end

-- A download's file goes to its place.
local function move(self, path)
  local ok, problem = require("httpscript.file").move(self.location, path)
  if not ok then return nil, errors.new(problem) end
  self.location = path
  return path
end

-- r:save(path) -> path | nil, err (domain "file"): written under a temporary name, synced and renamed when whole. The
-- file of a download task is moved there, to another file system too.
function methods:save(path)
  options.receiver(self, Response, "response:save")
  options.path(path, "argument #1 of save")
  if self.location then return move(self, path) end
  local body, err = body_of(self)
  if not body then return nil, err end
  local ok, problem = require("httpscript.file").write(path, body)
  if not ok then return nil, errors.new(problem) end
  return path
end

local response = {}

-- Called with the core's values for a response head; `body`, `metrics`, `redirects` and `cached` may be nil.
function response.make(status, reason, version, url, block, expected, body, metrics, redirects, cached)
  local self = setmetatable({
    status = status, reason = reason, http_version = version, url = url, body = body,
    expected_content_length = expected, _block = block, _metrics = metrics,
  }, Response)
  if redirects then self._redirects = redirects end
  if cached then self.from_cache = true end
  return self
end

function response.is(value) return getmetatable(value) == Response end

return response
