-- A scheme of one's own: requests signed with a key that never travels.
--
-- Usage: httpscript signed_requests.lua URL KEY-NAME KEY [BODY]
--
-- The server answers 401 with `WWW-Authenticate: HMAC realm="...", nonce="..."`. The handler gives back the request
-- that goes on in place of the refused one: with the name of the key and the HMAC-SHA-256 of nonce, method, path and
-- the body's digest.

local http = require "http"
local digest = require "http.digest"
local parse_url = require("http.url").parse

local url, name, key, body = arg[1], arg[2], arg[3], arg[4]
if not key then
  io.stderr:write("usage: signed_requests.lua URL KEY-NAME KEY [BODY]\n")
  os.exit(2)
end

local function sign(request, nonce)
  local parts = assert(parse_url(request.url))
  local target = parts.path .. (parts.query and "?" .. parts.query or "")
  local lines = { nonce, request.method, target, digest.hex(digest.sha256(request.body or "")) }
  local signature = digest.base64(digest.hmac("sha256", key, table.concat(lines, "\n")))
  request.headers["Authorization"] = ('HMAC key="%s", nonce="%s", signature="%s"'):format(name, nonce, signature)
  return request
end

local session = http.session(http.configuration.ephemeral(), {
  did_receive_challenge = function(_, task, challenge)
    local space = challenge.protection_space
    -- Before there is a response, the question is whether an https server is to be trusted: as usual.
    if not challenge.failure_response then return "perform_default_handling" end
    if space.authentication_method ~= "hmac" then return "reject_protection_space" end
    -- Signed once, and refused: the key is wrong.
    if challenge.previous_failure_count > 0 then return "perform_default_handling" end
    return sign(task.current_request:copy(), space.parameters.nonce)
  end,
})

local response = assert(session:send(http.request { url = url, method = body and "POST" or "GET", body = body }))
print(response.status, response.body)
if response.status >= 400 then os.exit(1) end
