-- Downloads to a file and shows how far it is.
--
-- Usage: httpscript progress.lua URL [FILE]
-- FILE appears when the download is complete, never half: until then the data is under a temporary name. After an
-- error, or a status such as 404, an older FILE is still what it was.
--
-- Against httpbin: `progress.lua http://127.0.0.1:8000/bytes/100000 out.bin` writes out.bin (100000 bytes) and prints
-- "out.bin: 100000 bytes". Progress is shown on stderr, and only on a terminal.

local filename = require "http.filename"
local http = require "http"
local terminal = require "http.terminal"

local url, path = arg[1], arg[2]
if not url then
  io.stderr:write("usage: progress.lua URL [FILE]\n")
  os.exit(2)
end
path = path or filename.suggested(nil, url)

local is_terminal = terminal.is_tty(2)

-- `expected` is http.TRANSFER_SIZE_UNKNOWN where the server does not say how much it sends.
local function show(received, expected)
  if not is_terminal then return end
  if expected == http.TRANSFER_SIZE_UNKNOWN then
    io.stderr:write(("\r\27[K%d bytes"):format(received))
  else
    io.stderr:write(("\r\27[K%3.0f %% of %d bytes"):format(100 * received / math.max(expected, 1), expected))
  end
end

local last = 0
local response, err = http.get(url, {
  sink = path,
  progress = function(received, expected)
    last = received
    show(received, expected)
  end,
})
if is_terminal then io.stderr:write("\r\27[K") end
assert(response, err)
if response.status >= 400 then
  io.stderr:write(("progress.lua: %d %s\n"):format(response.status, response.reason))
  os.exit(1)
end
print(("%s: %d bytes"):format(path, last))
