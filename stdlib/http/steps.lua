-- The steps of a task that call the script's functions.
--
-- Handlers of one task run one at a time, in order, in the fiber that handles the event they are called for: so each
-- may wait; what happens meanwhile stands in a queue, which the same fiber goes on with. Where the core waits for a
-- handler's word (redirect, response, data, body), the answer is sent when the handler has returned. A handler that
-- raises cancels the task with `handler_error`.

local core = require "httpscript.core"
local errors = require "http.errors"
local fibers = require "http.fibers"
local options = require "http.options"
local request = require "http.request"

local capture, allow, consumed, enter = errors.capture, core.allow, core.consumed, fibers.enter
local type, xpcall = type, xpcall

local steps = {}

-- Handlers ----------------------------------------------------------------------------------------------------------

-- Whether this is how a handler ends that was interrupted because its task is at its end.
local function is_interruption(self, value)
  if value ~= nil and value == self.interruption then return true end
  if not errors.is(value) or value.code ~= "cancelled" then return false end
  return self.state == "canceling" or self.error ~= nil and self.error.code == "cancelled"
end

function steps.handler_failed(self, raised)
  raised = errors.captured(raised)
  local value = raised.value
  if self.failure or is_interruption(self, value) then return end
  local message = errors.is(value) and tostring(value) or errors.raised(value, "handler_error").message
  self.failure = errors.new {
    domain = "script", code = "handler_error", message = message .. "\n" .. raised.trace, value = value, task = self,
    url = self.current_request and request.shown_url(self.current_request.url),
  }
  if self.number and not self.completing then core.cancel(self.number) end
end

-- Calls a function for a task. Answers false when it raised (the task is then being cancelled), else true and its
-- result.
function steps.call(self, fn, ...)
  local ok, result = xpcall(fn, errors.capture, ...)
  if ok then return true, result end
  steps.handler_failed(self, result)
  return false
end

-- The delegate's handler of the name, or nil.
local function delegate_handler(self, name)
  local delegate = self.session._delegate
  if not delegate then return nil end
  local handler = delegate[name]
  if handler == nil or type(handler) == "function" or options.is_callable(handler) then return handler end
  error(("the delegate's '%s' is not a function"):format(name), 0)
end
steps.delegate_handler = delegate_handler

local function get(object, name) return object[name] end

-- Whether the delegate has something of the name, also when it raises on being looked at: that then fails the step.
function steps.has_handler(self, name)
  local delegate = self.session._delegate
  if not delegate then return false end
  local ok, handler = pcall(get, delegate, name)
  return not ok or handler ~= nil
end

-- Calls the delegate's handler; nothing when there is none.
local function call_delegate(self, name, ...)
  local handler = delegate_handler(self, name)
  if handler then return handler(self.session, self, ...) end
end
steps.call_delegate = call_delegate

-- Whether handlers are still called. (A WebSocket that is being closed is told of the close.)
local function is_live(self)
  if self.failure or self.interruption then return false end
  return self.state ~= "canceling" or self.is_closing
end

-- Does what stands in the queue. A step may raise, which fails the task; then only the last step is left to do.
local function drain(self)
  local queue = self.queue
  while true do
    local step = queue[queue.first]
    if not step then break end
    queue[queue.first] = nil
    queue.first = queue.first + 1
    if step.is_last then fibers.shield(self.draining) end
    if step.is_last or is_live(self) then steps.call(self, step.fn, self, step.value) end
  end
end

local function add(self, fn, value, is_last)
  local queue = self.queue
  if not queue then
    queue = { first = 1, last = 0 }
    self.queue = queue
  end
  queue.last = queue.last + 1
  queue[queue.last] = { fn = fn, value = value, is_last = is_last }
end

-- A step with more than one value as one with none.
local function bind(step, ...)
  local values = table.pack(...)
  return function(self) return step(self, table.unpack(values, 1, values.n)) end
end

