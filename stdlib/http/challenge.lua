-- Challenges: what a handler is asked with, and its word as the core takes it.

local core = require "httpscript.core"
local credential = require "http.credential"
local errors = require "http.errors"
local options = require "http.options"
local request = require "http.request"
local response = require "http.response"
local settings_of = require "http.settings"
local steps = require "http.steps"

local challenge = {}

local Challenge = { __name = "http.challenge" }
Challenge.__index = Challenge

function Challenge:__tostring()
  local space = self.protection_space
  return ("http.challenge: %s for %s:%d"):format(space.authentication_method, space.host, space.port)
end

local function parameters_of(flat)
  local parameters = {}
  for i = 1, #flat, 2 do
    if parameters[flat[i]] == nil then parameters[flat[i]] = flat[i + 1] end
  end
  return parameters
end

-- The protection space of the core's fields.
local function space_of(fields)
  local parameters = parameters_of(fields.parameters)
  local trust = fields.server_trust
  return {
    host = fields.host, port = fields.port, protocol = fields.protocol, realm = parameters.realm,
    authentication_method = fields.method, is_proxy = fields.is_proxy, parameters = parameters,
    distinguished_names = fields.method == "client_certificate" and fields.distinguished_names or nil,
    server_trust = trust and require("http.server_trust").make(trust) or nil,
  }
end

-- A challenge of the core's fields and the head of the response that asks, if there is one.
function challenge.make(fields, ...)
  return setmetatable({
    protection_space = space_of(fields),
    proposed_credential = fields.proposed and credential.of(fields.proposed) or nil,
    previous_failure_count = fields.failures,
    failure_response = (...) and response.make(...) or nil,
    error = fields.error and errors.new(fields.error) or nil,
  }, Challenge)
end

-- What concerns the connection goes to the session's handler, and to the task's where that is absent.
local CONNECTION_LEVEL = { server_trust = true, client_certificate = true, ntlm = true, negotiate = true }

-- Calls the handler that is in charge -> disposition (or request), credential. The call's own authenticator comes
-- first.
local function ask(self, one)
  local authenticator = settings_of.authenticator(self.settings)
  if authenticator and authenticator.challenge then
    local disposition, given = authenticator:challenge(self.session, self, one)
    if disposition ~= nil then return disposition, given end
  end
  local delegate = self.session._delegate
  if not delegate then return nil end
  if CONNECTION_LEVEL[one.protection_space.authentication_method] then
    local handler = steps.delegate_handler(self, "session_did_receive_challenge")
    if handler then return handler(self.session, one) end
  end
  return steps.call_delegate(self, "did_receive_challenge", one)
end

local DISPOSITIONS = {
  use_credential = "credential", perform_default_handling = "default", cancel_authentication_challenge = "cancel",
  reject_protection_space = "reject",
}

local function answer_with_request(self, changed)
  local fine, fields = request.check(changed)
  if not fine then
    self.failure = fields
    return core.cancel(self.number)
  end
  self.current_request = changed
  local kind, value, extra = request.flatten_body(changed.body, "a request's 'body'")
  if type(extra) == "function" then self.reader = extra end
  core.answer_challenge(self.number, "request", changed.method, changed.url, fields, kind, value,
    steps.parts_of(kind, extra))
end

-- Why an HTTP scheme cannot take the credential, or nil. What concerns certificates fails with its own error.
local function misfit(given, method)
  if method == "server_trust" or method == "client_certificate" then return nil end
  local kind, wanted = credential.kind(given), credential.kind_for(method)
  if kind ~= wanted then
    return ("a '%s' challenge takes a credential with a '%s', not one with a '%s'"):format(method, wanted, kind)
  end
  if method == "basic" and given.user:find(":", 1, true) then
    return "a 'basic' challenge takes no user with a colon (RFC 7617 §2)"
  end
end

-- `later`: the methods of the response's other challenges.
local function answer_with_credential(self, given, method, later)
  -- As Apple has it: go on without one.
  if given == nil then return core.answer_challenge(self.number, "deliver") end
  if not credential.is(given) then
    error("a challenge's credential must be an http.credential, not " .. type(given), 0)
  end
  local problem = misfit(given, method)
  if not problem then
    return core.answer_challenge(self.number, "credential", given.persistence, credential.flatten(given))
  end
  for _, other in ipairs(later) do
    if not misfit(given, other) then return core.answer_challenge(self.number, "reject") end
  end
  error(problem, 0)
end

local function answer(self, fields, disposition, given)
  if request.is(disposition) then return answer_with_request(self, disposition) end
  if disposition == nil then disposition = "perform_default_handling" end
  if type(disposition) ~= "string" then
    error("a challenge's handler must return a disposition or a request, not " .. type(disposition), 0)
  end
  local word = DISPOSITIONS[disposition]
  if not word then
    local near = options.nearest(disposition, DISPOSITIONS)
    error(("unknown disposition '%s'%s"):format(disposition, near and (" (did you mean '" .. near .. "'?)") or ""), 0)
  end
  if word == "credential" then return answer_with_credential(self, given, fields.method, fields.later) end
  core.answer_challenge(self.number, word)
end

-- The step of a task that asks the script.
function challenge.step(self, fields, ...)
  local disposition, given = ask(self, challenge.make(fields, ...))
  if not self.completing then answer(self, fields, disposition, given) end
end

return challenge
