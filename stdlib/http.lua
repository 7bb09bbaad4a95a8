-- require "http": sessions, tasks and calls.

local core = require "httpscript.core"
local configuration = require "http.configuration"
local fibers = require "http.fibers"
local request = require "http.request"
local session = require "http.session"
local verbs = require "http.verbs"

local http = {
  -- The number that stands for an unknown size.
  TRANSFER_SIZE_UNKNOWN = -1,
  priority = { low = 0.25, default = 0.5, high = 0.75 },
  configuration = {
    default = configuration.default, ephemeral = configuration.ephemeral, background = configuration.background,
  },
  session = session.new,
  shared = session.shared_session(),
  request = request.new,
  spawn = fibers.spawn,
  sleep = fibers.sleep,
  map = require "http.map",
  with_timeout = fibers.with_timeout,
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
