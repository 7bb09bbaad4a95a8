-- Sends each argument as a message to a WebSocket and prints as many answers.
--
-- Usage: httpscript web_socket.lua URL MESSAGE...

local http = require "http"

local url = ...
if not url then
  io.stderr:write("usage: web_socket.lua URL MESSAGE...\n")
  os.exit(2)
end

local task = http.shared:web_socket_task(url)
task:resume()

for _, text in ipairs { select(2, ...) } do
  assert(task:send(text))
  local message = assert(task:receive())
  print(message.type, message.data)
end

task:cancel(1000)
assert(task:wait())
