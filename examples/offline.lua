-- Answers requests from a directory of its own: pages that were fetched before come from there, without the network.
--
-- Usage: httpscript offline.lua DIRECTORY URL...
--
-- DIRECTORY must exist.
--
-- The first run fetches and stores what it is asked for, later ones print the same with the network unplugged:
--   200  fetched  http://127.0.0.1:8000/get
--   200  stored   http://127.0.0.1:8000/get

local http = require "http"
local url = require "http.url"

local directory = arg[1]
if not directory or not arg[2] then
  io.stderr:write("usage: offline.lua DIRECTORY URL...\n")
  os.exit(2)
end

local function path_of(address) return directory .. "/" .. url.encode(address) end

-- A protocol class answers requests in the network's place. The first class that wants a request gets it; what none
-- wants goes to the network.
local stored = {
  can_init = function(request)
    local file = request.method == "GET" and io.open(path_of(request.url), "rb")
    return file and file:close() or false
  end,
  start_loading = function(request, client)
    local file <close> = assert(io.open(path_of(request.url), "rb"))
    client:receive_response { headers = { ["X-Source"] = "stored" } }
    for piece in file:lines(65536) do client:receive_data(piece) end
    client:finish()
  end,
}

local session = http.session { protocol_classes = { stored } }
for i = 2, #arg do
  local response, err = session:get(arg[i])
  if not response then
    print(err.code .. "  -  " .. arg[i])
  else
    local source = response.headers["X-Source"] or "fetched"
    if source == "fetched" and response.status == 200 then assert(response:save(path_of(arg[i]))) end
    print(("%d  %-7s  %s"):format(response.status, source, arg[i]))
  end
end
