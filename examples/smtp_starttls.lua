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

-- Expects a reply that begins with this digit.
local function expect(digit, what)
  local reply
  repeat reply = read_line() until not reply:match("^%d%d%d%-")
  if reply:sub(1, 1) ~= digit then error(("%s: %s"):format(what, reply), 0) end
  return reply
end

-- Sends a command, and expects a reply to it.
local function command(line, digit)
  if line:find("[\r\n]") then error(("a line break in %q"):format(line), 0) end
  assert(task:write(line .. "\r\n"))
  return expect(digit, line)
end

-- The text as SMTP carries it: lines that end in CRLF, and before each that begins with a dot another one, as a dot
-- alone ends the mail (RFC 5321 4.5.2).
local function data_lines(mail)
  local lines = {}
  for line in (mail:gsub("\r\n?", "\n") .. "\n"):gmatch("(.-)\n") do lines[#lines + 1] = line:gsub("^%.", "..") end
  return table.concat(lines, "\r\n")
end

expect("2", "greeting")
command("EHLO localhost", "2")
command("STARTTLS", "2")
task:start_secure_connection()
command("EHLO localhost", "2")
command(("MAIL FROM:<%s>"):format(from), "2")
command(("RCPT TO:<%s>"):format(to), "2")
command("DATA", "3")
assert(task:write(data_lines(("From: <%s>\nTo: <%s>\n\n%s"):format(from, to, text)) .. "\r\n.\r\n"))
print(expect("2", "the mail"))
command("QUIT", "2")
task:close_write()
task:wait()
