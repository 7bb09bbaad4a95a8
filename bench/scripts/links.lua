-- The links of a page: links.lua sax|tree FILE TIMES

local html = require "http.html"

local file = assert(io.open(arg[2], "rb"))
local text = file:read("a")
file:close()

for _ = 1, math.tointeger(tonumber(arg[3])) do
  if arg[1] == "sax" then
    assert(#html.links(text, { base = "http://example.org/" }) > 0)
  else
    assert(assert(html.parse(text)):css_first("a"))
  end
end
