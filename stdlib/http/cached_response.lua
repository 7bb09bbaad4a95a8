-- What is stored for a request: `response`, `data`, `stored_at`, `user_info` and `storage` (Apple's CachedURLResponse).

local errors = require "http.errors"
local headers = require "http.headers"
local options = require "http.options"
local response = require "http.response"

local CachedResponse = { __name = "http.cached_response" }
local STORAGES = { allowed = true, memory_only = true, not_allowed = true }
local FIELDS = {
  response = "table", data = "string", stored_at = "number", user_info = "any", storage = "string",
}

function CachedResponse:__tostring()
  return ("http.cached_response: %d %s"):format(self.response.status, self.response.url or "")
end

local cached_response = {}

-- From the core's values: data, date, user information as JSON, storage, and those of a response's head.
function cached_response.make(data, stored_at, info, storage, status, reason, version, url, block, expected)
  local head = response.make(status, reason, version, url, block, expected, data, nil, nil, true)
  return setmetatable({
    response = head, data = data, stored_at = stored_at, user_info = info and require("json").decode(info),
    storage = storage,
  }, CachedResponse)
end

function cached_response.is(value) return getmetatable(value) == CachedResponse end

-- Why a table cannot be stored: raises.
function cached_response.check(given, what)
  options.expect(given, "table", what)
  for name, value in next, given do
    local types = FIELDS[name]
    if not types then
      local near = options.nearest(tostring(name), FIELDS)
      local hint = near and (" (did you mean '" .. near .. "'?)") or ""
      options.misuse("%s has no field '%s'%s", what, tostring(name), hint)
    end
    options.expect(value, types, ("%s's '%s'"):format(what, name))
  end
  if given.storage ~= nil then options.expect_word(given.storage, STORAGES, "storage policy") end
  local head = given.response
  if head == nil then options.misuse("%s needs a 'response'", what) end
  if math.type(head.status) ~= "integer" then options.misuse("%s's 'response' needs a 'status'", what) end
  return given
end

-- The values the core takes: status, reason, fields, data, user information as JSON, storage; or nil and an error.
function cached_response.flatten(given)
  local list = given.response.headers
  if not headers.is(list) then list = headers.from(list) end
  local fields, problem = headers.flatten(list)
  if problem then options.misuse("a cached response's 'response': %s", problem) end
  local info
  if given.user_info ~= nil then
    local text, err = require("json").encode(given.user_info)
    if not text then return nil, errors.is(err) and err or errors.new(err) end
    info = text
  end
  return given.response.status, given.response.reason or "", fields or "", given.data, info, given.storage or "allowed"
end

return cached_response
