-- require "http": sessions, tasks and calls.

local core = require "httpscript.core"
local dates = require "http.dates"
local fibers = require "http.fibers"
local request = require "http.request"
local session = require "http.session"

local http = {
  -- The number that stands for an unknown size.
  TRANSFER_SIZE_UNKNOWN = -1,
  priority = { low = 0.25, default = 0.5, high = 0.75 },
  configuration = session.configuration,
  session = session.new,
  shared = session.shared_session(),
  request = request.new,
  spawn = fibers.spawn,
  sleep = fibers.sleep,
  map = fibers.map,
  with_timeout = fibers.with_timeout,
  now = core.now,
  parse_date = dates.parse,
  format_date = dates.format,
}

for _, name in ipairs(session.verbs) do
  http[name] = function(...) return http.shared[name](http.shared, ...) end
end

return http
