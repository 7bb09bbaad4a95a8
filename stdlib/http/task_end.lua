-- The end of tasks: who is told, in which order, and what a completed task is to who looks at it.

local active = require "http.active"
local errors = require "http.errors"
local fibers = require "http.fibers"
local request = require "http.request"
local response = require "http.response"
local scopes = require "http.scopes"
local steps = require "http.steps"
local classes = require "http.task_classes"

local completed_class = classes.completed
local leave, metatable_of = scopes.leave, debug.getmetatable
local perform_last, delegate_handler = steps.perform_last, steps.delegate_handler
local type, rawget, rawset, setmetatable = type, rawget, rawset, setmetatable

local task_end = {}

local function tell_metrics(self)
  if self._metrics and delegate_handler(self, "did_finish_collecting_metrics") then
    steps.call_delegate(self, "did_finish_collecting_metrics", self.metrics)
  end
end

-- Whether an object, looked at without running any of its code, has nothing of the name.
local function lacks(object, name)
  return type(object) == "table" and metatable_of(object) == nil and object[name] == nil
end

-- Answers whether there was somebody to tell.
local function tell_completion(self, delegate, tell, location)
  if tell then
    tell(location or self.response and self.response.body, self.response, self.error)
    return true
  end
  local handler = delegate and delegate_handler(self, "did_complete")
  if not handler then return false end
  handler(self.session, self, rawget(self, "error"))
  return true
end

-- From now on it is a completed task to who looks at it; which costs a function call for what it has not, so that the
-- other fields are read before.
local function become_completed(self) setmetatable(self, completed_class[metatable_of(self)]) end

local function step_complete(self)
  local failure, told = self.failure, false
  if failure then rawset(self, "error", failure) end
  local tell, location, session = self.completion, self.location, self.session
  local delegate, is_call, is_recorded = session._delegate, self.is_call, self.is_recorded
  if (delegate or tell) and not self.is_set_down then
    become_completed(self)
    if not lacks(delegate, "did_finish_collecting_metrics") and not steps.call(self, tell_metrics, self) then
      failure = self.failure
      rawset(self, "error", failure or rawget(self, "error"))
    end
    local ok, result = steps.call(self, tell_completion, self, not is_call and delegate, tell, location)
    told = result
    if location and (tell or self.location_is_taken) then steps.drop_location(self) end
    if not ok and self.failure ~= failure then
      rawset(self, "error", self.failure)
      told = false
    end
  elseif not is_call then
    become_completed(self)
  end
  if is_recorded then require("http.background").delivered(self) end
  session:_forget(self)
  local err = rawget(self, "error")
  if err then
    err.response = err.response or self.response
    if err.domain == "script" and not told and not fibers.is_awaited(self) and not active.stopping then
      fibers.note_unobserved(self)
    end
  end
  if active.observed then require("http.notifications").post("task_did_finish", self) end
  fibers.complete(self)
end

local function note_error(self, err, head)
  if self.failure and err.code == "cancelled" then err = self.failure end
  if self.load_error and err.code == "handler_error" then err = self.load_error end
  if not errors.is(err) then err = errors.new(err) end
  err.task = err.task or self
  err.response = err.response or head
  if self.part then err._part = self.part end
  err.url = err.url or self.original_request and request.shown_url(tostring(self.original_request.url))
  rawset(self, "error", err)
  if err.code == "cancelled" or err.code == "timed_out" then steps.interrupt(self) end
end

-- Completes a task that is none of the active ones any more.
function task_end.finish(self, err, head)
  self.completing, self.number, self.state = true, false, "completed"
  if err then note_error(self, err, head) end
  -- (One that the task has been told of is there already.)
  if head and head ~= self.response then
    rawset(self, "response", head)
    if self.location then head.location = self.location end
  end
  if self.is_recorded then require("http.background").ended(self) end
  if self._channel then self._channel:finish(self.error) end
  local is_busy = self.draining
  if is_busy then become_completed(self) end
  if is_busy or self.completion or self.session._delegate then
    perform_last(self, step_complete)
  else
    step_complete(self)
  end
end

-- The core's word that a task is over.
function task_end.on_completed(number, err, body, metrics, redirects, status, reason, version, url, block, expected,
    cached)
  local self = active.take(number)
  if not self then return end
  local scope, fiber = self.scope, self.draining
  if scope then leave(scope, self) end
  if fiber then fibers.stay(fiber) end
  if self.load then require("http.loads").stop(self) end
  self._metrics = metrics
  -- They are among the metrics.
  self.count_of_bytes_received, self.count_of_bytes_expected_to_receive = nil, nil
  if self.has_sent then self.count_of_bytes_sent, self.count_of_bytes_expected_to_send = nil, nil end
  local head
  if status == true then
    -- The one that the task has been told of.
    head = self.response
    if head then
      head._metrics = metrics
      if body then head.body = body end
      if redirects then head._redirects = redirects end
    end
  elseif status then
    head = response.make(status, reason, version, url, block, expected, body, metrics, redirects, cached)
  end
  task_end.finish(self, err, head)
end

return task_end
