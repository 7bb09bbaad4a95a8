-- Gets a JSON document and prints what is in it.
--
-- Usage: httpscript get_json.lua URL [name=value …]
-- The names and values become the URL's query.
--
-- Against httpbin: `get_json.lua http://127.0.0.1:8000/get q=lua page=2` prints, among other lines,
--   args.page = 2
--   args.q = lua
-- and exits with 0. A status that is not 2xx, or a body that is not JSON, is an error on stderr and exit status 1.

local http = require "http"

local url = arg[1]
if not url then
  io.stderr:write("usage: get_json.lua URL [name=value …]\n")
  os.exit(2)
end

local query = {}
for index = 2, #arg do
  local name, value = arg[index]:match("^([^=]+)=(.*)$")
  if not name then
    io.stderr:write("get_json.lua: '", arg[index], "' is not name=value\n")
    os.exit(2)
  end
  query[name] = value
end

-- A call gives a response, or nil and an error object. A status such as 404 is a response, which `validate` makes an
-- error.
local response = assert(http.get(url, { query = query, headers = { Accept = "application/json" }, timeout = 30 }))
assert(response:validate())
local document = assert(response:json())

-- Prints every value with the path that leads to it.
local function show(value, path)
  if type(value) ~= "table" then
    print(("%s = %s"):format(path, value))
    return
  end
  local keys = {}
  for key in pairs(value) do
    keys[#keys + 1] = key
  end
  table.sort(keys, function(a, b) return tostring(a) < tostring(b) end)
  for _, key in ipairs(keys) do
    show(value[key], path == "" and tostring(key) or path .. "." .. key)
  end
end

show(document, "")