-- The calling fiber, which is the one that calls the task's handlers (`draining`), does so no more.
local function finish(self)
  if self.queue then drain(self) end
  fibers.exit(self.draining)
  self.draining = false
end

-- Does a step of the task with a value, here and now where none is under way; the calling fiber must be one that the
-- script does not know, as those are that handle events.
local function perform(self, step, value)
  if self.draining then return add(self, step, value) end
  if not is_live(self) then return end
  self.draining = enter(self.scope)
  local ok, raised = xpcall(step, capture, self, value)
  if not ok then steps.handler_failed(self, raised) end
  finish(self)
end
steps.perform = perform

-- The same with several values.
function steps.perform_with(self, step, ...) perform(self, bind(step, ...)) end

local function begin(self)
  self.draining = enter(self.scope)
  finish(self)
end

-- Another fiber goes on with what stands in the queue.
local function go_on(self)
  self.draining = true
  fibers.run(begin, self)
end

-- Does a step in the loop's next turn, behind the fibers that have been woken before.
function steps.perform_later(self, step, ...)
  add(self, bind(step, ...))
  if not self.draining then go_on(self) end
end

-- The same as steps.perform with the step that ends the task, which does not raise.
function steps.perform_last(self, step)
  if self.draining then return add(self, step, nil, true) end
  self.draining = enter(self.scope)
  step(self)
  finish(self)
end

-- A handler under way is to raise the reason where it waits; if it then waits on and on, the task goes on without it.
function steps.interrupt_handler(self, reason)
  local fiber = self.draining
  if fiber and fiber ~= true then fibers.interrupt(fiber, reason, go_on, self) end
end

-- The task has been cancelled or its time is over: a handler that waits for something is not waited for, unless it
-- asked for the end itself.
function steps.interrupt(self)
  if not self.draining or self.is_ended_by_handler then return end
  self.interruption = errors.cancelled("the handler's task has ended")
  steps.interrupt_handler(self, self.interruption)
end

-- Steps -------------------------------------------------------------------------------------------------------------

local function is_same(a, b)
  return a.method == b.method and a.url == b.url and a.body == b.body and tostring(a.headers) == tostring(b.headers)
end

function steps.parts_of(kind, extra)
  if kind == "parts" then return table.unpack(extra) end
end

function steps.redirect(self, head, proposed)
  local before = proposed:copy()
  local answer = call_delegate(self, "will_perform_redirection", head, proposed)
  if self.completing then return end
  if answer == false then return core.answer_redirect(self.number, false) end
  if answer == nil then answer = before end
  if type(answer) == "string" then answer = request.new(answer) end
  if not request.is(answer) then
    error("will_perform_redirection must return a request, false or nothing, not " .. type(answer), 0)
  end
  local fine, fields = request.check(answer)
  self.current_request = answer
  if not fine then
    self.failure = fields
    return core.cancel(self.number)
  end
  if is_same(answer, before) then return core.answer_redirect(self.number, true) end
  local kind, value, extra = request.flatten_body(answer.body, "a request's 'body'")
  if type(extra) == "function" then self.reader = extra end
  core.answer_redirect(self.number, true, answer.method, answer.url, fields, kind, value, steps.parts_of(kind, extra))
end

function steps.response(self, head)
  local handler, disposition = delegate_handler(self, "did_receive_response"), nil
  if handler then disposition = handler(self.session, self, head) end
  if self.completing then return end
  if disposition == nil or disposition == "allow" then return allow(self.number) end
  if disposition == "cancel" then return core.answer_response(self.number, false) end
  if disposition == "become_download" or disposition == "become_stream" then
    return require("http.become")[disposition](self, head)
  end
  error(('did_receive_response must return "allow", "cancel", "become_download" or "become_stream", not %s'):format(
    tostring(disposition)), 0)
end

