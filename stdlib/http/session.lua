-- Sessions: their tasks, from the first to the last, and their end.

local core = require "httpscript.core"
local native = require "httpscript.fiber"
local active = require "http.active"
local events = require "http.events"
local fibers = require "http.fibers"
local lazy = require "http.lazy"
local options = require "http.options"

local configuration, request, task = lazy "http.configuration", lazy "http.request", lazy "http.task"
local errors, steps = lazy "http.errors", lazy "http.steps"

local misuse = options.misuse

local session = {}

-- Sessions ----------------------------------------------------------------------------------------------------------

local Session = { __name = "http.session" }
local methods = {}
session.methods, session.class = methods, Session

-- `session.configuration` is a copy each time, as Apple's is.
function Session.__index(self, name)
  local method = methods[name]
  if method then return method end
  if name == "configuration" then return configuration.copy(rawget(self, "_configuration") or nil) end
  if name == "description" then return rawget(self, "_description") end
  if name == "delegate" then return rawget(self, "_delegate") or nil end
end

-- What a script may set, and the types.
local WRITABLE = { description = "string", delegate = "table|userdata" }

-- Only for a field that is not there yet.
function Session.__newindex(self, name, value)
  if name == "configuration" then misuse("a session's configuration cannot be changed") end
  local types = WRITABLE[name]
  if types then
    if value ~= nil then options.expect(value, types, "a session's '" .. name .. "'") end
    if name == "delegate" then
      if value then require("http.delegate").check(value) end
      value = value or false
    end
    return rawset(self, "_" .. name, value)
  end
  if methods[name] then misuse("a session's '%s' cannot be set", name) end
  -- Names like none of ours are the script's own.
  local near = type(name) == "string" and name:sub(1, 1) ~= "_" and options.nearest(name, WRITABLE)
  if near then misuse("a session has no field '%s' (did you mean '%s'?)", name, near) end
  rawset(self, name, value)
end

function Session:__tostring()
  return "http.session" .. (self.description and (": " .. self.description) or "")
end

-- By number, the sessions whose end has been asked for: they are kept until it is told.
local ending, last_session = {}, 0

-- A session that nobody holds and that has no task is closed by the collector.
function Session:__gc()
  local number = rawget(self, "_number")
  if number and not self._invalid then core.invalidate(number, true) end
end

local metatable_of = debug.getmetatable

local function check_receiver(value, name)
  if metatable_of(value) ~= Session then options.receiver(value, Session, "session:" .. name) end
end

-- http.session([configuration [, delegate]]) -> session | nil, err (background sessions only). A table of fields is a
-- default configuration with these.
function session.new(given, delegate)
  if delegate ~= nil then
    options.expect(delegate, "table|userdata", "argument #2 of http.session (the delegate)")
    require("http.delegate").check(delegate)
  end
  local copy = given ~= nil and configuration.copy(given)
  -- What each call uses stands in the table itself, where looking it up costs no function call.
  local made = setmetatable({
    _delegate = delegate or false, _configuration = copy,
    _flat = copy and configuration.flatten(copy) or {},
    _waiting = {}, _open_tasks = 0, _last_task = 0, _number = false,
    _protocols = copy and configuration.protocols(copy),
    _invalid = false, _seen_calls = false, _call_begins = methods._call_begins, _call_done = methods._call_done,
    _task = methods._task, _forget = methods._forget, _keeper = false,
  }, Session)
  if copy and configuration.is_background(copy) then return require("http.background").open(made, copy) end
  return made
end

-- The core's number of the session; made with its first task.
function methods:_core()
  local number = rawget(self, "_number")
  if not number then
    last_session = last_session + 1
    number = last_session
    self._number = number
    core.session(number, table.unpack(self._flat))
  end
  return number
end

-- A task of this session is completed.
function methods:_forget(one)
  local open = self._open_tasks - 1
  self._open_tasks = open
  self._waiting[one] = nil
  if self._keeper then require("http.background").drained(self) end
  if self._invalid and open == 0 then self:_finish_invalidation() end
end

local function count_new_task(self)
  if self._invalid then misuse("the session is invalidated: no task can be made in it") end
  local last = self._last_task + 1
  self._last_task, self._open_tasks = last, self._open_tasks + 1
  return last
end

-- A call without a task object begins or ends.
methods._call_begins = count_new_task

