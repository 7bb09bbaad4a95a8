-- Two proofs, one after the other: a password, then a code that changes every thirty seconds (TOTP, RFC 6238, with
-- SHA-256).
--
-- Usage: httpscript two_step_login.lua URL USER PASSWORD SECRET
--
-- SECRET is in hexadecimal. The server first asks for Basic credentials, and when these are right answers 401 once more
-- with `WWW-Authenticate: OTP realm="..."`. The handler adds the code in a field of its own; what it gives back is the
-- request that goes on.

local http = require "http"
local digest = require "http.digest"

local url, user, password, secret = table.unpack(arg, 1, 4)
if not secret then
  io.stderr:write("usage: two_step_login.lua URL USER PASSWORD SECRET\n")
  os.exit(2)
end

-- The six digits for a moment (RFC 4226 5.3).
local function code(key, seconds)
  local hash = digest.hmac("sha256", key, (">I8"):pack(seconds // 30))
  local place = hash:byte(-1) & 15
  return ("%06d"):format(((">I4"):unpack(hash, place + 1) & 0x7FFFFFFF) % 1000000)
end

local function basic() return "Basic " .. digest.base64(user .. ":" .. password) end

local session = http.session(http.configuration.ephemeral(), {
  did_receive_challenge = function(_, task, challenge)
    -- Before there is a response, the question is whether an https server is to be trusted: as usual.
    if not challenge.failure_response then return "perform_default_handling" end
    if challenge.previous_failure_count > 0 then return "cancel_authentication_challenge" end
    local method = challenge.protection_space.authentication_method
    local request = task.current_request:copy()
    if method == "basic" then
      print("password")
      request.headers["Authorization"] = basic()
      return request
    elseif method == "otp" then
      print("code")
      request.headers["X-One-Time-Code"] = code(assert(digest.unhex(secret), "SECRET is not hexadecimal"), os.time())
      return request
    end
    return "reject_protection_space"
  end,
})

local response, err = session:get(url)
if not response then
  print(err.code)
  os.exit(1)
end
print(response.status, response.body)
if response.status ~= 200 then os.exit(1) end
