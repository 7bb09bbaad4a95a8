-- Tasks: their life from suspended to completed, and the order of handler calls.
--
-- The core sends events, named by the task's number; http.steps calls the script's handlers for them.

local core = require "httpscript.core"
local native = require "httpscript.fiber"
local active = require "http.active"
local errors = require "http.errors"
local fibers = require "http.fibers"
local options = require "http.options"
local request = require "http.request"
local scopes = require "http.scopes"
local settings_of = require "http.settings"
local steps = require "http.steps"
local classes = require "http.task_classes"
local task_end = require "http.task_end"

local task = {}

-- The same bits as SessionCore.Interest.
local REDIRECT <const>, INFORMATIONAL <const>, RESPONSE <const>, SENT <const>, NEW_BODY <const> = 1, 2, 4, 8, 16
local PROGRESS <const>, CHALLENGE <const>, CONNECTION_CHALLENGE <const>, CACHE <const> = 32, 64, 128, 256
local BARE_CHALLENGE <const> = 512

-- Where the body is given to the script piece by piece.
local CONSUMER = 1

local methods, completed_class = classes.methods, classes.completed
local Task, CompletedTask = classes.Task, classes.CompletedTask
local NO_SETTINGS = methods.settings
task.methods, task.subclass, task.is = methods, classes.subclass, classes.is
task.finish, task.on_completed = task_end.finish, task_end.on_completed

local can_park, current, metatable_of = native.can_park, native.current, debug.getmetatable
local join, scope_of_fiber, wait_for = scopes.join, fibers.scope, fibers.wait_for
local complete = task_end.finish
local type, rawget, rawset, setmetatable = type, rawget, rawset, setmetatable

local function notify(self, name) require("http.notifications").post(name, self) end

-- Life --------------------------------------------------------------------------------------------------------------

-- What a delegate is told of any task when it has the handler.
local function interest_of_delegate(delegate)
  local bits = 0
  if delegate.need_new_body_stream then bits = NEW_BODY end
  if delegate.did_receive_challenge then bits = bits | CHALLENGE | CONNECTION_CHALLENGE end
  if delegate.session_did_receive_challenge then bits = bits | CONNECTION_CHALLENGE end
  if delegate.will_cache_response then bits = bits | CACHE end
  if delegate.did_receive_informational_response then bits = bits | INFORMATIONAL end
  return bits
end

-- A call answers with its response and nothing else can be seen of it before; a task can be looked at at any time.
-- What a consumer is given tells how far the body is.
local function interest_of(self, destination)
  local delegate, auth, is_call = self.session._delegate, self.settings.auth, self.is_call
  local bits = is_call and 0 or REDIRECT | RESPONSE | SENT
  if auth and auth.challenge then bits = bits | CHALLENGE | CONNECTION_CHALLENGE | BARE_CHALLENGE end
  if self.progress or not is_call and destination ~= CONSUMER then bits = bits | PROGRESS end
  if not delegate then return bits end
  if is_call and delegate.will_perform_redirection then bits = bits | REDIRECT end
  if is_call and delegate.did_send_body_data then bits = bits | SENT end
  return bits | interest_of_delegate(delegate)
end

