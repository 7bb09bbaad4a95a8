-- Credentials: what a challenge is answered with. Their texts show no secret.

local options = require "http.options"

local credential = {}

local Credential = { __name = "http.credential" }
Credential.__index = Credential

local FIELDS = {
  user = "string", password = "string", token = "string", certificate = "string", key = "string", trust = "any",
  persistence = "string",
}

local PERSISTENCE = { none = true, for_session = true, permanent = true }

-- What makes a credential of each kind, what may stand beside it, and what its texts must be.
local KINDS = {
  { name = "user", beside = { password = true }, check = options.secret },
  { name = "token", beside = {}, check = options.secret },
  { name = "certificate", beside = { key = true, password = true }, check = options.text },
  { name = "trust", beside = {}, check = options.text },
}

-- The kind that answers a challenge of each method; those of all others take a token.
local METHODS = {
  basic = "user", digest = "user", ntlm = "user", negotiate = "user", server_trust = "trust",
  client_certificate = "certificate",
}

local function kind_of(given)
  for _, kind in ipairs(KINDS) do
    if given[kind.name] ~= nil then return kind end
  end
  options.misuse("a credential needs a 'user', a 'token', a 'certificate' or a 'trust'")
end

local function check_beside(given, kind)
  for name in next, given do
    if name ~= kind.name and name ~= "persistence" and not kind.beside[name] then
      options.misuse("a credential with a '%s' takes no '%s'", kind.name, name)
    end
  end
end

-- http.credential{ user, password, persistence } and the like -> a credential.
function credential.new(given)
  options.expect(given, "table", "argument #1 of http.credential")
  options.check(given, FIELDS, "argument #1 of http.credential")
  local kind = kind_of(given)
  check_beside(given, kind)
  for name, value in next, given do
    if type(value) == "string" then kind.check(value, "a credential's '" .. name .. "'") end
  end
  if kind.name == "trust" and not require("http.server_trust").is(given.trust) then
    options.misuse("a credential's 'trust' must be the server_trust of a challenge, not %s", type(given.trust))
  end
  local made = { persistence = given.persistence or "for_session" }
  options.expect_word(made.persistence, PERSISTENCE, "persistence")
  for name, value in next, given do made[name] = value end
  if kind.name == "user" then made.password = given.password or "" end
  return setmetatable(made, Credential)
end

-- The credential that the core has, of its fields. What a netrc file or a program says is as it is.
function credential.of(fields) return setmetatable(fields, Credential) end

function credential.is(value) return getmetatable(value) == Credential end

-- The field that makes a credential what it is: "user", "token", "certificate" or "trust".
function credential.kind(self) return kind_of(self).name end

-- The kind of credential that a challenge of this method takes.
function credential.kind_for(method) return METHODS[method] or "token" end

-- Kind and texts, as the core takes them.
function credential.flatten(self)
  if self.user then return "password", self.user, self.password end
  if self.token then return "token", self.token end
  if self.certificate then return "certificate", self.certificate, self.key, self.password end
  return "trust", self.trust.certificates[1].sha256
end

function Credential:__tostring()
  local shown = self.user and "user " .. self.user or self.token and "token ***"
    or self.certificate and "certificate " .. self.certificate or "server trust"
  return ("http.credential: %s (%s)"):format(shown, self.persistence)
end

return credential