function methods:_call_done(err, head)
  local open = self._open_tasks - 1
  self._open_tasks = open
  if self._seen_calls then
    local fiber = native.current()
    local seen = self._seen_calls[fiber]
    self._seen_calls[fiber] = nil
    if seen then task.end_call(seen, err, head) end
  end
  if self._invalid and open == 0 then self:_finish_invalidation() end
end

-- As everywhere, a handler that raises ends the task; who made it sees that when the task is waited for.
local function tell_creation(self, one)
  one:_hide_request()
  local ok, raised = xpcall(self._delegate.did_create_task, errors.capture, self, one)
  if ok then return end
  steps.handler_failed(one, raised)
  one:cancel()
end

-- Makes a task for a request or a URL; raises at the caller's line when the session is invalid.
function methods:_task(kind, req, settings, completion, class)
  if completion ~= nil then options.expect(completion, "function", "the completion") end
  local one, delegate = task.new(self, kind, count_new_task(self), req, settings, class, completion), self._delegate
  self._waiting[one] = true
  if delegate and delegate.did_create_task then tell_creation(self, one) end
  return one
end

-- Makes the task of a call and starts it.
function methods:_start_call(req, settings)
  local one = task.new_call(self, count_new_task(self), req, settings)
  if self._delegate and self._delegate.did_create_task then tell_creation(self, one) end
  local ok, problem = pcall(one.resume, one)
  if ok then return one end
  self:_forget(one)
  error(problem, 0)
end

local function to_request(given, what)
  if type(given) == "string" then return request.new(given) end
  if request.is(given) then return given:copy() end
  if type(given) == "table" then return request.new(given) end
  misuse("%s must be a URL or a request, not %s", what, type(given))
end

-- session:data_task(url_or_request [, completion]) -> task, suspended.
function methods:data_task(given, completion)
  check_receiver(self, "data_task")
  if self._keeper then require("http.background").check_completion(completion) end
  local req = type(given) == "string" and given or to_request(given, "argument #1 of data_task")
  return self:_task("data", req, nil, completion)
end

-- session:stream_task(host, port) or session:stream_task{ service = { name, type, domain } } -> task, suspended.
function methods:stream_task(place, port)
  check_receiver(self, "stream_task")
  return require("http.stream").new(self, place, port)
end

-- session:web_socket_task(url_or_request [, protocols]) -> task, suspended.
function methods:web_socket_task(given, protocols)
  check_receiver(self, "web_socket_task")
  return require("http.web_socket").new(self, to_request(given, "argument #1 of web_socket_task"), protocols)
end

-- Makes a task that outlives the process where the session does.
local function lasting_task(self, kind, req, completion, blob)
  if self._keeper then return require("http.background").task(self, kind, req, completion, blob) end
  return self:_task(kind, req, blob and { resume_data = blob }, completion)
end

local SOURCE = { file = "string", data = "string", stream = "boolean" }

-- The body of an upload task, of what its second argument says.
local function upload_body(source)
  options.expect(source, "table", "argument #2 of upload_task")
  options.check(source, SOURCE, "argument #2 of upload_task")
  local name = next(source)
  if not name or next(source, name) then
    misuse("argument #2 of upload_task must be one of { file = path }, { data = string } and { stream = true }")
  end
  if name == "stream" and not source.stream then misuse("'stream' can only be true") end
  return name == "data" and source.data or source
end

-- session:upload_task(request, { file } | { data } | { stream = true } [, completion]) -> task, suspended. A URL alone
-- is posted to.
function methods:upload_task(given, source, completion)
  check_receiver(self, "upload_task")
  local req = to_request(given, "argument #1 of upload_task")
  if not request.is(given) and not (type(given) == "table" and given.method) then req.method = "POST" end
  req.body = upload_body(source)
  return lasting_task(self, "upload", req, completion)
end

local RESUME = { resume_data = "string", headers = "table" }

-- session:download_task(url_or_request | { resume_data [, headers] } [, completion]) -> task, suspended.
function methods:download_task(given, completion)
  check_receiver(self, "download_task")
  if type(given) == "table" and rawget(given, "resume_data") ~= nil then
    options.check(given, RESUME, "argument #1 of download_task")
    local req = require("http.resume_data").request(given.resume_data, given.headers)
    return lasting_task(self, "download", req, completion, given.resume_data)
  end
  return lasting_task(self, "download", to_request(given, "argument #1 of download_task"), completion)
