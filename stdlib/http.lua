-- require "http": sessions, tasks and calls.

local core = require "httpscript.core"
local fibers = require "http.fibers"
local session = require "http.session"
local verbs = require "http.verbs"

-- How a configuration is made; the module that does it is loaded with the first one.
local configuration = {}
for _, kind in ipairs { "default", "ephemeral", "background" } do
  configuration[kind] = function(...) return require("http.configuration")[kind](...) end
end

local http = {
  -- The number that stands for an unknown size.
  TRANSFER_SIZE_UNKNOWN = -1,
  priority = { low = 0.25, default = 0.5, high = 0.75 },
  configuration = configuration,
  session = session.new,
  shared = session.shared_session(),
  -- http.cookie_storage{ path = path } -> a cookie storage.
  cookie_storage = function(given) return require("http.cookies").new(given) end,
  -- http.credential_storage{ path, netrc, credential_command } -> a credential storage.
  credential_storage = function(given) return require("http.credential_storage").new(given) end,
  -- http.protection_space{ host, port, protocol, realm, authentication_method, is_proxy } -> a space.
  protection_space = function(given) return require("http.credential_storage").space(given) end,
  -- http.request(url_or_fields) -> a request.
  request = function(given) return require("http.request").new(given) end,
  -- http.credential{ user, password | token | certificate, key | trust } -> a credential.
  credential = function(given) return require("http.credential").new(given) end,
  -- http.cache([{ path =, memory_capacity =, disk_capacity = }]) -> a cache.
  cache = function(given) return require("http.cache").new(given) end,
  spawn = fibers.spawn,
  sleep = fibers.sleep,
  -- http.security_policy(fields) -> a policy for a configuration.
  security_policy = function(fields) return require("http.security").policy(fields) end,
  -- http.map(list_or_iterator, limit, fn) -> results, errors.
  map = function(items, limit, fn) return require "http.map"(items, limit, fn) end,
  -- http.with_timeout(seconds, fn, ...) -> fn's results | nil, err.
  with_timeout = function(seconds, fn, ...) return require "http.with_timeout"(seconds, fn, ...) end,
  -- http.on(name, fn) -> a function that ends it: notifications of every session.
  on = function(name, fn) return require("http.notifications").on(name, fn) end,
  now = core.now,
  -- http.parse_date(text) -> seconds | nil.
  parse_date = function(text) return require("http.dates").parse(text) end,
  -- http.format_date(seconds) -> text (RFC 9110 §5.6.7).
  format_date = function(seconds) return require("http.dates").format(seconds) end,
}

for _, name in ipairs(verbs) do
  http[name] = function(url, given) return http.shared[name](http.shared, url, given) end
end

return http
