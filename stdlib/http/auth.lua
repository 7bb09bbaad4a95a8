-- Authenticators: what the option `auth` of a call takes besides a name and password.
--
-- An authenticator is a table with `prepare(self, session, request)`, called before each request is sent, which it may
-- change, and `challenge(self, session, task, challenge)`, which answers challenges as a delegate's handler does. Both
-- may wait. `prepare` may return nil and an error, with which the call then fails.

local credential = require "http.credential"
local errors = require "http.errors"
local fibers = require "http.fibers"
local options = require "http.options"

local auth = {}

-- Whether a value of the option `auth` is an authenticator.
function auth.is(value)
  return type(value) == "table" and (options.is_callable(value.prepare) or options.is_callable(value.challenge))
end

-- One flight at a time ----------------------------------------------------------------------------------------------

local function pack_run(fn, ...) return table.pack(pcall(fn, ...)) end

-- auth.single_flight(fn) -> a function: calls that come while fn runs wait for its results instead of running it again.
-- A call whose fn was cancelled under it lets the next one in line run.
function auth.single_flight(fn)
  if not options.is_callable(fn) then options.misuse("argument #1 of single_flight must be a function") end
  local flight
  return function(...)
    while flight do
      local under_way = flight
      fibers.wait_for(under_way)
      if under_way.results then return table.unpack(under_way.results, 1, under_way.results.n) end
    end
    local own = { done = false, results = nil, waiter = nil }
    flight = own
    local outcome = pack_run(fn, ...)
    flight = nil
    if outcome[1] then own.results = table.pack(table.unpack(outcome, 2, outcome.n)) end
    fibers.complete(own)
    if not outcome[1] then error(outcome[2], 0) end
    return table.unpack(outcome, 2, outcome.n)
  end
end

-- Tokens ------------------------------------------------------------------------------------------------------------

local Token = { __name = "http.auth.token" }
Token.__index = Token

function Token:__tostring()
  return ("http.auth.token: %s%s"):format(self._scheme, self._token and " ***" or " (none yet)")
end

local TOKEN = { fetch = "function", scheme = "string", token = "string", early = "boolean" }

-- auth.token{ fetch = fn, scheme, token, early } -> an authenticator. fetch(session, challenge) gives a token and, if
-- it is known, for how many seconds it is good; or nil and an error. However many calls need one at once, it is
-- fetched once.
function auth.token(given)
  options.expect(given, "table", "argument #1 of auth.token")
  options.check(given, TOKEN, "argument #1 of auth.token")
  if not given.fetch and not given.token then options.misuse("auth.token needs a 'fetch' or a 'token'") end
  local self = setmetatable({
    _fetch = given.fetch, _scheme = given.scheme or "Bearer", _token = given.token, _early = given.early or false,
    _expires = math.huge,
  }, Token)
  self._refresh = auth.single_flight(function(session, challenge) return self:_fetch_now(session, challenge) end)
  return self
end

function Token:_fetch_now(session, challenge)
  local token, detail = self._fetch(session, challenge)
  if token == nil then
    if errors.is(detail) then return nil, detail end
    return nil, errors.new {
      domain = "url", code = "user_authentication_required", message = tostring(detail or "no token could be had"),
    }
  end
  options.expect(token, "string", "the token that 'fetch' returns")
  local lifetime = type(detail) == "number" and detail or math.huge
  self._token, self._expires = token, require("httpscript.core").now() + lifetime
  return token
end

function Token:_is_good()
  return self._token and require("httpscript.core").now() < self._expires
end

-- Puts the token there is into a request; with `early`, fetches one first.
function Token:prepare(session, request)
  if self._fetch and not self:_is_good() then
    self._token = nil
    if not self._early then return end
    local _, err = self._refresh(session, nil)
    if err then return nil, err end
  end
  -- A field set by hand wins.
  if self._token and not request.headers["Authorization"] then
    request.headers["Authorization"] = self._scheme .. " " .. self._token
  end
end

-- Answers a challenge with a token: a new one when the request had the current one.
function Token:challenge(session, task, challenge)
  local method = challenge.protection_space.authentication_method
  if challenge.protection_space.is_proxy then return "perform_default_handling" end
  if method ~= self._scheme:lower() and method ~= "default" then return "reject_protection_space" end
  local sent = (task.current_request.headers["Authorization"] or ""):match("^%S+%s+(.*)$")
  if challenge.previous_failure_count > 0 then return "perform_default_handling" end
  if not self._token or self._token == sent then
    if not self._fetch then return "perform_default_handling" end
    local _, err = self._refresh(session, challenge)
    if err then error(err, 0) end
  end
  return "use_credential", credential.new { token = self._token, persistence = "none" }
end

-- Signatures --------------------------------------------------------------------------------------------------------

-- auth.signer(fn) -> an authenticator that calls fn(request) before each request is sent, to sign it.
function auth.signer(fn)
  if not options.is_callable(fn) then options.misuse("argument #1 of signer must be a function") end
  return { prepare = function(_, _, request) return fn(request) end }
end

-- auth.aws_sigv4{ access_key, secret_key, region, service, session_token } -> an authenticator.
function auth.aws_sigv4(given) return require("http.sigv4").new(given) end

return auth
