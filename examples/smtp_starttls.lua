-- Sends a short mail through a server that takes it only in TLS: clear text first, STARTTLS, then the rest.
--
-- Usage: httpscript smtp_starttls.lua HOST PORT FROM TO TEXT [CA_FILE]

local http = require "http"

local host, port, from, to, text, ca_file = ...
port = math.tointeger(port)
if not text or not port then
  io.stderr:write("usage: smtp_starttls.lua HOST PORT FROM TO TEXT [CA_FILE]\n")
  os.exit(2)
end

local session = http.session { ca_file = ca_file }
local task = session:stream_task(host, port)
task:resume()

-- The next line, without its end.
local buffer = ""
local function read_line()
  while true do
    local line, rest = buffer:match("^(.-)\r?\n(.*)$")
    if line then
      buffer = rest
      return line
    end
    local data, at_eof = assert(task:read { timeout = 30 })
    buffer = buffer .. data
    if at_eof then error("the server has closed the connection", 0) end
  end
end

-- Sends a command, and expects a reply that begins with this digit.
local function command(line, digit)
  if line then assert(task:write(line .. "\r\n")) end
  local reply
  repeat reply = read_line() until not reply:match("^%d%d%d%-")
  if reply:sub(1, 1) ~= digit then error(("%s: %s"):format(line or "greeting", reply), 0) end
  return reply
end

command(nil, "2")
command("EHLO localhost", "2")
command("STARTTLS", "2")
task:start_secure_connection()
command("EHLO localhost", "2")
command(("MAIL FROM:<%s>"):format(from), "2")
command(("RCPT TO:<%s>"):format(to), "2")
command("DATA", "3")
print(command(("From: <%s>\r\nTo: <%s>\r\n\r\n%s\r\n."):format(from, to, text:gsub("\n%.", "\n..")), "2"))
command("QUIT", "2")
task:close_write()
task:wait()
