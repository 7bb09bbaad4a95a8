-- Concurrency: jobs, waiting, sleeping, time limits, on the scheduler's fibers.
--
-- A fiber is a coroutine that the loop resumes. What waits looks at its own condition in a loop, so a fiber may be
-- woken for nothing without harm. Tasks and jobs carry the scope of the job they were begun in, scopes know their
-- parent, and cancelling a job cancels all that is in its scope or in one below it.

local core = require "httpscript.core"
local native = require "httpscript.fiber"
local errors = require "http.errors"
local options = require "http.options"

local park, current, wake = native.park, native.current, core.wake
local misuse = options.misuse

local fibers = {}

-- Fiber number -> record { job, scope, interrupt }, for the fibers of jobs.
local records = {}
-- Timer number -> record that waits for it.
local timers = {}
-- What failed and was not looked at by anybody, with its place in time: reported at the end.
local unobserved, failures_seen = {}, 0
local stopping = false

-- Something failed that nobody may ever look at.
function fibers.note_unobserved(thing)
  failures_seen = failures_seen + 1
  unobserved[thing] = failures_seen
end

function fibers.observe(thing) unobserved[thing] = nil end

-- Waiting -----------------------------------------------------------------------------------------------------------

-- Raises here, at the caller's line, where a wait is impossible.
function fibers.require_yieldable()
  if native.can_park() then return end
  misuse("cannot wait here: a C function that cannot yield (table.sort, string.gsub, a __gc or __close handler, ...) "
    .. "is on the call stack")
end

-- Raises what `job:cancel()` left for the fiber that has just been woken.
local function check_interrupt(fiber)
  local record = records[fiber]
  if record and record.interrupt then
    local reason = record.interrupt
    record.interrupt = nil
    error(reason, 0)
  end
end

-- Waits on in a call that the fiber was woken from for nothing: park gives the completion's values when they come.
function fibers.wait_in_call(session, done, ...)
  if done then return ... end
  local fiber = current()
  local record = records[fiber]
  if record and record.interrupt then
    session:_call_done()
    check_interrupt(fiber)
  end
  return fibers.wait_in_call(session, park())
end

