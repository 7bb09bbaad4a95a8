-- Downloads to a file and shows how far it is.
--
-- Usage: httpscript progress.lua URL [FILE]
-- FILE appears when the download is complete, never half: until then the data is under a temporary name. After an
-- error, or a status such as 404, an older FILE is still what it was.
--
-- Against httpbin: `progress.lua http://127.0.0.1:8000/bytes/100000 out.bin` writes out.bin (100000 bytes) and prints
-- "out.bin: 100000 bytes". Progress goes to stderr: a bar on a terminal, a line now and then in a log.

local filename = require "http.filename"
local http = require "http"
local progress = require "http.progress"

local url, path = arg[1], arg[2]
if not url then
  io.stderr:write("usage: progress.lua URL [FILE]\n")
  os.exit(2)
end
path = path or filename.suggested(nil, url)

local bar = progress.bar { label = path }
local response, err = http.get(url, { sink = path, progress = bar })
if not response then
  bar:fail(err)
  os.exit(1)
end
if response.status >= 400 then
  bar:fail(("%d %s"):format(response.status, response.reason))
  os.exit(1)
end
bar:finish()
print(("%s: %d bytes"):format(path, bar.received))
