-- Tasks: their life from suspended to completed, and the order of handler calls.
--
-- The core sends events; handlers of one task run one at a time, in order, in a fiber of their own, so that each may
-- wait. Where the core waits for a handler's word (redirect, response, data, body), the answer is sent when the handler
-- has returned. A handler that raises cancels the task with `handler_error`.

local core = require "httpscript.core"
local native = require "httpscript.fiber"
local errors = require "http.errors"
local fibers = require "http.fibers"
local options = require "http.options"
local request = require "http.request"
local response = require "http.response"

local task = {}

-- The same bits as SessionCore.Interest.
local INTEREST = { redirect = 1, informational = 2, response = 4, sent = 8, new_body = 16, progress = 32 }

-- Core number -> task, for tasks that were begun and are not completed.
local active = {}
local last_number = 0

local Task = { __name = "http.task" }
local methods, getters = {}, {}
task.methods = methods

function Task.__index(self, name)
  local method = methods[name]
  if method then return method end
  local getter = getters[name]
  return getter and getter(self)
end

function Task:__tostring()
  return ("http.task: %s %d (%s)"):format(self.kind, self.identifier, self.state)
end

function task.is(value) return getmetatable(value) == Task end

function getters.count_of_bytes_received() return 0 end
function getters.count_of_bytes_sent() return 0 end
function getters.count_of_bytes_expected_to_receive() return -1 end
function getters.count_of_bytes_expected_to_send() return -1 end
function getters.priority() return 0.5 end
function getters:metrics()
  local record = rawget(self, "_metrics")
  if not record then return nil end
  self.metrics = require("http.metrics").unpack(record)
  return self.metrics
end

-- Handlers ----------------------------------------------------------------------------------------------------------

local function traceback(value)
  return { value = value, trace = debug.traceback("", 2):gsub("^\n", "") }
end

local function handler_failed(self, raised)
  if self.failure then return end
  local value = raised.value
  local message = errors.is(value) and tostring(value) or errors.raised(value, "handler_error").message
  self.failure = errors.new {
    domain = "script", code = "handler_error", message = message .. "\n" .. raised.trace, value = value, task = self,
  }
  if self.number and not self.completing then core.cancel(self.number) end
end

-- Calls a function of the script. Answers false when it raised (the task is then being cancelled), else true and its
-- results.
local function call(self, fn, ...)
  local ok, a, b = xpcall(fn, traceback, ...)
  if ok then return true, a, b end
  handler_failed(self, a)
  return false
end

local function delegate_handler(self, name)
  local delegate = self.session.delegate
  local handler = delegate and delegate[name]
  if handler ~= nil and type(handler) ~= "function" and not (getmetatable(handler) or {}).__call then
    handler_failed(self, { value = ("the delegate's '%s' is not a function"):format(name), trace = "" })
    return nil
  end
  return handler
end

-- Calls the delegate's handler; true and nothing when there is none.
local function call_delegate(self, name, ...)
  local handler = delegate_handler(self, name)
  if handler then return call(self, handler, self.session, self, ...) end
  return true
end

local function drain(self)
  local queue = self.queue
  while true do
    local step = queue[queue.first]
    if not step then break end
    queue[queue.first] = nil
    queue.first = queue.first + 1
    step[1](self, table.unpack(step, 2, step.n))
  end
  self.draining = false
end

-- Queues a step of the task's handler fiber.
local function enqueue(self, step, ...)
  local queue = self.queue
  if not queue then
    queue = { first = 1, last = 0 }
    self.queue = queue
  end
  queue.last = queue.last + 1
  queue[queue.last] = table.pack(step, ...)
  queue[queue.last].n = select("#", ...) + 1
  if not self.draining then
    self.draining = true
    fibers.run(drain, self)
  end
end

-- Steps -------------------------------------------------------------------------------------------------------------

local function proposed_body(self, has_body)
  return has_body and self.current_request and self.current_request.body or nil
end

