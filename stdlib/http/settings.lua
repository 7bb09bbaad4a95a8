-- The options of a call as the core's arguments.

local options = require "http.options"

local settings = {}

local AUTH_SCHEMES = { basic = true, digest = true, any = true, ntlm = true, negotiate = true }
local SCHEME_NAMES = '"basic", "digest", "ntlm", "negotiate", "any"'
local AUTH = { user = "string", password = "string", scheme = "string", bearer = "string" }

-- The option `auth` of a call or a task's settings where it is an authenticator (http.auth), else nil.
function settings.authenticator(given)
  local auth = given and given.auth
  if not auth or not (auth.prepare or auth.challenge) then return nil end
  for _, name in ipairs { "prepare", "challenge" } do
    if auth[name] ~= nil and not options.is_callable(auth[name]) then
      options.misuse("an authenticator's '%s' must be a function, not %s", name, type(auth[name]))
    end
  end
  return auth
end

-- The option `auth` as scheme, user, secret; nothing where it is an authenticator.
function settings.auth(auth)
  if auth == nil or auth.prepare or auth.challenge then return nil end
  options.check(auth, AUTH, "option 'auth'")
  if auth.bearer then
    if auth.user or auth.scheme then options.misuse("options 'auth.bearer' and 'auth.user' exclude each other") end
    return "bearer", nil, options.secret(auth.bearer, "option 'auth.bearer'")
  end
  local scheme = auth.scheme or "basic"
  if not AUTH_SCHEMES[scheme] then
    local near = options.nearest(tostring(scheme), AUTH_SCHEMES)
    options.misuse("option 'auth.scheme' must be one of %s, not %q%s", SCHEME_NAMES, tostring(scheme),
      near and (" (did you mean '" .. near .. "'?)") or "")
  end
  options.secret(auth.user, "option 'auth.user'")
  if scheme == "basic" and auth.user:find(":", 1, true) then
    options.misuse("option 'auth.user' must not contain a colon: \"basic\" cannot send it (RFC 7617 §2)")
  end
  return scheme, auth.user, options.secret(auth.password or "", "option 'auth.password'")
end

-- How many redirects are followed; false for none.
function settings.limit(given)
  local limit = given.redirects
  if limit == nil or limit == true then return 20 end
  return limit
end

-- true, false, or nil for automatic.
function settings.expectation(given)
  local expect = given.expect_continue
  if expect == "auto" then return nil end
  return expect
end

local RATE_LIMIT = { receive = "number", send = "number" }

-- The option or field `rate_limit` as bytes a second, received and sent; nil where there is no limit.
function settings.rates(given, what)
  if type(given) == "number" then given = { receive = given, send = given } end
  options.check(given, RATE_LIMIT, what)
  for _, name in ipairs { "receive", "send" } do
    local rate = given[name]
    if rate and not (rate > 0) then options.misuse("%s: '%s' must be more than 0 bytes a second", what, name) end
  end
  return given.receive, given.send
end

-- What is passed by name (LuaBridge's TaskOptions knows the names): each entry makes a text of its value, or nil.
local NAMED = {
  -- A request without fields of its own finds Apple's default here.
  http_should_handle_cookies = function(req) return req.http_should_handle_cookies == false and "0" or nil end,
  main_document_url = function(req) return req.main_document_url end,
  checksum = function(_, given) return given.checksum end,
  -- Who says so, where it is not the option.
  checksum_source = function(_, given) return given.checksum_source end,
  -- Of which answers the body goes into the response, whatever the sink: the call will be made again (http.retry).
  collected_statuses = function(_, given) return given.collected_statuses end,
  -- Where a part of a file goes (http.segments).
  window = function(_, given)
    local window = given.window
    return window and ("%d\n%d\n%d\n%s\n%s"):format(window.offset, window.count, window.total, window.validator,
      window.path)
  end,
  -- Where a download that goes on in later runs has its file (http.background).
  background_stem = function(_, given) return given.background_stem end,
  rate_limit = function(_, given)
    if given.rate_limit == nil then return nil end
    local receive, send = settings.rates(given.rate_limit, "option 'rate_limit'")
    return ("%s %s"):format(receive or 0, send or 0)
  end,
}
settings.named = NAMED

function NAMED.cache_policy(req) return req.cache_policy end

function NAMED.network_service_type(req)
  local type_of = req.network_service_type
  return type_of ~= "default" and type_of or nil
end

function NAMED.http_should_use_pipelining(req)
  local value = rawget(req, "http_should_use_pipelining")
  if value ~= nil then return value and "1" or "0" end
end

-- The options that stand in no position of their own, as the core takes them; nil when none is given. `req`: the
-- request, `given`: the options of a call or the settings of a task.
function settings.options(req, given)
  local flat
  for name, text_of in next, NAMED do
    local text = text_of(req, given)
    if text then
      flat = flat or {}
      flat[#flat + 1] = name .. "\0" .. text .. "\0"
    end
  end
  return flat and table.concat(flat)
end

return settings
