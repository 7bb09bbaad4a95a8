-- What the core tells about tasks, as steps of the task it is about. An event is handled in a fiber that may wait.

local core = require "httpscript.core"
local active = require "http.active"
local events = require "http.events"
local request = require "http.request"
local response = require "http.response"
local steps = require "http.steps"

local task_events = {}

function task_events.install(task)
  events[events.COMPLETED] = task.on_completed
end

local perform, perform_with, find, make_response = steps.perform, steps.perform_with, active.find, response.make
local rawset = rawset

local function make_head(status, reason, version, url, block, expected, cached)
  return make_response(status, reason, version, url, block, expected, nil, nil, nil, cached)
end

local function on_task(step)
  return function(number, ...)
    local self = find(number)
    if self then perform_with(self, step, ...) end
  end
end

events[events.REDIRECT] = function(number, method, target, flat, has_body, status, reason, version, url, block,
    expected, cached)
  local self = find(number)
  if not self then return end
  local proposed = request.redirected(self.next_request or self.current_request, method, target, flat, has_body)
  self.next_request = false
  if steps.has_handler(self, "will_perform_redirection") then
    perform_with(self, steps.redirect, make_head(status, reason, version, url, block, expected, cached), proposed)
  else
    self.current_request = proposed
    core.answer_redirect(number, true)
  end
end

events[events.INFORMATIONAL] = function(number, ...)
  local self = find(number)
  if self then perform(self, steps.informational, make_head(...)) end
end

events[events.RESPONSE] = function(number, status, reason, version, url, block, expected, cached)
  local self = find(number)
  if not self then return end
  local head = make_response(status, reason, version, url, block, expected, nil, nil, nil, cached)
  rawset(self, "response", head)
  self.count_of_bytes_expected_to_receive = expected
  -- Download tasks are not asked (Apple's rule).
  if not self.completion and self.kind ~= "download" then
    perform(self, steps.response, head)
  else
    core.allow(number)
  end
end

events[events.DATA] = function(number, data, received, expected)
  local self = find(number)
  if not self then return end
  self.count_of_bytes_received, self.count_of_bytes_expected_to_receive = received, expected
  perform(self, steps.data, data)
end

-- Progress that its handler has not seen yet is merged, so that a slow one is not flooded.
events[events.SENT] = function(number, sent, total, expected)
  local self = find(number)
  if not self then return end
  -- `total` begins again with each sending of the body.
  rawset(self, "count_of_bytes_sent", self.count_of_bytes_sent + sent)
  rawset(self, "count_of_bytes_expected_to_send", expected)
  self.has_sent = true
  local pending = self.sent_step
  if pending and total > pending.total then
    pending.sent, pending.total = pending.sent + sent, total
  elseif steps.has_handler(self, "did_send_body_data") then
    -- The first of a body, which may be sent a second time.
    pending = { sent = sent, total = total, expected = expected }
    self.sent_step = pending
    perform(self, steps.sent, pending)
  end
end

events[events.PROGRESS] = function(number, received, expected)
  local self = find(number)
  if not self then return end
  self.count_of_bytes_received, self.count_of_bytes_expected_to_receive = received, expected
  local pending = self.progress_received
  self.progress_received, self.progress_expected = received, expected
  if pending then return end
  if self.kind == "download" then
    if steps.has_handler(self, "did_write_data") then perform(self, steps.written) end
  elseif self.progress then
    perform(self, steps.progress)
  end
end

events[events.RESUMED] = function(number, offset, expected)
  local self = find(number)
  if not self then return end
  self.written = offset
  self.count_of_bytes_received, self.count_of_bytes_expected_to_receive = offset, expected
  if steps.has_handler(self, "did_resume_at_offset") then
    perform_with(self, steps.resumed, offset, expected)
  end
end

events[events.RESUME_DATA] = function(number, blob, file, kept)
  local self = find(number)
  if self then self.part = require("http.resume_data").part(blob, file, kept) end
end

events[events.FINISHED_DOWNLOADING] = function(number, location)
  local self = find(number)
  if not self then return end
  self._file = location
  rawset(self, "location", location)
  if self.response then self.response.location = location end
  if not self.completion and steps.has_handler(self, "did_finish_downloading") then
    perform(self, steps.finished_downloading)
  end
end

-- Loaded with the first challenge: most scripts never see one.
events[events.CHALLENGE] = function(number, fields, ...)
  local self = find(number)
  if self then perform_with(self, require("http.challenge").step, fields, ...) end
end

events[events.WILL_CACHE] = on_task(steps.cache)
events[events.WAITING_FOR_CONNECTIVITY] = on_task(steps.waiting_for_connectivity)
events[events.BODY_CHUNK] = on_task(steps.body_chunk)
events[events.BODY_STREAM] = on_task(steps.new_body)

return task_events
