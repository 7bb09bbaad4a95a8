-- Protocol classes: what answers requests in the network's place (Apple's URLProtocol).
--
-- Before a request is made the core asks who makes it. A class that takes it runs in a job of its own, so that the
-- task's handlers go on meanwhile, and speaks through its client; the core treats what it says as it does a response
-- from the network.

local core = require "httpscript.core"
local native = require "httpscript.fiber"
local active = require "http.active"
local errors = require "http.errors"
local events = require "http.events"
local fibers = require "http.fibers"
local headers = require "http.headers"
local options = require "http.options"
local request = require "http.request"
local response = require "http.response"
local steps = require "http.steps"

local misuse = options.misuse

local loads = {}

-- How much data may wait for the task's consumer before the class has to wait too.
local ROOM = 64 * 1024

local Client = { __name = "http.client" }
local methods = {}
Client.__index = methods

function Client:__tostring() return "http.client: " .. tostring(self._load.request) end

-- The end of a load -------------------------------------------------------------------------------------------------

local function tell_stop(load)
  local handler = load.class.stop_loading
  if not handler then return end
  local ok, problem = xpcall(handler, debug.traceback, load.request)
  if not ok then core.uncaught(tostring(problem)) end
end

local function finish(load)
  load.over = true
  if load.task.load == load then load.task.load = false end
  if load.room then fibers.complete(load.room) end
  fibers.run(tell_stop, load)
end

-- The task ended before its load did.
function loads.stop(self)
  local load = self.load
  load.stopped = true
  finish(load)
  if load.scope then load.scope:cancel() end
end

-- The beginning -----------------------------------------------------------------------------------------------------

local function run(load)
  if load.over then return end
  load.scope = fibers.scope()
  local ok, raised = xpcall(load.class.start_loading, errors.capture, load.request, load.client)
  if ok or load.stopped then return end
  if load.over then error(errors.captured(raised).value, 0) end
  steps.handler_failed(load.task, raised)
end

local function begin(self, class, req)
  local load = { task = self, number = self.number, class = class, request = req, over = false, stopped = false,
    has_response = false, pending = 0, room = false, scope = false }
  load.client = setmetatable({ _load = load }, Client)
  self.load = load
  core.loader(self.number, true)
  fibers.begin(run, load)
end

-- The step that decides who makes a request: the first class that wants it, else the core.
local function choose(self, req)
  for _, class in ipairs(self.session._protocols) do
    local takes = class.can_init(req)
    if self.completing then return end
    if takes then return begin(self, class, req) end
  end
  core.loader(self.number, false)
end

events[events.LOADER] = function(number, method, url, flat, has_body)
  local self = active.find(number)
  if not self then return end
  local req = request.redirected(self.current_request, method, url, flat, has_body)
  -- A body that was asked for.
  if type(req.body) == "table" and req.body.stream then req.body = self.stream_body or nil end
  self.current_request = req
  steps.perform(self, choose, self.current_request)
end

events[events.LOAD_DRAINED] = function(number)
  local self = active.find(number)
  local room = self and self.load and self.load.room
  if not room then return end
  self.load.room = false
  fibers.complete(room)
end

-- The client --------------------------------------------------------------------------------------------------------

-- The load that may go on with this call; nil when its task has ended meanwhile.
local function receiver(self, name)
  options.receiver(self, Client, "client:" .. name)
  local load = self._load
  if load.stopped then return nil end
  if load.over then misuse("client:%s after the load was finished, failed or redirected", name) end
  return load
end

local HEAD = { status = "integer", headers = "table", reason = "string", http_version = "string" }
-- What says how a body came over the network, and not what it is.
local FRAMING = { "Content-Encoding", "Content-Length", "Transfer-Encoding" }

-- Status, reason, version and flat fields of what stands for a response.
local function flat_head(given, what, default)
  local list
  if response.is(given) then
    list = headers.from(given.headers)
    for _, name in ipairs(FRAMING) do list[name] = nil end
  else
    given = options.check(given, HEAD, what)
    list = headers.from(given.headers)
  end
  local status = given.status or default
  if status < 200 or status > 999 then misuse("%s has a status out of range: %d", what, status) end
  local flat, problem = headers.flatten(list)
  if problem then misuse("%s: %s", what, problem) end
  return status, given.reason, given.http_version, flat
end

-- client:receive_response{ status, headers, reason, http_version }, or a response: the head of the answer, once.
function methods:receive_response(given)
  local load = receiver(self, "receive_response")
  if not load then return false end
  if load.has_response then misuse("client:receive_response twice for one load") end
  local status, reason, version, flat = flat_head(given, "argument #1 of receive_response", 200)
  load.has_response = true
  core.load_response(load.number, status, reason, version, flat)
  return true
end

-- client:receive_data(text): a piece of the body. Yields while the task's consumer is behind.
function methods:receive_data(data)
  local load = receiver(self, "receive_data")
  if not load then return false end
  if not load.has_response then misuse("client:receive_data before client:receive_response") end
  options.expect(data, "string", "argument #1 of receive_data")
  load.pending = load.pending + #data
  local is_full = load.pending >= ROOM and not load.room
  core.load_data(load.number, data, is_full)
  if is_full then load.room, load.pending = { done = false, waiter = false }, 0 end
  local may_wait = native.can_park() and load.task.draining ~= native.current()
  if load.room and may_wait then fibers.wait_for(load.room) end
  return not load.stopped
end

-- client:redirect(response, request): another request takes the place of this one; the load is over.
function methods:redirect(head, target)
  local load = receiver(self, "redirect")
  if not load then return false end
  if load.has_response then misuse("client:redirect after client:receive_response") end
  local status, reason, version, flat = flat_head(head, "argument #1 of redirect", 302)
  local req = request.new(target)
  local fine, fields = request.check(req, load.task.session)
  if not fine then misuse("argument #2 of redirect: %s", fields.message) end
  local kind, value, extra = request.flatten_body(req.body, "a request's 'body'")
  if type(extra) == "function" then load.task.reader = extra end
  load.task.next_request = req
  core.load_redirect(load.number, status, reason, version, flat, req.method, req.url, fields, kind, value,
    table.unpack(kind == "parts" and extra or {}))
  finish(load)
  return true
end

-- client:finish(): the response is whole.
function methods:finish()
  local load = receiver(self, "finish")
  if not load then return false end
  if not load.has_response then misuse("client:finish before client:receive_response") end
  core.load_finished(load.number)
  finish(load)
  return true
end

local function to_error(given)
  if errors.is(given) then return given end
  if type(given) == "string" then given = { message = given } end
  options.check(given, { domain = "string", code = "string", message = "string", url = "string", underlying = "table" },
    "argument #1 of fail")
  return errors.new {
    domain = given.domain or "url", code = given.code or "unknown",
    message = given.message or given.code or "the protocol class failed", url = given.url,
    underlying = given.underlying,
  }
end

-- client:fail(err): the task ends with this error: an error object, a table of its fields, or a message.
function methods:fail(err)
  local load = receiver(self, "fail")
  if not load then return false end
  if err == nil then misuse("argument #1 of fail must be an error, not nil") end
  load.task.load_error = to_error(err)
  core.load_failed(load.number, load.task.load_error.message)
  finish(load)
  return true
end

return loads