local function step_redirect(self, head, method, url, flat, has_body)
  local proposed = request.from_core(method, url, flat, proposed_body(self, has_body))
  local before = proposed:copy()
  local ok, answer = call_delegate(self, "will_perform_redirection", head, proposed)
  if not ok or self.completing then return end
  if answer == false then return core.answer_redirect(self.number, false) end
  if answer == nil then answer = before end
  if type(answer) == "string" then answer = request.new(answer) end
  if not request.is(answer) then
    return handler_failed(self, {
      value = "will_perform_redirection must return a request, false or nothing, not " .. type(answer), trace = "",
    })
  end
  self.current_request = answer
  local fine, fields = request.check(answer)
  if not fine then
    self.failure = fields
    return core.cancel(self.number)
  end
  local kind, value, reader = request.flatten_body(answer.body, "a request's 'body'")
  if answer.method == before.method and answer.url == before.url and answer.body == before.body
    and tostring(answer.headers) == tostring(before.headers) then
    return core.answer_redirect(self.number, true)
  end
  if reader then
    self.reader = type(reader) == "function" and reader or self.reader
  end
  core.answer_redirect(self.number, true, answer.method, answer.url, fields, kind, value)
end

local function step_response(self, head)
  self.response = head
  local ok, disposition = call_delegate(self, "did_receive_response", head)
  if not ok or self.completing then return end
  if disposition == nil or disposition == "allow" then return core.answer_response(self.number, true) end
  if disposition == "cancel" then return core.answer_response(self.number, false) end
  handler_failed(self, {
    value = ("did_receive_response must return \"allow\" or \"cancel\", not %s"):format(tostring(disposition)),
    trace = "",
  })
end

local function step_informational(self, head)
  call_delegate(self, "did_receive_informational_response", head)
end

local function step_data(self, data)
  local ok
  if self.sink then
    ok = call(self, self.sink, data)
  else
    ok = call_delegate(self, "did_receive_data", data)
  end
  if ok and not self.completing then core.consumed(self.number) end
end

local function step_sent(self)
  local sent, total, expected = self.sent_step, self.sent_total, self.sent_expected
  self.sent_step = nil
  if sent then call_delegate(self, "did_send_body_data", sent, total, expected) end
end

local function step_progress(self)
  local received, expected = self.progress_received, self.progress_expected
  self.progress_received = nil
  if received and self.progress then call(self, self.progress, received, expected) end
end

local function step_body_chunk(self, size)
  local reader = self.reader
  local ok, chunk = call(self, reader, size)
  if not ok or self.completing then return end
  if chunk ~= nil and type(chunk) ~= "string" then
    return handler_failed(self, {
      value = "the body's reader function must return a string or nil, not " .. type(chunk), trace = "",
    })
  end
  core.body_chunk(self.number, chunk)
end

local function step_new_body(self)
  local ok, body = call_delegate(self, "need_new_body_stream")
  if not ok or self.completing then return end
  if body == nil then return core.new_body(self.number) end
  local kind, value, reader = request.flatten_body(body, "what need_new_body_stream returns")
  self.reader = reader
  core.new_body(self.number, kind, value)
end

-- Completion --------------------------------------------------------------------------------------------------------

-- Whether anybody hears of the error in another way than by `wait`.
local function tell_completion(self)
  local completion = self.completion
  if completion then
    local data = self.response and self.response.body
    call(self, completion, data, self.response, self.error)
    return true
  end
  local handler = delegate_handler(self, "did_complete")
  if handler then call(self, handler, self.session, self, self.error) end
  return handler ~= nil
end

local function step_complete(self)
  if self._metrics then call_delegate(self, "did_finish_collecting_metrics", self.metrics) end
  local failed_before = self.failure
  if self.failure then self.error = self.failure end
  local told = tell_completion(self)
  if self.failure and self.failure ~= failed_before then
    self.error, told = self.failure, false
  end
  self.session:_forget(self)
  if self.scope then self.scope[self] = nil end
  local script_error = self.error and self.error.domain == "script"
  if script_error and not told and not self.waiter and not fibers.is_stopping() then
    fibers.note_unobserved(self)
  end
  fibers.complete(self)
