-- Sends lines of standard input to a host and port and prints what comes back, until both sides are done.
--
-- Usage: httpscript tcp_echo.lua HOST PORT

local http = require "http"

local host, port = ...
port = math.tointeger(port)
if not port then
  io.stderr:write("usage: tcp_echo.lua HOST PORT\n")
  os.exit(2)
end

local task = http.shared:stream_task(host, port)
task:resume()

-- Writing and reading go on at the same time: neither side can block the other for good.
local writer = http.spawn(function()
  for line in io.lines() do assert(task:write(line .. "\n")) end
  task:close_write()
  return true
end)

repeat
  local data, at_eof = assert(task:read())
  io.write(data)
until at_eof == true

assert(writer:wait())
assert(task:wait())
