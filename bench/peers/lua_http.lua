-- lua-http (Debian has it for Lua 5.1): lua_http.lua URL REQUESTS AT_ONCE

local cqueues = require "cqueues"
local client = require "http.client"
local headers = require "http.headers"

local host, port, path = arg[1]:match("^http://([^:/]+):(%d+)(/.*)$")
local left, at_once = tonumber(arg[2]), tonumber(arg[3])

local loop = cqueues.new()
for _ = 1, math.min(at_once, left) do
  loop:wrap(function()
    local connection = assert(client.connect { host = host, port = tonumber(port), tls = false, version = 1.1 })
    while left > 0 do
      left = left - 1
      local stream = connection:new_stream()
      local fields = headers.new()
      fields:append(":method", "GET")
      fields:append(":scheme", "http")
      fields:append(":authority", host .. ":" .. port)
      fields:append(":path", path)
      assert(stream:write_headers(fields, true))
      local answer = assert(stream:get_headers())
      assert(answer:get(":status") == "200")
      assert(#assert(stream:get_body_as_string()) > 0)
    end
    connection:close()
  end)
end
assert(loop:loop())
