-- What a configuration says of TLS: security_policy, transport_security and client_certificate, checked and flattened.

local options = require "http.options"

local misuse = options.misuse

local security = {}

local POLICY = {
  pinning = "string", certificates = "list", allow_invalid_certificates = "boolean", validates_domain_name = "boolean",
}
local POLICY_WITH_HOSTS = { hosts = "table" }
for name, kinds in pairs(POLICY) do POLICY_WITH_HOSTS[name] = kinds end

local PINNINGS = { none = true, public_key = true, certificate = true }
local TLS_VERSIONS = { ["1.0"] = true, ["1.1"] = true, ["1.2"] = true, ["1.3"] = true }

local SecurityPolicy = { __name = "http.security_policy" }

-- A host name, or `*.` and a domain.
local function check_pattern(pattern, what)
  options.expect(pattern, "string", "a key of " .. what)
  local name = pattern:gsub("^%*%.", "")
  if name == "" or name:find("[%s%z*/]") then
    misuse("a key of %s must be a host or \"*.\" and a domain, not %q", what, pattern)
  end
end

local function check_certificates(given, what)
  local count = 0
  for _, one in ipairs(given) do
    options.expect(one, "string", "an item of " .. what .. "'s 'certificates'")
    if one:find("\0", 1, true) then misuse("an item of %s's 'certificates' has NUL in it", what) end
    local pin = one:match("^sha256//(.*)$")
    if pin and not pin:find("^[%w+/]+=$") or pin and #pin ~= 44 then
      misuse("%q is no pin: after \"sha256//\" comes the Base64 of 32 bytes", one)
    end
    count = count + 1
  end
  return count
end

local function check_one(given, specification, what)
  options.expect(given, "table", what)
  options.check(given, specification, what)
  local pinning = given.pinning or "none"
  options.expect_word(pinning, PINNINGS, "pinning")
  local count = check_certificates(given.certificates or {}, what)
  -- Either alone would look like protection and give none.
  if pinning == "none" and count > 0 then misuse("%s has 'certificates' but no 'pinning'", what) end
  if pinning ~= "none" and count == 0 then misuse("%s pins the %s and has no 'certificates'", what, pinning) end
end

local function copy(given)
  local copied = {}
  for name, value in next, given do copied[name] = type(value) == "table" and copy(value) or value end
  return copied
end

-- http.security_policy(fields) -> a policy. Raises for what makes no sense; files are read when a session first uses
-- it.
function security.policy(given)
  local what = "a security policy"
  check_one(given, POLICY_WITH_HOSTS, what)
  for pattern, one in pairs(given.hosts or {}) do
    check_pattern(pattern, "'hosts'")
    check_one(one, POLICY, "the policy for '" .. pattern .. "'")
  end
  return setmetatable(copy(given), SecurityPolicy)
end

local function add_policy(parts, pattern, given)
  local certificates = given.certificates or {}
  local function flag(value) return value and "1" or "0" end
  for _, part in ipairs { pattern, given.pinning or "none", flag(given.allow_invalid_certificates),
    flag(given.validates_domain_name ~= false), tostring(#certificates), table.unpack(certificates) } do
    parts[#parts + 1] = part
  end
end

-- Each policy: pattern ("" for the usual one), pinning, two flags, the number of certificates, these; all ended by NUL.
local function flatten_policy(given)
  local policy, parts = security.policy(given), {}
  add_policy(parts, "", policy)
  for pattern, one in pairs(policy.hosts or {}) do add_policy(parts, pattern, one) end
  return table.concat(parts, "\0") .. "\0"
end

local TRANSPORT = { allows_arbitrary_loads = "boolean", exceptions = "table", minimum_tls = "string" }
local EXCEPTION = { include_subdomains = "boolean", allows_insecure_http_loads = "boolean", minimum_tls = "string" }

local function check_version(version, what)
  if version and not TLS_VERSIONS[version] then
    misuse("%s's 'minimum_tls' must be \"1.0\", \"1.1\", \"1.2\" or \"1.3\"", what)
  end
  return version or ""
end

-- Whether anything may be loaded, the least TLS; then of each exception: host, two flags, the least TLS. `most`: the
-- configuration's own limit.
local function flatten_transport(given, most)
  options.check(given, TRANSPORT, "'transport_security'")
  if most and given.minimum_tls and given.minimum_tls > most then
    misuse("'transport_security.minimum_tls' must not be above 'tls_maximum_supported'")
  end
  local parts = {
    given.allows_arbitrary_loads == false and "0" or "1", check_version(given.minimum_tls, "'transport_security'"),
  }
  for host, one in pairs(given.exceptions or {}) do
    options.expect(host, "string", "a key of 'transport_security.exceptions'")
    if host == "" or host:find("[%s%z*/]") then
      misuse("a key of 'transport_security.exceptions' must be a host, not %q%s", host,
        host:find("^%*%.") and " ('include_subdomains' is for those below)" or "")
    end
    local what = "the exception for '" .. host .. "'"
    options.expect(one, "table", what)
    options.check(one, EXCEPTION, what)
    parts[#parts + 1] = host
    parts[#parts + 1] = one.include_subdomains and "1" or "0"
    parts[#parts + 1] = one.allows_insecure_http_loads and "1" or "0"
    parts[#parts + 1] = check_version(one.minimum_tls, what)
  end
  return table.concat(parts, "\0") .. "\0"
end

local CERTIFICATE = { certificate = "string", key = "string", password = "string", persistence = "string" }

-- A path, or a table with `certificate`, `key` and `password`: these, each ended by NUL; "" for one not given, and
-- whether there is a password.
local function flatten_certificate(given)
  if type(given) == "string" then given = { certificate = given } end
  options.check(given, CERTIFICATE, "'client_certificate'")
  if not given.certificate then misuse("'client_certificate' needs a 'certificate'") end
  options.path(given.certificate, "'client_certificate.certificate'")
  if given.key then options.path(given.key, "'client_certificate.key'") end
  if given.password then options.text(given.password, "'client_certificate.password'") end
  local password = given.password and "1" .. given.password or "0"
  return table.concat({ given.certificate, given.key or "", password }, "\0") .. "\0"
end

-- A configuration's fields, as the core takes them.
function security.flatten(given, add)
  if given.security_policy then add("security_policy", flatten_policy(given.security_policy)) end
  if given.transport_security then
    add("transport_security", flatten_transport(given.transport_security, given.tls_maximum_supported))
  end
  if given.client_certificate then add("client_certificate", flatten_certificate(given.client_certificate)) end
end

return security
