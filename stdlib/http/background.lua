-- Background sessions: their download and upload tasks go on across the runs of a script.
--
-- Each such task has a record in the locked directory of its session (httpscript.background): written when the task
-- is made, changed, started or suspended and when it has ended, removed when its handlers have been told. A process
-- that makes a session of the same identifier later gets the tasks that are left: it goes on with what had not ended,
-- and tells of what had.

local core = require "httpscript.core"
local native = require "httpscript.background"
local active = require "http.active"
local errors = require "http.errors"
local events = require "http.events"
local fibers = require "http.fibers"
local options = require "http.options"
local packing = require "http.packing"
local response = require "http.response"
local resume_data = require "http.resume_data"
local steps = require "http.steps"
local task = require "http.task"

local misuse = options.misuse

local background = {}

-- The sessions that are open in this process, by identifier and container.
local open = {}

-- Records -----------------------------------------------------------------------------------------------------------

local function pack_head(head)
  return packing.list {
    tostring(head.status), head.reason, head.http_version, head.url, rawget(head, "_block") or "",
    tostring(head.expected_content_length), head.body or "",
  }
end

local function unpack_head(packed)
  local values = packing.unlist(packed)
  if not values or #values ~= 7 then return nil end
  local body = values[7] ~= "" and values[7] or nil
  return response.make(math.tointeger(tonumber(values[1])) or 0, values[2], values[3], values[4], values[5],
    math.tointeger(tonumber(values[6])) or -1, body)
end

-- Of what an error says, what means the same in another process.
local function pack_error(err)
  return packing.record { domain = err.domain, code = err.code, message = tostring(err.message), url = err.url }
end

local function directory_of(self) return self.session._keeper.directory end

-- What the record says beside the request.
local function fields_of(self)
  local fields = {
    kind = self.kind, state = self.done_for and "ended" or self.state == "suspended" and "suspended" or "running",
    request = packing.request(self.original_request), priority = ("%.17g"):format(self.priority),
    resume_data = self.initial_data,
  }
  if type(self.description) == "string" then fields.description = self.description end
  if not self.done_for then return fields end
  if self.response then fields.head = pack_head(self.response) end
  if self.error then
    fields.error = pack_error(self.error)
    fields.resume_data = nil
    if self.part then fields.resume_data, fields.part = self.part.blob, self.part.file end
  elseif self.location then
    local _, length = directory_of(self):file(self.identifier)
    fields.length = length and tostring(length)
  end
  return fields
end

-- A task whose record cannot be written runs all the same.
local function keep(self)
  local ok, problem = directory_of(self):write(self.identifier, packing.record(fields_of(self)))
  if not ok then
    core.warn(("warning: background session: task %d will not outlive the process: %s"):format(
      self.identifier, problem.message))
  end
end

-- Tasks -------------------------------------------------------------------------------------------------------------

-- A field has been set that the record has too. What has ended is recorded as it was then.
local function note_field(self)
  if self.is_recorded and not self.done_for and not self.completing then keep(self) end
end

local own = {}
local Class = task.subclass(own, note_field)

function own:_starter()
  if self.kind == "download" then
    local directory = directory_of(self)
    self.settings = {
      resume_data = directory:checkpoint(self.identifier) or self.initial_data,
      background_stem = directory:stem(self.identifier),
    }
  end
  return task.start_transfer(self)
end

local function changing(name)
  return function(self, ...)
    local before = self.state
    task.methods[name](self, ...)
    if self.state ~= before and not self.completing then keep(self) end
  end
end

own.resume, own.suspend = changing "resume", changing "suspend"

function own:cancel()
  self.is_given_up = true
  return task.methods.cancel(self)
end

function own:_cancel_keeping()
  self.is_given_up = true
  return task.methods._cancel_keeping(self)
end

-- The task is only set down: it goes on in the next run.
function own:_end_with_script()
  if self.state == "completed" or self.state == "canceling" then return end
  self.state = "canceling"
  if self.number then core.cancel(self.number) end
end

function own:_copy()
  return background.task(self.session, self.kind, self.original_request:copy(), nil, self.initial_data)
end

-- Raises for what background sessions do not do.
function background.check_completion(completion)
  if completion ~= nil then
    misuse("completion functions are not supported in background sessions: use a delegate, or wait for the task")
  end
end

-- Makes a task that outlives the process.
function background.task(session, kind, req, completion, initial_data)
  background.check_completion(completion)
  if kind == "upload" then
    local body = req.body
    if type(body) ~= "table" or type(body.file) ~= "string" then
      misuse("background sessions upload from files only: argument #2 of upload_task must be { file = path }")
    end
    req.body = { file = native.absolute(options.path(body.file, "the body's 'file'")) }
  elseif req.body ~= nil and not packing.request(req) then
    misuse("background sessions send bodies that are strings or files only")
  end
  local one = session:_task(kind, req, nil, nil, Class)
  one.initial_data = initial_data
  one.is_recorded = true
  keep(one)
  return one
