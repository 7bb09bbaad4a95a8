-- lua-curl (Debian has it for Lua 5.1), one request after the other: lua_curl.lua URL REQUESTS

local curl = require "curl"

local total = 0
local easy = curl.easy_init()
easy:setopt(curl.OPT_URL, arg[1])
easy:setopt(curl.OPT_WRITEFUNCTION, function(text)
  total = total + #text
  return #text
end)
for _ = 1, tonumber(arg[2]) do assert(easy:perform()) end
assert(total > 0)
