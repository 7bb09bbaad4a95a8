-- One large transfer: transfer.lua get|put URL FILE

local http = require "http"

local way, url, path = arg[1], arg[2], arg[3]
local response
if way == "get" then
  response = assert(http.get(url, { sink = path }))
else
  response = assert(http.put(url, { body = { file = path }, expect_continue = false }))
end
assert(response.status // 100 == 2)
