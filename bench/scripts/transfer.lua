-- One large transfer: transfer.lua get|put URL FILE

local http = require "http"

local way, url, path = arg[1], arg[2], arg[3]
-- The server is measured, and not the cache.
local session = http.session { cache = false }
local response
if way == "get" then
  response = assert(session:get(url, { sink = path }))
else
  response = assert(session:put(url, { body = { file = path }, expect_continue = false }))
end
assert(response.status // 100 == 2)
