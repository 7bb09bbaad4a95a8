-- Asks for several URLs at once, but never for more than a few, and prints the results in the order given.
--
-- Usage: httpscript parallel_map.lua LIMIT URL [URL …]
--
-- Against httpbin: `parallel_map.lua 3 http://127.0.0.1:8000/delay/1` with that URL three times takes about one
-- second, not three, and prints a line "200  <bytes>  <url>" for each and "3 of 3" at the end. A URL that cannot be had
-- has the error's code in place of the status; then the exit status is 1.

local http = require "http"

local limit = math.tointeger(tonumber(arg[1]))
if not limit or limit < 1 or not arg[2] then
  io.stderr:write("usage: parallel_map.lua LIMIT URL [URL …]\n")
  os.exit(2)
end

local urls = table.move(arg, 2, #arg, 1, {})

-- The function runs once per item, at most `limit` of them at a time; the results keep the order of the items.
local lines = http.map(urls, limit, function(url)
  local response, err = http.get(url)
  if not response then return { text = ("%s  %s"):format(err.code, url), failed = true } end
  return { text = ("%d  %d  %s"):format(response.status, #response.body, url) }
end)

local good = 0
for _, line in ipairs(lines) do
  print(line.text)
  if not line.failed then good = good + 1 end
end
print(("%d of %d"):format(good, #urls))
if good < #urls then os.exit(1) end
