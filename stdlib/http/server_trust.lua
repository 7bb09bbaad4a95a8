-- A server's certificates and the verdict on them, as a challenge shows them. A certificate is taken apart when one of
-- its fields is first looked at.

local certificate = require "httpscript.certificate"

local server_trust = {}

local ServerTrust = { __name = "http.server_trust" }
local Certificate = { __name = "http.certificate" }
local DER = {}

function Certificate.__index(self, name)
  local der = rawget(self, DER)
  if der == nil then return nil end
  rawset(self, DER, nil)
  for key, value in pairs(certificate.read(der) or {}) do rawset(self, key, value) end
  return rawget(self, name)
end

-- All fields, read or not.
function Certificate.__pairs(self)
  local _ = self.subject
  return next, self
end

function Certificate:__tostring() return "http.certificate: " .. tostring(self.subject) end

function ServerTrust:__tostring()
  return ("http.server_trust: %s:%d, %s"):format(self.host, self.port, self.verdict.text)
end

-- Of the core's fields.
function server_trust.make(fields)
  local certificates = {}
  for index, der in ipairs(fields.certificates) do
    certificates[index] = setmetatable({ [DER] = der }, Certificate)
  end
  local refusal = fields.refusal or { code = 0, text = "ok" }
  return setmetatable({
    host = fields.host, port = fields.port, certificates = certificates,
    verdict = {
      trusted = not fields.refusal, code = refusal.code, text = refusal.text, error = refusal.error,
      problems = fields.problems, revocation = fields.revocation, revoked_at = fields.revoked_at or nil,
    },
  }, ServerTrust)
end

function server_trust.is(value) return getmetatable(value) == ServerTrust end

return server_trust
