-- http.cache{ path, memory_capacity, disk_capacity }: a private HTTP cache (RFC 9111), as sessions have one.

local native = require "httpscript.cache"
local cached_response = require "http.cached_response"
local headers = require "http.headers"
local options = require "http.options"
local request = require "http.request"

local Cache = { __name = "http.cache" }
local methods = {}
local HANDLE = {}

-- `usage`, `memory_capacity`, `disk_capacity` and `path` are looked up when they are read.
function Cache.__index(self, name)
  if name == "usage" then
    local memory, disk = native.usage(rawget(self, HANDLE))
    return { memory = memory, disk = disk }
  end
  return methods[name]
end

function Cache.__newindex(_, name) options.misuse("a cache's '%s' cannot be set", tostring(name)) end

function Cache:__tostring() return "http.cache: " .. (self.path or "in memory") end

local function receiver(value, name) options.receiver(value, Cache, "cache:" .. name) end

local function make(handle)
  local memory, disk, path = native.facts(handle)
  local self = { [HANDLE] = handle, memory_capacity = memory, disk_capacity = disk, path = path }
  return setmetatable(self, Cache)
end

local function to_request(given, what)
  local made = request.is(given) and given or request.new(given)
  local list = made.headers
  if list and not headers.is(list) then list = headers.from(list) end
  local fields, problem = headers.flatten(list or headers.from(nil))
  if problem then options.misuse("%s: %s", what, problem) end
  return made.method, made.url, fields
end

-- cache:get(request) -> what is stored for it, however old, or nil.
function methods:get(given)
  receiver(self, "get")
  local method, url, fields = to_request(given, "argument #1 of get")
  local data, stored_at, info, storage, status, reason, version, shown, block, expected =
    native.get(rawget(self, HANDLE), method, url, fields)
  if not data then return nil end
  return cached_response.make(data, stored_at, info, storage, status, reason, version, shown, block, expected)
end

-- cache:store(cached, request) -> true | nil, err. `cached` is what get gives, or a table with `response` (`status`,
-- `headers`), `data`, `user_info` and `storage`.
function methods:store(cached, given)
  receiver(self, "store")
  if type(cached) == "string" or request.is(cached) then cached, given = given, cached end
  cached_response.check(cached, "argument #1 of store")
  local method, url, fields = to_request(given, "argument #2 of store")
  local status, reason, block, data, info, storage = cached_response.flatten(cached)
  if not status then return nil, reason end
  data = data or cached.response.body or ""
  return native.store(rawget(self, HANDLE), method, url, fields, status, reason, block, data, info, storage)
end

-- cache:remove(request) removes all that is stored for its URL.
function methods:remove(given)
  receiver(self, "remove")
  local _, url = to_request(given, "argument #1 of remove")
  native.remove(rawget(self, HANDLE), url)
end

-- cache:remove_since(date) removes what was stored then or later; 0 removes everything.
function methods:remove_since(date)
  receiver(self, "remove_since")
  options.expect(date, "number", "argument #1 of remove_since")
  native.remove_since(rawget(self, HANDLE), date)
end

-- cache:clear() removes everything.
function methods:clear()
  receiver(self, "clear")
  native.remove_since(rawget(self, HANDLE), -math.huge)
end

local cache = {}

local function check_capacity(value, name)
  if value and value < 0 then options.misuse("option '%s' must not be negative", name) end
end

-- http.cache([{ path =, memory_capacity =, disk_capacity = }]): without a path in memory only.
function cache.new(given)
  given = options.check(given, { path = "string", memory_capacity = "integer", disk_capacity = "integer" },
    "argument #1 of http.cache")
  if given.path then options.path(given.path, "option 'path'") end
  check_capacity(given.memory_capacity, "memory_capacity")
  check_capacity(given.disk_capacity, "disk_capacity")
  return make(native.open(given.path, given.memory_capacity, given.disk_capacity))
end

local standard

-- The user's cache, which all processes share.
function cache.standard()
  standard = standard or make(native.standard())
  return standard
end

-- The core's object behind a cache, or nil.
function cache.native(value) return getmetatable(value) == Cache and rawget(value, HANDLE) or nil end

return cache
