-- GETs a URL so many times, so many at once, as a script would: requests.lua URL REQUESTS AT_ONCE [CA_FILE [VERSION]]

local http = require "http"

local url, count, at_once = arg[1], math.tointeger(tonumber(arg[2])), math.tointeger(tonumber(arg[3]))

-- The server is measured, and not the cache.
local session = http.session {
  cache = false, http_maximum_connections_per_host = at_once, ca_file = arg[4],
  http_version = arg[5] and "auto" or "1.1",
  -- What the C program has too: the first requests wait for a connection that they can share.
  http_should_use_pipelining = arg[5] ~= nil,
}

if at_once == 1 then
  for _ = 1, count do
    local response = assert(session:get(url))
    assert(response.status == 200 and #response.body > 0)
  end
else
  local urls = {}
  for i = 1, count do urls[i] = url end
  http.map(urls, at_once, function(one)
    local response = assert(session:get(one))
    assert(response.status == 200 and #response.body > 0)
  end)
end