function steps.cache(self, data, stored_at, info, ...)
  local cached_response = require "http.cached_response"
  local cached = cached_response.make(data, stored_at, info, ...)
  local answer = call_delegate(self, "will_cache_response", cached)
  if self.completing then return end
  if answer == false then return core.answer_cache(self.number, false) end
  if answer == nil then return core.answer_cache(self.number, true) end
  cached_response.check(answer, "what will_cache_response returns")
  local status, reason, fields, changed, user_info, storage = cached_response.flatten(answer)
  if not status then error(reason, 0) end
  if changed == data then changed = nil end
  core.answer_cache(self.number, true, status, reason, fields, changed, user_info, storage)
end

function steps.informational(self, head)
  call_delegate(self, "did_receive_informational_response", head)
end

function steps.waiting_for_connectivity(self)
  call_delegate(self, "task_is_waiting_for_connectivity")
end

-- An open file as a function that takes the pieces of a body.
function steps.writer(file)
  return function(data) assert(file:write(data)) end
end

function steps.data(self, data)
  if self.sink then
    self.sink(data)
  else
    local handler = delegate_handler(self, "did_receive_data")
    if handler then handler(self.session, self, data) end
  end
  if not self.completing then consumed(self.number) end
end

function steps.sent(self, step)
  if self.sent_step == step then self.sent_step = false end
  call_delegate(self, "did_send_body_data", step.sent, step.total, step.expected)
end

function steps.progress(self)
  local received, expected = self.progress_received, self.progress_expected
  self.progress_received = false
  if received and self.progress then self.progress(received, expected) end
end

-- Progress of a download task.
function steps.written(self)
  local total, expected = self.progress_received, self.progress_expected
  self.progress_received = false
  if not total or total == self.written then return end
  -- It has begun again.
  if total < self.written then self.written = 0 end
  local written = total - self.written
  self.written = total
  call_delegate(self, "did_write_data", written, total, expected)
end

function steps.resumed(self, offset, expected)
  call_delegate(self, "did_resume_at_offset", offset, expected)
end

-- A download's file goes, unless it has been moved; that file, whatever a script may have made of `location`.
function steps.drop_location(self)
  core.remove_download(self._file)
  self._file = false
  rawset(self, "location", false)
  if self.response then self.response.location = nil end
end

function steps.finished_downloading(self)
  self.location_is_taken = true
  call_delegate(self, "did_finish_downloading", self.location)
  steps.drop_location(self)
end

-- The readers of requests' bodies that have been read from: for a second task they would be at their end.
local begun_readers = setmetatable({}, { __mode = "k" })

-- What keeps a task from using this reader of its request's body, or nil.
function steps.reader_problem(self, reader)
  if not begun_readers[reader] then return nil end
  return errors.new {
    domain = "url", code = "request_body_stream_exhausted", url = request.shown_url(self.original_request.url),
    message = "the body's reader function has been read from by another task",
  }
end

-- Begins to read the request's own body; answers whether that is possible.
local function begin_reader(self, reader)
  self.own_reader = false
  local problem = steps.reader_problem(self, reader)
  begun_readers[reader] = true
  if not problem then return true end
  self.failure = problem
  core.cancel(self.number)
  return false
end

function steps.body_chunk(self, size)
  local reader = self.reader
  if reader == self.own_reader and not begin_reader(self, reader) then return end
  local chunk = reader(size)
  if self.completing then return end
  if chunk ~= nil and type(chunk) ~= "string" then
    error("the body's reader function must return a string or nil, not " .. type(chunk), 0)
  end
  core.body_chunk(self.number, chunk)
end

function steps.new_body(self)
  local body = call_delegate(self, "need_new_body_stream")
  if self.completing then return end
  if body == nil then return core.new_body(self.number) end
  self.stream_body = body
  local kind, value, extra = request.flatten_body(body, "what need_new_body_stream returns")
  if type(extra) == "function" then self.reader = extra end
  core.new_body(self.number, kind, value, steps.parts_of(kind, extra))
end

return steps
