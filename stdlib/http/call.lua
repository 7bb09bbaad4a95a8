-- Calls that need no handler of the script's: made without a task object, so that the common case costs little. The
-- core resumes the calling fiber with the completion's values.

local core = require "httpscript.core"
local active = require "http.active"
local errors = require "http.errors"
local fibers = require "http.fibers"
local lazy = require "http.lazy"
local response = require "http.response"

local request, settings_of, task = lazy "http.request", lazy "http.settings", lazy "http.task"
local can_park = require("httpscript.fiber").can_park
local core_call, make_response = core.call, response.make

local call = {}

local NO_SETTINGS = {}

-- Whether a call needs no handler of the script's: then it is made without a task object.
local function is_plain(session, settings, body)
  if session._delegate or session._protocols or active.observed or type(body) == "function" then return false end
  if settings and settings.auth and settings.auth.challenge then return false end
  return not settings or not settings.progress and (settings.sink == nil or type(settings.sink) == "string")
    and (type(body) ~= "table" or not body.reader)
end

local function finish_call(session, req, identifier, err, body, metrics, redirects, status, reason, version, url, block,
    expected, cached)
  local head = status and response.make(status, reason, version, url, block, expected, body, metrics, redirects, cached)
  if not err then
    session:_call_done(nil, head)
    return head
  end
  if not errors.is(err) then err = errors.new(err) end
  err.response = head
  err.task = task.completed(session, identifier, req, err, head, metrics)
  session:_call_done(err, head)
  return nil, err
end

local function begin(session, identifier, req, settings, fields, kind, value, scheme, user, secret, ...)
  return finish_call(session, req, identifier, fibers.wait_in_call(session, core.call(identifier, session:_core(),
    req.method, req.url, fields, kind, value, 0, settings.sink and 2, settings.sink, req.timeout,
    settings.resource_timeout, scheme, user, secret, settings_of.limit(settings), settings_of.expectation(settings),
    settings.decompress ~= false, settings.max_body, settings.priority, settings_of.options(req, settings), ...)))
end

-- Named parameters all the way: passing `...` on costs more than the rest of it.
local function finish_quick(session, identifier, method, url, done, err, body, metrics, redirects, status, reason,
    version, shown, block, expected, cached)
  if not done then
    return finish_quick(session, identifier, method, url, true, fibers.wait_in_call(session, done))
  end
  if err then
    return finish_call(session, request.from_options(method, url), identifier, err, body, metrics, redirects, status,
      reason, version, shown, block, expected, cached)
  end
  local head = make_response(status, reason, version, shown, block, expected, body, metrics, redirects, cached)
  session:_call_done(nil, head)
  return head
end

-- A call that fails before anything is sent.
local function refuse(session, identifier, req, err)
  return finish_call(session, req, identifier, err)
end

-- The commonest call: no options, no delegate -> response | nil, err.
function call.quick(session, method, url)
  if not can_park() then fibers.require_yieldable() end
  if not fibers.may_begin() then return nil, errors.cancelled("the script is being ended") end
  local identifier = session:_call_begins()
  return finish_quick(session, identifier, method, url,
    core_call(identifier, session._number or session:_core(), method, url))
end

-- Makes a call without a task object -> response | nil, err; or false when it needs one.
function call.make(session, req, settings)
  if not is_plain(session, settings, req.body) then return false end
  if not fibers.may_begin() then return nil, errors.cancelled("the script is being ended") end
  local fine, fields = request.check(req)
  if not fine then return refuse(session, session:_call_begins(), req, fields) end
  settings = settings or NO_SETTINGS
  local kind, value, parts = request.flatten_body(req.body, "a request's 'body'")
  local scheme, user, secret = settings_of.auth(settings.auth)
  local identifier = session:_call_begins()
  if not parts then return begin(session, identifier, req, settings, fields, kind, value, scheme, user, secret) end
  return begin(session, identifier, req, settings, fields, kind, value, scheme, user, secret, table.unpack(parts))
end

return call