end

-- The task is at its end, and nobody has been told yet.
function background.ended(self)
  if self.done_for then return end
  local err = self.error
  if err and err.code == "cancelled" and not self.is_given_up and active.stopping then
    self.is_set_down = true
    self.error = errors.cancelled("the script is being ended: the task goes on when its session is opened again")
    return
  end
  self.done_for = true
  if self.part then
    self.part = resume_data.moved_part(self.part)
    err._part = self.part
  end
  keep(self)
end

-- The task's handlers have been told of its end.
function background.delivered(self)
  if self.is_set_down then return end
  directory_of(self):remove(self.identifier, self.location ~= false)
  self.session._keeper.has_news = true
end

-- The next run ------------------------------------------------------------------------------------------------------

local function unpack_error(packed, stored)
  local err = errors.new(packing.unrecord(packed) or {})
  err.domain, err.code, err.message = err.domain or "url", err.code or "unknown", err.message or "unknown"
  if stored.part and stored.resume_data then
    err._part = resume_data.own_part(stored.resume_data, stored.part)
  end
  return err
end

-- Tells of a task that ended in an earlier process.
local function tell_end(restored)
  local self, stored = restored.task, restored.stored
  local head = stored.head and unpack_head(stored.head)
  local err = stored.error and unpack_error(stored.error, stored)
  self.response = head
  if head then self.count_of_bytes_expected_to_receive = head.expected_content_length end
  local path, length = directory_of(self):file(self.identifier)
  if not err and self.kind == "download" and length then
    self.location, self._file = path, path
    if head then head.location = path end
    if steps.has_handler(self, "did_finish_downloading") then steps.perform(self, steps.finished_downloading) end
  end
  self.part = err and err._part or false
  task.finish(self, err, head)
end

local function go_on(self) task.methods.resume(self) end

-- Whether the file that an earlier process had finished is not what it was any more. (It is then fetched on; one that
-- is gone was taken.)
local function is_unfinished(directory, number, stored)
  if stored.kind ~= "download" or stored.error then return false end
  local _, length = directory:file(number)
  return length ~= nil and tostring(length) ~= stored.length
end

local function restore_task(session, number, stored, req)
  local one = task.new(session, stored.kind, number, req, nil, Class)
  one._description, one.initial_data, one.is_recorded = stored.description, stored.resume_data, true
  local priority = tonumber(stored.priority)
  if priority and priority ~= one.priority then one._priority = priority end
  session._open_tasks = session._open_tasks + 1
  session._waiting[one] = true
  if stored.state == "suspended" then return end
  one.state = "running"
  if stored.state == "ended" and not is_unfinished(session._keeper.directory, number, stored) then
    one.begun, one.done_for = true, true
    fibers.run(tell_end, { task = one, stored = stored })
  else
    -- At the loop's next turn: the script may still be about to put handlers into the delegate.
    fibers.run(go_on, one)
  end
end

local function restore(session)
  local directory = session._keeper.directory
  local flat = directory:records()
  session._last_task = directory:highest()
  for index = 1, #flat, 2 do
    local number, stored = flat[index], packing.unrecord(flat[index + 1])
    local req = stored and stored.request and packing.unrequest(stored.request)
    if req and (stored.kind == "download" or stored.kind == "upload") then
      restore_task(session, number, stored, req)
    else
      directory:set_aside(number)
    end
  end
end

-- Sessions ----------------------------------------------------------------------------------------------------------

-- At the script's end the directories go that nobody needs any more.
local report = events[events.FINISH]
events[events.FINISH] = function(...)
  report(...)
  for _, session in pairs(open) do session._keeper.directory:close() end
end

-- Makes a session a background session, and gives it the tasks of earlier runs -> the session | nil, err.
function background.open(session, given)
  local identifier, container = given.identifier, given.shared_container
  local key = identifier .. "\0" .. (container or "")
  if open[key] then misuse("there is a background session %q already in this process", identifier) end
  local directory, problem = native.open(identifier, container)
  if not directory then return nil, errors.new(problem) end
  session._keeper = {
    directory = directory, key = key, has_news = false, sends_events = given.session_sends_launch_events,
  }
  open[key] = session
  restore(session)
  return session
end

-- A task is over. When all there was to tell has been told, and nothing is under way, so is that.
function background.drained(session)
  local keeper = session._keeper
  if not keeper.has_news then return end
  for one in pairs(session._waiting) do
    if one.state ~= "suspended" then return end
  end
  keeper.has_news = false
  local delegate = session._delegate
  local handler = keeper.sends_events and delegate and delegate.did_finish_events_for_background_session
  if not handler then return end
  fibers.run(function()
    local ok, problem = xpcall(handler, debug.traceback, session)
    if not ok then core.uncaught(tostring(problem)) end
  end)
end

-- The session is invalid: another one may have the identifier.
function background.close(session)
  open[session._keeper.key] = nil
  session._keeper.directory:close()
end

return background
