-- Trust on first use: a server whose certificate no authority has signed is believed when it is the one of the first
-- visit.
--
-- Usage: httpscript known_servers.lua FILE URL
--
-- FILE has a line for each known server: host, port and the SHA-256 of its certificate. A server that is not in it is
-- added; one that shows another certificate than before is refused, and nothing is sent to it.

local http = require "http"

local path, url = table.unpack(arg, 1, 2)
if not url then
  io.stderr:write("usage: known_servers.lua FILE URL\n")
  os.exit(2)
end

local function load_known()
  local known = {}
  local file = io.open(path)
  if not file then return known end
  for line in file:lines() do
    local place, hash = line:match("^(%S+) (%x+)$")
    if place then known[place] = hash end
  end
  file:close()
  return known
end

local function remember(place, hash)
  local file <close> = assert(io.open(path, "a"))
  file:write(place, " ", hash, "\n")
end

local known = load_known()

local session = http.session(http.configuration.ephemeral(), {
  session_did_receive_challenge = function(_, challenge)
    local space = challenge.protection_space
    local trust = space.server_trust
    -- What the system's authorities vouch for needs no memory.
    if not trust or trust.verdict.trusted then return "perform_default_handling" end
    local place, hash = space.host .. ":" .. space.port, trust.certificates[1].sha256
    if not known[place] then
      print("new", trust.certificates[1].subject)
      remember(place, hash)
    elseif known[place] ~= hash then
      print("changed", trust.certificates[1].subject)
      return "cancel_authentication_challenge"
    end
    return "use_credential", http.credential { trust = trust }
  end,
})

local response, err = session:get(url)
if not response then
  print(err.code)
  os.exit(1)
end
print(response.status, response.body)
