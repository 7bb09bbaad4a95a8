-- The classes of tasks: what a task's fields are before and after it is completed.

local core = require "httpscript.core"
local options = require "http.options"

local classes = {}

-- Fields that a task does not have yet are found here, so that looking at one costs no function call.
local methods = {
  kind = "data", state = "suspended", suspensions = 1, settings = {},
  begun = false, done = false, completing = false, draining = false, is_call = false,
  number = false, queue = false, failure = false, completion = false, scope = false, sink = false, sink_path = false,
  _starter = false, _channel = false, became = false, location = false, _file = false, location_is_taken = false,
  written = 0, part = false, reader = false, own_reader = false,
  load = false, load_error = false, next_request = false, interruption = false,
  stream_body = false, is_recorded = false, is_set_down = false,
  is_ended_by_handler = false, is_closing = false,
  progress = false, progress_received = false, sent_step = false, has_sent = false, waiter = false, waiters = false,
  count_of_bytes_received = 0, count_of_bytes_sent = 0,
  count_of_bytes_expected_to_receive = -1, count_of_bytes_expected_to_send = -1,
  priority = 0.5, _metrics = false, _request = false,
}

local Task = { __name = "http.task", __index = methods }

-- A task whose priority or description has been set: what it is set to is looked at each time.
local RankedTask = { __name = "http.task" }

-- A completed task's metrics and counts are unpacked when a script first looks at them; only then is there a function
-- to call.
local CompletedTask = { __name = "http.task" }

local UNPACKED = {
  metrics = true, count_of_bytes_received = true, count_of_bytes_sent = true,
  count_of_bytes_expected_to_receive = true, count_of_bytes_expected_to_send = true,
}

-- What does not simply stand among `methods` for a completed task.
local WORKED_OUT = { priority = true, description = true }
for name in pairs(UNPACKED) do WORKED_OUT[name] = true end

local function set_priority(self, value)
  options.expect(value, "number", "a task's 'priority'")
  if not (value >= 0 and value <= 1) then options.misuse("a task's 'priority' must be from 0 to 1") end
  rawset(self, "_priority", value)
  if getmetatable(self) == Task then setmetatable(self, RankedTask) end
  if self.number then core.set_priority(self.number, value) end
end

local function set_description(self, value)
  if value ~= nil then options.expect(value, "string", "a task's 'description'") end
  rawset(self, "_description", value)
  if getmetatable(self) == Task then setmetatable(self, RankedTask) end
end

-- What a script may set; what it can only look at; and what a task comes to have that is not among `methods`.
local WRITABLE = { priority = true, description = true, user_info = true }
local READ_ONLY = {
  identifier = true, kind = true, state = true, session = true, original_request = true, current_request = true,
  response = true, error = true, location = true, became = true, metrics = true, count_of_bytes_received = true,
  count_of_bytes_sent = true, count_of_bytes_expected_to_receive = true, count_of_bytes_expected_to_send = true,
}
local LATER = { user_info = true, progress_expected = true }

-- Names like none of ours are the script's own.
local function check_name(name)
  if methods[name] ~= nil then options.misuse("a task's '%s' cannot be set", name) end
  local near = type(name) == "string" and options.nearest(name, WRITABLE)
  if near then options.misuse("a task has no field '%s' (did you mean '%s'?)", name, near) end
end

-- Only for a field that is not there yet, and not for what the task's own code sets by rawset: to look at every
-- assignment would cost each task as much as its making.
function Task.__newindex(self, name, value)
  if name == "priority" then return set_priority(self, value) end
  if name == "description" then return set_description(self, value) end
  if READ_ONLY[name] then options.misuse("a task's '%s' cannot be set", name) end
  local default = methods[name]
  if default == nil and not LATER[name] or type(default) == "function" then check_name(name) end
  rawset(self, name, value)
end

RankedTask.__newindex, CompletedTask.__newindex = Task.__newindex, Task.__newindex

function RankedTask.__index(self, name)
  if name == "priority" then return rawget(self, "_priority") or methods.priority end
  if name == "description" then return rawget(self, "_description") end
  return methods[name]
end

function CompletedTask.__index(self, name)
  if not WORKED_OUT[name] then return methods[name] end
  if name == "priority" then return rawget(self, "_priority") or methods.priority end
  if name == "description" then return rawget(self, "_description") end
  if not self._metrics then return methods[name] end
  local unpacked = rawget(self, "_unpacked")
  if not unpacked then
    local metrics = require "http.metrics"
    unpacked = { metrics = metrics.unpack(self._metrics) }
    unpacked.count_of_bytes_sent, unpacked.count_of_bytes_received, unpacked.count_of_bytes_expected_to_send,
      unpacked.count_of_bytes_expected_to_receive = metrics.counts(self._metrics)
    rawset(self, "_unpacked", unpacked)
  end
  return unpacked[name]
end

function Task:__tostring()
  return ("http.task: %s %d (%s)"):format(self.kind, self.identifier, self.state)
end

RankedTask.__tostring, CompletedTask.__tostring = Task.__tostring, Task.__tostring

-- Each class of tasks has another one for when they are completed.
local completed_class = { [Task] = CompletedTask, [RankedTask] = CompletedTask, [CompletedTask] = CompletedTask }

-- Has a class tell of each change of a task's `priority` and `description`, which stand under other names then.
local function observe_fields(class, own, observe)
  function class.__index(self, name)
    if name == "description" then return rawget(self, "_description") end
    if name == "priority" then return rawget(self, "_priority") or methods.priority end
    return own[name]
  end

  function class.__newindex(self, name, value)
    if name == "description" then
      set_description(self, value)
    elseif name == "priority" then
      set_priority(self, value)
    else
      return rawset(self, name, value)
    end
    observe(self)
  end
end

-- The class of tasks that have these methods beside those of all tasks. `observe`, where there is one, is told of the
-- task whose `priority` or `description` has been set.
function classes.subclass(own, observe)
  setmetatable(own, { __index = methods })
  local class = { __name = "http.task", __index = own, __tostring = Task.__tostring }
  local completed = { __name = "http.task", __tostring = Task.__tostring }
  if observe then observe_fields(class, own, observe) end
  function completed.__index(self, name)
    if observe and name == "description" then return rawget(self, "_description") end
    if observe and name == "priority" then return CompletedTask.__index(self, name) end
    local value = own[name]
    if value ~= nil and not UNPACKED[name] then return value end
    return CompletedTask.__index(self, name)
  end
  completed_class[class], completed_class[completed] = completed, completed
  return class
end

function classes.is(value) return completed_class[getmetatable(value)] ~= nil end

classes.methods, classes.Task, classes.CompletedTask, classes.completed = methods, Task, CompletedTask, completed_class

return classes