end

local function needs_fiber(self)
  if self.draining or self.completion then return true end
  local delegate = self.session.delegate
  return delegate and (delegate.did_complete or delegate.did_finish_collecting_metrics) and true or false
end

local function complete(self, err, head)
  self.completing = true
  self.number = nil
  self.state = "completed"
  if err then
    if self.failure and err.code == "cancelled" then err = self.failure end
    if not errors.is(err) then err = errors.new(err) end
    err.task = err.task or self
    err.response = err.response or head
    self.error = err
  end
  self.response = head or self.response
  if needs_fiber(self) then
    enqueue(self, step_complete)
  else
    step_complete(self)
  end
end

local function on_completed(number, err, body, sent, received, to_send, to_receive, metrics, redirects,
                            status, reason, version, url, block, expected)
  local self = active[number]
  active[number] = nil
  if not self then return end
  self.count_of_bytes_sent, self.count_of_bytes_received = sent, received
  self.count_of_bytes_expected_to_send, self.count_of_bytes_expected_to_receive = to_send, to_receive
  self._metrics = metrics
  local head
  if status then
    head = response.make(status, reason, version, url, block, expected, body, metrics, redirects)
    if self.location then head.location = self.location end
  end
  complete(self, err, head)
end

-- Events ------------------------------------------------------------------------------------------------------------

local events = {}
events[1] = on_completed
events[2] = fibers.timer_fired

local function on_task(step)
  return function(number, ...)
    local self = active[number]
    if self then enqueue(self, step, ...) end
  end
end

events[3] = function(number, status, reason, version, url, block, expected, method, target, flat, has_body)
  local self = active[number]
  if not self then return end
  local head = response.make(status, reason, version, url, block, expected)
  enqueue(self, step_redirect, head, method, target, flat, has_body)
end

events[4] = function(number, ...)
  local self = active[number]
  if self then enqueue(self, step_informational, response.make(...)) end
end

events[5] = function(number, ...)
  local self = active[number]
  if self then enqueue(self, step_response, response.make(...)) end
end

events[6] = on_task(step_data)

-- Progress that its handler has not seen yet is merged, so that a slow one is not flooded.
events[7] = function(number, sent, total, expected)
  local self = active[number]
  if not self then return end
  self.count_of_bytes_sent, self.count_of_bytes_expected_to_send = total, expected
  local pending = self.sent_step
  self.sent_step, self.sent_total, self.sent_expected = (pending or 0) + sent, total, expected
  if not pending then enqueue(self, step_sent) end
end

events[8] = function(number, received, expected)
  local self = active[number]
  if not self then return end
  self.count_of_bytes_received, self.count_of_bytes_expected_to_receive = received, expected
  local pending = self.progress_received
  self.progress_received, self.progress_expected = received, expected
  if not pending and self.progress then enqueue(self, step_progress) end
end

events[9] = on_task(step_body_chunk)
events[10] = on_task(step_new_body)

function task.on_session_invalidated(handler) events[11] = handler end

events[12] = function()
  fibers.stop()
  for _, self in pairs(active) do self:cancel() end
end

events[13] = fibers.report_unobserved

native.dispatcher(function(kind, number, ...) return events[kind](number, ...) end)

-- Life --------------------------------------------------------------------------------------------------------------

local AUTH_SCHEMES = { basic = true, digest = true, any = true }

-- The option `auth` as scheme, user, secret.
local function flatten_auth(auth)
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

local function interest_of(self)
  local bits, delegate = 0, self.session.delegate
  if self.progress then bits = bits + INTEREST.progress end
  if not delegate then return bits end
  if delegate.will_perform_redirection then bits = bits + INTEREST.redirect end
  if delegate.need_new_body_stream then bits = bits + INTEREST.new_body end
  if delegate.did_send_body_data then bits = bits + INTEREST.sent end
  if delegate.did_receive_informational_response then bits = bits + INTEREST.informational end
  local takes_response = not self.completion and not self.is_call and delegate.did_receive_response
  if takes_response then bits = bits + INTEREST.response end
  return bits
