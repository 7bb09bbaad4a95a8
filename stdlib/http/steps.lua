-- The steps of a task that call the script's functions.
--
-- Handlers of one task run one at a time, in order, in a fiber of their own, so that each may wait. Where the core
-- waits for a handler's word (redirect, response, data, body), the answer is sent when the handler has returned. A
-- handler that raises cancels the task with `handler_error`.

local core = require "httpscript.core"
local errors = require "http.errors"
local fibers = require "http.fibers"
local request = require "http.request"

local steps = {}

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
    url = self.current_request and request.shown_url(self.current_request.url),
  }
  if self.number and not self.completing then core.cancel(self.number) end
end

-- Calls a function of the script. Answers false when it raised (the task is then being cancelled), else true and its
-- results.
function steps.call(self, fn, ...)
  local ok, a, b = xpcall(fn, traceback, ...)
  if ok then return true, a, b end
  handler_failed(self, a)
  return false
end

local call = steps.call

function steps.delegate_handler(self, name)
  local delegate = self.session.delegate
  local handler = delegate and delegate[name]
  if handler ~= nil and type(handler) ~= "function" and not (getmetatable(handler) or {}).__call then
    handler_failed(self, { value = ("the delegate's '%s' is not a function"):format(name), trace = "" })
    return nil
  end
  return handler
end

local delegate_handler = steps.delegate_handler

-- Calls the delegate's handler; true and nothing when there is none.
function steps.call_delegate(self, name, ...)
  local handler = delegate_handler(self, name)
  if handler then return call(self, handler, self.session, self, ...) end
  return true
end

local call_delegate = steps.call_delegate

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
function steps.enqueue(self, step, ...)
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

function steps.redirect(self, head, proposed)
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
  local fine, fields = request.check(answer, self.session)
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

function steps.response(self, head)
  local ok, disposition = call_delegate(self, "did_receive_response", head)
  if not ok or self.completing then return end
  if disposition == nil or disposition == "allow" then return core.answer_response(self.number, true) end
  if disposition == "cancel" then return core.answer_response(self.number, false) end
  handler_failed(self, {
    value = ("did_receive_response must return \"allow\" or \"cancel\", not %s"):format(tostring(disposition)),
    trace = "",
  })
end

function steps.informational(self, head)
  call_delegate(self, "did_receive_informational_response", head)
end

function steps.data(self, data)
  local ok
  if self.sink then
    ok = call(self, self.sink, data)
  else
    ok = call_delegate(self, "did_receive_data", data)
  end
  if ok and not self.completing then core.consumed(self.number) end
end

function steps.sent(self)
  local sent, total, expected = self.sent_step, self.sent_total, self.sent_expected
  self.sent_step = false
  if sent then call_delegate(self, "did_send_body_data", sent, total, expected) end
end

function steps.progress(self)
  local received, expected = self.progress_received, self.progress_expected
  self.progress_received = false
  if received and self.progress then call(self, self.progress, received, expected) end
end

function steps.body_chunk(self, size)
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

function steps.new_body(self)
  local ok, body = call_delegate(self, "need_new_body_stream")
  if not ok or self.completing then return end
  if body == nil then return core.new_body(self.number) end
  local kind, value, reader = request.flatten_body(body, "what need_new_body_stream returns")
  self.reader = reader
  core.new_body(self.number, kind, value)
end

return steps
