-- Fetches one after another, the simplest way: each call waits for its response (NSURLConnection's synchronous style).
--
-- Usage: httpscript style_blocking.lua URL...
-- Prints status, size and URL of each. Exit status: 1 when one could not be had, 2 wrong use.

local http = require "http"

if not arg[1] then
  io.stderr:write("usage: style_blocking.lua URL...\n")
  os.exit(2)
end

local failed = false
for _, url in ipairs(arg) do
  local response, err = http.get(url)
  if response then
    print(response.status, #response.body, url)
  else
    failed = true
    io.stderr:write("style_blocking.lua: ", tostring(err), "\n")
  end
end
if failed then os.exit(1) end
