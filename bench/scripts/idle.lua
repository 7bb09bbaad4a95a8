-- What a download costs beside idle requests: idle.lua URL IDLE_URL IDLE
--
-- Prints the CPU seconds of the download alone, and of one while so many requests wait for their responses.

local http = require "http"

local url, idle_url, count = arg[1], arg[2], math.tointeger(tonumber(arg[3]))

local function download()
  local before = os.clock()
  assert(assert(http.get(url, { sink = "/dev/null" })).status == 200)
  return os.clock() - before
end

download()
local alone = download()
local session = http.session { http_maximum_connections_per_host = count }
local jobs = {}
for i = 1, count do jobs[i] = http.spawn(function() session:get(idle_url) end) end
-- The server has all of them when it says so.
repeat
  http.sleep(0.2)
  local waiting = tonumber(assert(http.get(idle_url .. "?waiting")).body)
until waiting >= count
print(alone, download())
for _, job in ipairs(jobs) do job:cancel() end