-- Where the body goes: nil (memory), 1 (pieces), 2 with a path or 3 (a file of the task's own).
local function destination_of(self)
  if self.kind == "download" then return 3, self.settings.resume_data end
  if self.sink_path then return 2, self.sink_path end
  if self.sink then return CONSUMER end
  local delegate = self.session._delegate
  if delegate and delegate.did_receive_data and not self.completion and not self.is_call then return CONSUMER end
  return nil
end

local function apply(self, settings)
  if settings.progress then self.progress = settings.progress end
  if settings.priority then self.priority = settings.priority end
  local sink = settings.sink
  if type(sink) == "string" then
    self.sink_path = sink
  elseif sink then
    self.sink = type(sink) == "userdata" and steps.writer(sink) or sink
  end
end

-- Makes a task for a request or a URL, suspended. `settings` are the options of a call, already checked; `class` is one
-- of `task.subclass`. A script may change the request that it sees, and not what is sent: `_request`.
--
-- What most tasks come to have stands in the constructor, since adding a field later costs a function call.
function task.new(session, kind, identifier, req, settings, class, completion)
  local shown = req
  if type(req) == "string" then shown = request.get(req) elseif request.is(req) then shown = req:copy() end
  local self = setmetatable({
    session = session, kind = kind, identifier = identifier, original_request = shown, current_request = shown,
    _request = req or false,
    settings = settings, state = "suspended", suspensions = 1, begun = false, scope = false, number = false,
    draining = false, done = false, completing = false, waiter = false, waiters = false, queue = false,
    completion = completion or false, failure = false, interruption = false, _metrics = false, response = nil,
    count_of_bytes_received = 0, count_of_bytes_expected_to_receive = -1,
  }, class or Task)
  if settings then apply(self, settings) end
  return self
end

-- Makes a task for a call. All fields that every task gets stand in the constructor, so that the table is made once in
-- its final size.
function task.new_call(session, identifier, req, settings)
  request.complete(req)
  local self = setmetatable({
    session = session, identifier = identifier, original_request = req, current_request = req, settings = settings,
    state = "suspended", is_call = true, begun = false, number = false, scope = false, done = false, waiter = false,
    completing = false, _metrics = false, response = nil, error = nil,
    count_of_bytes_received = 0, count_of_bytes_expected_to_receive = -1,
  }, Task)
  if settings then apply(self, settings) end
  return self
end

-- What the script sees of a task's request is a copy from now on: to change it does not change what is sent.
function methods:_hide_request()
  local req = self.original_request
  if self._request or not req then return end
  local shown = req:copy()
  self._request, self.original_request, self.current_request = req, shown, shown
end

local function fail_at_once(self, err)
  fibers.run(function() complete(self, err) end)
end
task.fail_at_once = fail_at_once

-- Makes a task that has no number yet one of those under way; false, and it fails, when something is wrong with it or
-- the script is being ended.
function task.enlist(self, problem)
  local scope = scope_of_fiber()
  self.begun, self.suspensions, self.state, self.scope = true, 0, "running", scope
  if active.observed then notify(self, "task_did_start") end
  if active.stopping then problem = errors.cancelled("the script is being ended") end
  if problem then
    fail_at_once(self, problem)
    return false
  end
  active.add(self)
  if scope then join(scope, self) end
  return true
end

-- What most tasks are: a GET of a URL with no settings, so that there are no sink, progress or authenticator either.
local function start_get(self, url)
  local session, destination, interest = self.session, nil, REDIRECT | RESPONSE | SENT
  local delegate = session._delegate
  if delegate and delegate.did_receive_data and not self.completion then
    destination = CONSUMER
  else
    interest = interest | PROGRESS
  end
  if delegate then interest = interest | interest_of_delegate(delegate) end
  if not task.enlist(self) then return end
  core.start(self.number, session._number or session:_core(), "GET", url, nil, nil, nil, interest, destination)
end

local function start(self, req, number, interest, destination, path, fields, kind, value, scheme, user, secret, ...)
  local settings = self.settings
  core.start(number, self.session:_core(), req.method, req.url, fields, kind, value, interest, destination, path,
    req.timeout, settings.resource_timeout, scheme, user, secret, settings_of.limit(settings),
    settings_of.expectation(settings), settings.decompress ~= false, settings.max_body, self.priority,
    settings_of.options(req, settings), ...)
end

-- Hands the task to the core. What only a wrong program does is raised before anything has changed.
function task.start_transfer(self)
  local req, settings = self._request or self.original_request, self.settings
  if type(req) == "string" then
    if settings == NO_SETTINGS and self.priority == 0.5 then return start_get(self, req) end
    req = request.get(req)
  end
  local kind, value, extra
  local fine, fields = request.check(req)
  if fine then kind, value, extra = request.flatten_body(req.body, "a request's 'body'") end
  local scheme, user, secret = settings_of.auth(settings.auth)
  local destination, path = destination_of(self)
  local interest = interest_of(self, destination)
  local problem = not fine and fields
  if type(extra) == "function" then
    self.reader, self.own_reader = extra, extra
    problem = problem or steps.reader_problem(self, extra)
  end
  if not task.enlist(self, problem) then return end
  local number, session = self.number, self.session
  if settings == NO_SETTINGS and kind ~= "parts" and self.priority == 0.5 and request.is_usual(req) then
    return core.start(number, session._number or session:_core(), req.method, req.url, fields, kind, value, interest,
      destination, path, req.timeout)
  end
  if kind ~= "parts" then
    return start(self, req, number, interest, destination, path, fields, kind, value, scheme, user, secret)
  end
  return start(self, req, number, interest, destination, path, fields, kind, value, scheme, user, secret,
    table.unpack(extra))
end

local function begin(self)
  if self._starter then return self:_starter() end
  return task.start_transfer(self)
end

local function check_receiver(value, name)
  if not completed_class[metatable_of(value)] then options.receiver(value, Task, name) end
end

-- task:resume() starts the task, or takes back one suspend.
function methods:resume()
  check_receiver(self, "task:resume")
  local state, suspensions = self.state, self.suspensions
  if state == "completed" or state == "canceling" or suspensions == 0 then return end
  if suspensions > 1 then
    self.suspensions = suspensions - 1
    return
  end
  if not self.begun then return begin(self) end
  self.suspensions = 0
  self.state = "running"
  if active.observed then notify(self, "task_did_resume") end
  if self.number then core.resume(self.number) end
end

-- task:suspend() pauses transmission and timers; calls nest.
function methods:suspend()
  check_receiver(self, "task:suspend")
  if self.state == "completed" or self.state == "canceling" then return end
  self.suspensions = self.suspensions + 1
  if self.suspensions > 1 then return end
  self.state = "suspended"
  if active.observed then notify(self, "task_did_suspend") end
  if self.number then core.suspend(self.number) end
end

-- task:cancel() ends the task with `cancelled`; harmless at any time.
function methods:cancel()
  check_receiver(self, "task:cancel")
  if self.state == "completed" or self.state == "canceling" then return end
  self.state = "canceling"
  self.is_ended_by_handler = self.draining == current()
  if self.number then
    core.cancel(self.number)
  elseif not self.begun then
    self.begun = true
    fail_at_once(self, errors.cancelled())
  end
end

-- The scope it was begun in has been cancelled: a handler that waits for something is not waited for.
function methods:_scope_ends()
  steps.interrupt_handler(self, errors.cancelled("the job was cancelled"))
  self:cancel()
end

-- Ends a download with `cancelled`, and with resume data where that is possible.
function methods:_cancel_keeping()
  if self.number and self.state ~= "canceling" then
    self.state = "canceling"
    core.cancel_keeping(self.number)
  else
    self:cancel()
  end
end

-- The script is being ended.
function methods:_end_with_script()
  if self.kind == "download" then self:_cancel_keeping() else self:cancel() end
end

-- task:cancel_by_producing_resume_data([fn]) cancels a download task; yields without fn -> resume data or nil, which fn
-- is given otherwise.
function methods:cancel_by_producing_resume_data(fn)
  check_receiver(self, "task:cancel_by_producing_resume_data")
  if self.kind ~= "download" then options.misuse("only a download task can produce resume data") end
  return require("http.resume_data").cancel(self, fn)
end

-- task:wait() yields until after did_complete -> response | nil, err.
function methods:wait()
  check_receiver(self, "task:wait")
  if not self.done then
    if not can_park() then fibers.require_yieldable() end
    if self.draining == current() then options.misuse("a handler cannot wait for the end of its own task") end
    wait_for(self)
  end
  local err = rawget(self, "error")
  if not err then return self:_result() end
  fibers.observe(self)
  return nil, err
end

-- What `wait` answers when all went well.
function methods:_result() return rawget(self, "became") or self.response end

-- task:copy() -> a new task for the same request, suspended.
function methods:copy()
  check_receiver(self, "task:copy")
  return self:_copy()
end

function methods:_copy()
  local req = self._request or self.original_request
  if type(req) ~= "string" then req = req:copy() end
  return self.session:_task(self.kind, req, self.settings, self.completion or nil)
end

-- Stands for a call under way that was made without a task object: it can be looked at, waited for and cancelled.
function task.of_call(session, number, identifier, method, url)
  local self = task.new_call(session, identifier, request.from_options(method, url))
  self.state, self.begun, self.number = "running", true, number
  return self
end

-- The call has ended that such a task stands for.
function task.end_call(self, err, head)
  self.state, self.number = "completed", false
  rawset(self, "error", err or nil)
  rawset(self, "response", head)
  fibers.complete(self)
end

-- A completed task for a call that was made without one: what an error's `task` is.
function task.completed(session, identifier, req, err, head, metrics)
  local self = task.new_call(session, identifier, req)
  self.state, self.done, self._metrics = "completed", true, metrics
  self.count_of_bytes_received, self.count_of_bytes_expected_to_receive = nil, nil
  rawset(self, "error", err)
  rawset(self, "response", head)
  return setmetatable(self, CompletedTask)
end

require("http.task_events").install(task)

return task