end

-- Where the body goes: nil (memory), 1 (pieces) or 2 with a path.
local function destination_of(self)
  if self.sink_path then return 2, self.sink_path end
  if self.sink then return 1 end
  local delegate = self.session.delegate
  if delegate and delegate.did_receive_data and not self.completion and not self.is_call then return 1 end
  return nil
end

-- Makes a task, suspended. `settings` are the options of a call, already checked.
function task.new(session, kind, identifier, req, settings)
  settings = settings or {}
  local self = setmetatable({
    session = session, kind = kind, identifier = identifier, state = "suspended", suspensions = 1,
    original_request = req, current_request = req, settings = settings,
    progress = settings.progress,
  }, Task)
  local sink = settings.sink
  if type(sink) == "string" then
    self.sink_path = sink
  elseif type(sink) == "userdata" then
    self.sink = function(data) assert(sink:write(data)) end
  else
    self.sink = sink
  end
  return self
end

local function fail_at_once(self, err)
  last_number = last_number + 1
  fibers.run(function() complete(self, err) end)
end

local function limit_of(settings)
  local limit = settings.redirects
  if limit == nil or limit == true then return 20 end
  if limit == false then return nil end
  return limit
end

-- Hands the task to the core.
local function begin(self)
  local req, settings = self.original_request, self.settings
  self.scope = fibers.enter_scope(self)
  if fibers.is_stopping() then return fail_at_once(self, errors.cancelled("the script is being ended")) end
  local fine, fields = request.check(req)
  if not fine then return fail_at_once(self, fields) end
  local kind, value, extra = request.flatten_body(req.body, "a request's 'body'")
  local scheme, user, secret = flatten_auth(settings.auth)
  local destination, path = destination_of(self)
  local expect = settings.expect_continue
  if expect == "auto" then expect = nil end
  if type(extra) == "function" then self.reader = extra end
  last_number = last_number + 1
  local number = last_number
  self.number = number
  active[number] = self
  local function start(...)
    core.start(number, self.session:_core(), req.method, req.url, fields, kind, value, interest_of(self), destination,
      path, req.timeout, settings.resource_timeout, scheme, user, secret, limit_of(settings), expect,
      settings.decompress ~= false, settings.max_body, self.priority, ...)
  end
  if kind == "parts" then start(table.unpack(extra)) else start() end
end

-- task:resume() starts the task, or takes back one suspend.
function methods:resume()
  if self.state == "completed" or self.state == "canceling" then return end
  if self.suspensions == 0 then return end
  self.suspensions = self.suspensions - 1
  if self.suspensions > 0 then return end
  self.state = "running"
  if self.begun then
    if self.number then core.resume(self.number) end
    return
  end
  self.begun = true
  begin(self)
end

-- task:suspend() pauses transmission and timers; calls nest.
function methods:suspend()
  if self.state == "completed" or self.state == "canceling" then return end
  self.suspensions = self.suspensions + 1
  if self.suspensions > 1 then return end
  self.state = "suspended"
  if self.number then core.suspend(self.number) end
end

-- task:cancel() ends the task with `cancelled`; harmless at any time.
function methods:cancel()
  if self.state == "completed" or self.state == "canceling" then return end
  self.state = "canceling"
  if self.number then
    core.cancel(self.number)
  elseif not self.begun then
    self.begun = true
    fail_at_once(self, errors.cancelled())
  end
end

-- task:wait() yields until after did_complete -> response | nil, err.
function methods:wait()
  fibers.observe(self)
  if not self.done then
    fibers.require_yieldable()
    fibers.wait_for(self)
    fibers.observe(self)
  end
  if self.error then return nil, self.error end
  return self.response
end

-- task:copy() -> a new task for the same request, suspended.
function methods:copy()
  return self.session:_task(self.kind, self.original_request:copy(), self.settings, self.completion)
end

return task
