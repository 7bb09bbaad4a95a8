-- Decodes or encodes the documents of a file, one a line: json.lua decode|encode FILE TIMES

local json = require "json"

local way, path, times = arg[1], arg[2], math.tointeger(tonumber(arg[3]))

local lines = {}
for line in io.lines(path) do lines[#lines + 1] = line end

if way == "decode" then
  for _ = 1, times do
    for _, line in ipairs(lines) do assert(json.decode(line)) end
  end
else
  for _, line in ipairs(lines) do
    local value = assert(json.decode(line))
    for _ = 1, times do assert(json.encode(value)) end
  end
end
