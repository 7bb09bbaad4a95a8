-- Gets many URLs with a token that is fetched, once, when the server first asks for one.
--
-- Usage: httpscript token_login.lua TOKEN-URL USER PASSWORD URL [URL...]
--
-- The token's URL takes a form with user and password, and answers with JSON: { "access_token": "..." }. All the other
-- URLs are asked for at the same time. Each is answered with 401; the handlers of all of them wait for one login.

local http = require "http"
local auth = require "http.auth"

local token_url, user, password = arg[1], arg[2], arg[3]
if #arg < 4 then
  io.stderr:write("usage: token_login.lua TOKEN-URL USER PASSWORD URL [URL...]\n")
  os.exit(2)
end

local token, logins = nil, 0

-- However many handlers call this at once, it runs once, and all get its result.
local login = auth.single_flight(function(session)
  logins = logins + 1
  local response = assert(session:post(token_url, { form = { user = user, password = password } }))
  token = assert(assert(response:validate()):json()).access_token
  return token
end)

local session = http.session(http.configuration.ephemeral { http_maximum_connections_per_host = 20 }, {
  did_receive_challenge = function(session, _, challenge)
    local space = challenge.protection_space
    -- Before there is a response, the question is whether an https server is to be trusted: as usual.
    if not challenge.failure_response then return "perform_default_handling" end
    if space.authentication_method ~= "bearer" then return "reject_protection_space" end
    -- The new token was not good enough either: the 401 is the answer.
    if challenge.previous_failure_count > 0 then return "perform_default_handling" end
    return "use_credential", http.credential { token = token or login(session) }
  end,
})

local urls = table.pack(table.unpack(arg, 4))
local responses = http.map(urls, #urls, function(url) return assert(session:get(url)) end)

local count = 0
for _, response in ipairs(responses) do
  if response.status == 200 then count = count + 1 end
end
print(("%d of %d, %d login"):format(count, #urls, logins))
if count < #urls then os.exit(1) end