-- Suspends the calling fiber until `record.done`. Several may wait for one record.
function fibers.wait_for(record)
  local fiber = current()
  if not record.waiter then
    record.waiter = fiber
  else
    record.waiters = record.waiters or {}
    record.waiters[#record.waiters + 1] = fiber
  end
  while not record.done do
    park()
    check_interrupt(fiber)
  end
end
local wait_for = fibers.wait_for

-- Marks a record done and wakes who waits for it.
function fibers.complete(record)
  record.done = true
  if record.waiter then
    wake(record.waiter)
    record.waiter = false
  end
  if record.waiters then
    for _, fiber in ipairs(record.waiters) do wake(fiber) end
    record.waiters = nil
  end
end
local complete = fibers.complete

-- Scopes ------------------------------------------------------------------------------------------------------------

-- The scope of the calling fiber, or false.
function fibers.scope()
  local record = records[current()]
  return record and record.scope or false
end

-- Whether `scope` is `outer` or lies in it.
local function is_within(scope, outer)
  while scope do
    if scope == outer then return true end
    scope = scope.parent
  end
  return false
end
fibers.is_within = is_within

-- Cancels the tasks begun in a scope; set by http.task, which knows them.
local cancel_tasks

function fibers.on_cancel_scope(fn) cancel_tasks = fn end

local function cancel_scope(scope)
  if cancel_tasks then cancel_tasks(scope) end
  local inner = {}
  for _, record in pairs(records) do
    if record.scope ~= scope and is_within(record.scope, scope) then inner[#inner + 1] = record.job end
  end
  for _, job in ipairs(inner) do job:cancel() end
end

-- Workers: fibers kept for reuse ------------------------------------------------------------------------------------

local idle, idle_count = {}, 0

local function work(worker)
  while true do
    local fn, argument = worker.fn, worker.argument
    worker.fn, worker.argument = nil, nil
    fn(argument)
    if idle_count >= 64 then return end
    idle_count = idle_count + 1
    idle[idle_count] = worker
    repeat park() until worker.fn
  end
end

-- Runs fn(argument) in a fiber of its own. fn must not raise.
function fibers.run(fn, argument)
  local worker = idle[idle_count]
  if worker then
    idle[idle_count] = nil
    idle_count = idle_count - 1
    worker.fn, worker.argument = fn, argument
    wake(worker.fiber)
  else
    worker = { fn = fn, argument = argument }
    worker.fiber = native.fiber(work, worker)
  end
end

-- Jobs --------------------------------------------------------------------------------------------------------------

local Job = { __name = "http.job" }
Job.__index = Job

function Job:__tostring() return "http.job: " .. self.state end

local function finish(job, ok, ...)
  records[job.fiber] = nil
  if job.done then return end
  if ok then
    job.state = "completed"
    job.results = table.pack(...)
  else
    job.state = "failed"
    job.error = ...
    if not job.waiter and not stopping then fibers.note_unobserved(job) end
  end
  complete(job)
end

local function traceback(value)
  if errors.is(value) then return value end
  return errors.raised(value, "job_error", debug.traceback("", 2):gsub("^\n", ""))
end

local function run_job(job, fn, ...)
  if job.done then return finish(job, false) end
  finish(job, xpcall(fn, traceback, ...))
end

local function begin(fn, ...)
  local job = { state = "running", fiber = 0, done = false, waiter = nil, results = nil, error = nil }
  setmetatable(job, Job)
  job.fiber = native.fiber(run_job, job, fn, ...)
  records[job.fiber] = { job = job, scope = { parent = fibers.scope() }, interrupt = nil }
  return job
end

-- http.spawn(fn, ...) -> job: runs fn(...) concurrently, from the next turn of the loop.
function fibers.spawn(fn, ...)
  if type(fn) ~= "function" and not (getmetatable(fn) or {}).__call then
    misuse("argument #1 of http.spawn must be a function, not %s", type(fn))
  end
  return begin(fn, ...)
end

-- job:wait() yields -> what fn returned, or nil and the error.
function Job:wait()
  unobserved[self] = nil
  if not self.done then
    fibers.require_yieldable()
    wait_for(self)
  end
  unobserved[self] = nil
  if self.results then return table.unpack(self.results, 1, self.results.n) end
  return nil, self.error
end

local function end_early(job, state, reason)
  if job.done then return end
  job.state = state
  job.error = reason
  complete(job)
  local record = records[job.fiber]
  if not record then return end
  cancel_scope(record.scope)
  if job.fiber ~= current() then
    core.cancel_call(job.fiber)
    record.interrupt = errors.cancelled("the job was cancelled")
    wake(job.fiber)
  end
end

-- job:cancel(): everything it began is cancelled, and its function raises `cancelled` where it waits.
function Job:cancel()
  end_early(self, "cancelled", errors.cancelled("the job was cancelled"))
end

-- Time --------------------------------------------------------------------------------------------------------------

local function wait_seconds(seconds)
  if stopping then error(errors.cancelled("the script is being ended"), 0) end
  local record = {}
  local timer = core.timer(seconds)
  timers[timer] = record
  local ok, reason = pcall(wait_for, record)
  timers[timer] = nil
  if not ok then
    core.cancel_timer(timer)
    error(reason, 0)
  end
  if record.error then error(record.error, 0) end
end

local function check_seconds(seconds, what)
  if type(seconds) ~= "number" or seconds ~= seconds then misuse("%s must be a number of seconds", what) end
  return seconds
end

-- http.sleep(seconds) yields.
function fibers.sleep(seconds)
  check_seconds(seconds, "argument #1 of http.sleep")
  fibers.require_yieldable()
  if seconds == math.huge then
    wait_for({})
  else
    wait_seconds(seconds)
  end
end

-- Calls fn() in a worker after so many seconds; answers a function that prevents it.
function fibers.after(seconds, fn)
  local timer = core.timer(seconds)
  timers[timer] = { callback = fn }
  return function()
    timers[timer] = nil
    core.cancel_timer(timer)
  end
end

-- http.with_timeout(seconds, fn, ...) yields -> fn's results, or nil and `timed_out`. What fn raises is raised here.
function fibers.with_timeout(seconds, fn, ...)
  check_seconds(seconds, "argument #1 of http.with_timeout")
  options.expect(fn, "function", "argument #2 of http.with_timeout")
  fibers.require_yieldable()
  local job = begin(fn, ...)
  local disarm = fibers.after(seconds, function()
    end_early(job, "timed_out", errors.new {
      domain = "url", code = "timed_out", message = ("not done after %g s"):format(seconds),
    })
  end)
  local ok, reason = pcall(wait_for, job)
  disarm()
  unobserved[job] = nil
  if not ok then
    job:cancel()
    error(reason, 0)
  end
  if job.results then return table.unpack(job.results, 1, job.results.n) end
  if job.state == "failed" then error(job.error.value ~= nil and job.error.value or job.error, 0) end
  return nil, job.error
end

-- map ---------------------------------------------------------------------------------------------------------------

-- Answers a function that gives the next item and its index, or nil. A list's length is taken once; an iterator may
-- itself wait, so only one worker at a time is inside it.
local function puller(items)
  local index = 0
  if type(items) == "table" and not (getmetatable(items) or {}).__call then
    local count = #items
    return function()
      if index >= count then return nil end
      index = index + 1
      return items[index], index
    end
  end
  local busy, ended, queue = false, false, {}
  return function()
    while busy do
      local record = {}
      queue[#queue + 1] = record
      wait_for(record)
    end
    if ended then return nil end
    busy = true
    local ok, item = pcall(items)
    busy = false
    if queue[1] then complete(table.remove(queue, 1)) end
    if not ok or item == nil then ended = true end
    if not ok then error(item, 0) end
    if item == nil then return nil end
    index = index + 1
    return item, index
  end
end

-- http.map(list_or_iterator, limit, fn) yields -> the first result of fn(item) for each item in order (field n:
-- how many), and a table of the second results (errors) by index. An error raised in fn ends the rest and is raised
-- here.
function fibers.map(items, limit, fn)
  if type(items) ~= "function" and type(items) ~= "table" then
    misuse("argument #1 of http.map must be a list or an iterator, not %s", type(items))
  end
  if math.type(limit) ~= "integer" or limit < 1 then
    misuse("argument #2 of http.map (the limit) must be a positive integer")
  end
  options.expect(fn, "function", "argument #3 of http.map")
  fibers.require_yieldable()
  local results, failures, pull = { n = 0 }, {}, puller(items)
  local function worker()
    for item, index in pull do
      if index > results.n then results.n = index end
      results[index], failures[index] = fn(item)
    end
  end
  if type(items) == "table" then limit = math.min(limit, #items) end
  local jobs = {}
  for i = 1, limit do jobs[i] = begin(worker) end
  local ok, reason = pcall(function()
    for _, job in ipairs(jobs) do
      wait_for(job)
      unobserved[job] = nil
      if job.state == "failed" then error(job.error.value ~= nil and job.error.value or job.error, 0) end
      if not job.results then error(job.error, 0) end
    end
  end)
  if not ok then
    for _, job in ipairs(jobs) do
      job:cancel()
      unobserved[job] = nil
    end
    error(reason, 0)
  end
  return results, failures
end

-- Events ------------------------------------------------------------------------------------------------------------

function fibers.timer_fired(timer)
  local record = timers[timer]
  if not record then return end
  timers[timer] = nil
  if record.callback then
    fibers.run(record.callback)
  else
    complete(record)
  end
end

function fibers.is_stopping() return stopping end

-- The script is to end: who sleeps is woken with `cancelled`.
function fibers.stop()
  stopping = true
  for timer, record in pairs(timers) do
    timers[timer] = nil
    core.cancel_timer(timer)
    if not record.callback then
      record.error = errors.cancelled("the script is being ended")
      complete(record)
    end
  end
end

-- The end: failures that nobody looked at.
function fibers.report_unobserved()
  local failed = {}
  for thing in pairs(unobserved) do failed[#failed + 1] = thing end
  table.sort(failed, function(a, b) return unobserved[a] < unobserved[b] end)
  for _, thing in ipairs(failed) do core.uncaught(tostring(thing.error.message)) end
end

return fibers