end

-- session:tasks() -> data, upload, download lists of tasks that are not completed.
function methods:tasks()
  check_receiver(self, "tasks")
  local lists = { data = {}, upload = {}, download = {} }
  for _, one in ipairs(self:all_tasks()) do
    local list = lists[one.kind]
    if list then list[#list + 1] = one end
  end
  return lists.data, lists.upload, lists.download
end

-- Tasks that stand for the calls under way that have none; the same one for a call each time.
local function add_calls(self, list)
  local flat = rawget(self, "_number") and core.calls(self._number) or {}
  if #flat > 0 then self._seen_calls = self._seen_calls or {} end
  for i = 1, #flat, 5 do
    local number, fiber = flat[i], flat[i + 1]
    local one = self._seen_calls[fiber]
    if not one or one.number ~= number then
      one = task.of_call(self, number, flat[i + 2], flat[i + 3], flat[i + 4])
      self._seen_calls[fiber] = one
    end
    list[#list + 1] = one
  end
end

-- session:all_tasks() -> list of the tasks that are not completed, in the order of their making.
function methods:all_tasks()
  check_receiver(self, "all_tasks")
  local list = {}
  for one in pairs(self._waiting) do list[#list + 1] = one end
  for _, one in ipairs(active.list(self)) do
    if one.is_call then list[#list + 1] = one end
  end
  add_calls(self, list)
  table.sort(list, function(a, b) return a.identifier < b.identifier end)
  return list
end

function methods:_finish_invalidation()
  self._invalid = "invalid"
  local number = rawget(self, "_number")
  if number then
    ending[number] = self
    core.invalidate(number, true)
  else
    fibers.run(function() self:_became_invalid() end)
  end
end

function methods:_became_invalid()
  local delegate = self._delegate
  self._delegate = false
  if self._keeper then require("http.background").close(self) end
  if active.observed then require("http.notifications").post("session_did_invalidate", self) end
  local handler = delegate and delegate.did_become_invalid
  if not handler then return end
  fibers.run(function()
    local ok, problem = xpcall(handler, debug.traceback, self, nil)
    if not ok then core.uncaught(tostring(problem)) end
  end)
end

-- session:finish_tasks_and_invalidate(): no new tasks; those there are run to their end.
function methods:finish_tasks_and_invalidate()
  check_receiver(self, "finish_tasks_and_invalidate")
  if self == session.shared_session() or self._invalid then return end
  self._invalid = "finishing"
  if self._open_tasks == 0 then self:_finish_invalidation() end
end

-- session:invalidate_and_cancel(): no new tasks; those there are end with `cancelled`.
function methods:invalidate_and_cancel()
  check_receiver(self, "invalidate_and_cancel")
  if self == session.shared_session() or self._invalid == "invalid" then return end
  self._invalid = "finishing"
  if self._open_tasks == 0 then return self:_finish_invalidation() end
  for _, one in ipairs(self:all_tasks()) do one:cancel() end
  if rawget(self, "_number") then core.cancel_calls(self._number) end
end

-- session:flush() yields: idle connections are closed, so that later requests make new ones, and what is stored is on
-- disk.
function methods:flush()
  check_receiver(self, "flush")
  fibers.require_yieldable()
  local number = rawget(self, "_number")
  if number then
    core.close_idle_connections(number)
    core.write_cache(number)
  end
  local credentials = self.configuration.credential_storage
  if credentials then require("http.credential_storage").flush(credentials) end
  fibers.sleep(0)
end

-- session:reset() yields: as flush, and the session's stores are emptied, their files too.
function methods:reset()
  check_receiver(self, "reset")
  fibers.require_yieldable()
  local fields = self.configuration
  for _, name in ipairs { "cookie_storage", "credential_storage", "cache" } do
    if fields[name] then fields[name]:clear() end
  end
  core.forget_hosts(self:_core())
  self:flush()
end

events[events.SESSION_INVALIDATED] = function(number)
  local self = ending[number]
  ending[number] = nil
  if self then self:_became_invalid() end
end

local shared

-- The shared session: invalidating it does nothing.
function session.shared_session()
  if not shared then
    shared = session.new()
    shared.description = "shared"
  end
  return shared
end

return session
