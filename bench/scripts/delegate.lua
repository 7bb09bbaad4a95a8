-- GETs a URL with tasks whose delegate has handlers: delegate.lua URL REQUESTS AT_ONCE

local http = require "http"

local url, count, at_once = arg[1], math.tointeger(tonumber(arg[2])), math.tointeger(tonumber(arg[3]))
local responses, bytes, done = 0, 0, 0

local session = http.session({ http_maximum_connections_per_host = at_once, cache = false }, {
  will_perform_redirection = function(_, _, _, request) return request end,
  did_receive_response = function() responses = responses + 1 return "allow" end,
  did_receive_data = function(_, _, data) bytes = bytes + #data end,
  did_complete = function(_, _, err)
    assert(not err)
    done = done + 1
  end,
})

local urls = {}
for i = 1, count do urls[i] = url end
http.map(urls, at_once, function(one)
  local task = session:data_task(one)
  task:resume()
  return task:wait()
end)
assert(responses == count and done == count and bytes > count)
