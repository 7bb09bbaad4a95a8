-- Fetches all at once, and a function is called when one is there (NSURLConnection's queued style).
--
-- Usage: httpscript style_callback.lua URL...
-- Prints status, size and URL of each, in the order in which they come. The script ends when the last task has.
-- Exit status: 1 when one could not be had, 2 wrong use.

local http = require "http"

if not arg[1] then
  io.stderr:write("usage: style_callback.lua URL...\n")
  os.exit(2)
end

local left, failed = #arg, false

for _, url in ipairs(arg) do
  local task = http.shared:data_task(url, function(data, response, err)
    if err then
      failed = true
      io.stderr:write("style_callback.lua: ", tostring(err), "\n")
    else
      print(response.status, #data, url)
    end
    left = left - 1
    if left == 0 and failed then os.exit(1) end
  end)
  task:resume()
end
