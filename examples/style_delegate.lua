-- Fetches all at once, and one object is told of every step (NSURLConnection's delegate style).
--
-- Usage: httpscript style_delegate.lua URL...
-- Prints each redirect, status, and size, and does not keep the data. Exit status: 1 when one could not be had, 2 wrong
-- use.

local http = require "http"

if not arg[1] then
  io.stderr:write("usage: style_delegate.lua URL...\n")
  os.exit(2)
end

local failed = false
local sizes = {}
local delegate = {}

function delegate.will_perform_redirection(_, task, response, request)
  print(response.status, task.current_request.url, "->", request.url)
  return request
end

function delegate.did_receive_response(_, task, response)
  sizes[task] = 0
  print(response.status, response.url)
  return "allow"
end

function delegate.did_receive_data(_, task, data)
  sizes[task] = sizes[task] + #data
end

function delegate.did_complete(_, task, err)
  if err then
    failed = true
    io.stderr:write("style_delegate.lua: ", tostring(err), "\n")
  else
    print(sizes[task] .. " bytes", task.current_request.url)
  end
end

function delegate.did_become_invalid()
  if failed then os.exit(1) end
end

local session = http.session(http.configuration.default(), delegate)
for _, url in ipairs(arg) do session:data_task(url):resume() end
session:finish_tasks_and_invalidate()
