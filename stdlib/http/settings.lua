-- The options of a call as the core's arguments.

local options = require "http.options"

local settings = {}

local AUTH_SCHEMES = { basic = true, digest = true, any = true }

-- The option `auth` as scheme, user, secret.
function settings.auth(auth)
  if auth == nil then return nil end
  options.expect(auth, "table", "option 'auth'")
  if auth.bearer ~= nil then
    return "bearer", nil, options.expect(auth.bearer, "string", "option 'auth.bearer'")
  end
  local scheme = auth.scheme or "basic"
  if not AUTH_SCHEMES[scheme] then
    local near = options.nearest(tostring(scheme), AUTH_SCHEMES)
    options.misuse("option 'auth.scheme' must be \"basic\", \"digest\" or \"any\", not %q%s", tostring(scheme),
      near and (" (did you mean '" .. near .. "'?)") or "")
  end
  local user, password = auth.user or auth[1], auth.password or auth[2] or ""
  options.expect(user, "string", "option 'auth.user'")
  options.expect(password, "string", "option 'auth.password'")
  return scheme, user, password
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

return settings
