-- Concurrency: jobs, waiting, sleeping, time limits, on the scheduler's fibers.
--
-- A fiber is a coroutine that the loop resumes. What waits looks at its own condition in a loop, so a fiber may be
-- woken for nothing without harm. Tasks, handlers and jobs are in the scope of the job they were begun in, and
-- cancelling a job cancels all that is in its scope.

local core = require "httpscript.core"
local native = require "httpscript.fiber"
local active = require "http.active"
local errors = require "http.errors"
local events = require "http.events"
local options = require "http.options"
local scopes = require "http.scopes"

local park, current, wake = native.park, native.current, core.wake
local misuse = options.misuse

local fibers = {}

-- Fiber number -> record { scope, interrupt }, for the fibers of jobs; for those that work for a task in a scope (the
-- scope itself, as long as nothing more is to be known of them); and for those of handlers that are not to wait any
-- more, with what goes on without them: { go_on, task, refusals }.
local records = {}
-- After so many waits that it was refused, a handler is not gone on with.
local LAST_REFUSAL <const> = 10
-- Timer number -> record that waits for it.
local timers = {}
-- What failed and was not looked at by anybody, with its place in time: reported at the end.
local unobserved, failures_seen = {}, 0

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

-- A handler that was interrupted before waits again. The loop turns first, so that one that tries for ever keeps nobody
-- from anything; and one that does not give up ends here, where the task goes on without it.
local function refuse(record)
  if not native.can_park() then return end
  local fiber = current()
  record.refusals = record.refusals + 1
  if record.refusals > LAST_REFUSAL then
    local go_on, task = record.go_on, record.task
    fibers.exit(fiber)
    core.abandon(fiber)
    go_on(task)
  else
    wake(fiber)
  end
  park()
end

-- Raises what `job:cancel()` left for the calling fiber, or the end of the task whose handler waits.
local function check_interrupt(record)
  local reason = record and record.interrupt
  if not reason then return end
  if not record.go_on then
    record.interrupt = nil
  elseif not record.refusals then
    record.refusals = 0
  else
    refuse(record)
  end
  error(reason, 0)
end

native.yielded(function() check_interrupt(records[current()]) end)

-- Whether something that waits may be begun here; raises in a job that has been cancelled. At the script's end it
-- lets the loop turn first: a script that tries again and again must not keep the process from ending.
function fibers.may_begin()
  local record = records[current()]
  if record and record.interrupt then check_interrupt(record) end
  if not active.stopping then return true end
  wake(current())
  park()
  return false
end

-- Waits on in a call that the fiber was woken from for nothing: park gives the completion's values when they come, and
-- false when there was no memory for them.
function fibers.wait_in_call(session, done, ...)
  if done then return ... end
  local record = records[current()]
  if done == false or record and record.interrupt then
    session:_call_done(errors.cancelled())
    check_interrupt(record)
    error("not enough memory", 0)
  end
  return fibers.wait_in_call(session, park())
end

-- The same for work on a helper thread: -> its results.
function fibers.wait_in_work(done, ...)
  if done then return ... end
  check_interrupt(records[current()])
  if done == false then error("not enough memory", 0) end
  return fibers.wait_in_work(park())
end

-- Who waits for a record: `waiter`, at place 0, and a list of those who came later. Answers the place in the list.
local function add_later_waiter(record, fiber)
  record.waiters = record.waiters or {}
  record.waiters[#record.waiters + 1] = fiber
  return #record.waiters
end

local function remove_waiter(record, place)
  if place == 0 then
    record.waiter = false
    return
  end
  local list = record.waiters
  if not list then return end
  list[place] = false
  while list[#list] == false do list[#list] = nil end
end

-- Whether anybody waits for a record.
function fibers.is_awaited(record)
  return record.waiter or record.waiters and record.waiters[1] ~= nil
end

-- Suspends the calling fiber until `record.done`. Several may wait for one record.
function fibers.wait_for(record)
  local fiber = current()
  local place = 0
  if record.waiter then place = add_later_waiter(record, fiber) else record.waiter = fiber end
  while true do
    local own = records[fiber]
    if own and own.interrupt then
      if not record.done then remove_waiter(record, place) end
      check_interrupt(own)
    end
    if record.done then return end
    park()
  end
end
local wait_for = fibers.wait_for

-- Marks a record done and wakes who waits for it.
function fibers.complete(record)
  record.done = true
  local waiter = record.waiter
  if waiter then
    record.waiter = false
    wake(waiter)
  end
  if record.waiters then
    for _, fiber in ipairs(record.waiters) do
      if fiber then wake(fiber) end
    end
    record.waiters = nil
  end
end
local complete = fibers.complete

-- The scope of the calling fiber, or false.
function fibers.scope()
  local record = records[current()]
  return record and record.scope or false
end

-- Workers: fibers kept for reuse ------------------------------------------------------------------------------------

local idle, idle_count = {}, 0

-- A function of its own, so that an idle worker's stack does not hold what it last worked on.
local function work_once(worker)
  local fn, argument = worker.fn, worker.argument
  worker.fn, worker.argument = nil, nil
  fn(argument)
end

local function work(worker)
  while true do
    work_once(worker)
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

-- What stands for a fiber that works for a task in a scope.
local Part = {}
Part.__index = Part

function Part:cancel()
  core.cancel_call(self.fiber)
  self.interrupt = errors.cancelled("the job was cancelled")
  wake(self.fiber)
end

-- The calling fiber works for a task in a scope (or in none) from now on: what it begins belongs there. Answers its
-- number.
function fibers.enter(scope)
  local fiber = current()
  if scope then records[fiber] = scope end
  return fiber
end

-- The record of its own of a fiber that works for a task.
local function part_of(fiber)
  local record = records[fiber]
  if record and record.scope ~= record then return record end
  local part = setmetatable({ fiber = fiber, scope = record or false, interrupt = nil, is_member = false }, Part)
  records[fiber] = part
  return part
end

-- Has the fiber of a task's handler raise the reason where it waits, unless it is about to raise another, and wherever
-- it waits again. Where it does not give up, it is ended, and go_on(task) is called.
function fibers.interrupt(fiber, reason, go_on, task)
  local part = part_of(fiber)
  if part.interrupt then return end
  part.interrupt, part.go_on, part.task, part.refusals = reason, go_on, task, nil
  core.cancel_call(fiber)
  wake(fiber)
end

-- The task is none of its scope any more, and the fiber takes its place there: it is interrupted when the scope is
-- cancelled. (As long as the task is there, it is interrupted through the task.)
function fibers.stay(fiber)
  if not records[fiber] then return end
  local part = part_of(fiber)
  if not part.scope or part.is_member then return end
  part.is_member = true
  scopes.join(part.scope, part)
end

-- What was to interrupt a fiber is forgotten.
local function release(part)
  part.interrupt, part.go_on, part.task = nil, nil, nil
  if not part.is_member then return end
  part.is_member = false
  scopes.leave(part.scope, part)
end

-- From now on the fiber is not interrupted any more.
function fibers.shield(fiber)
  local record = records[fiber]
  if record and record.scope ~= record then release(record) end
end

-- It works for no scope any more.
function fibers.exit(fiber)
  local record = records[fiber]
  if not record then return end
  records[fiber] = nil
  if record.scope ~= record then release(record) end
end

-- Jobs --------------------------------------------------------------------------------------------------------------

local Job = { __name = "http.job" }
Job.__index = Job

function Job:__tostring() return "http.job: " .. self.state end

local function finish(job, ok, ...)
  local record = records[job.fiber]
  records[job.fiber] = nil
  scopes.job_ended(record.scope)
  if job.done then return end
  if ok then
    job.state = "completed"
    job.results = table.pack(...)
  else
    job.state = "failed"
    job.raised = errors.captured(...)
    job.error = errors.raised(job.raised.value, "job_error", job.raised.trace)
    if not fibers.is_awaited(job) and not active.stopping then fibers.note_unobserved(job) end
  end
  complete(job)
end

-- How a job ends that has been cancelled interests nobody; and a traceback costs most of what ending does.
local function capture(value)
  if records[current()].scope.job.done then return { value = value, trace = "" } end
  return errors.capture(value)
end

local function run_job(job, fn, ...)
  if job.done then return finish(job, false) end
  finish(job, xpcall(fn, capture, ...))
end

local function begin(fn, ...)
  local job = setmetatable({
    state = "running", fn = fn, fiber = 0, done = false, waiter = nil, results = nil, error = nil, raised = nil,
  }, Job)
  job.fiber = native.fiber(run_job, job, fn, ...)
  records[job.fiber] = { scope = scopes.new(fibers.scope(), job), interrupt = nil }
  return job
end
fibers.begin = begin

-- http.spawn(fn, ...) -> job: runs fn(...) concurrently, from the next turn of the loop.
function fibers.spawn(fn, ...)
  if not options.is_callable(fn) then misuse("argument #1 of http.spawn must be a function, not %s", type(fn)) end
  return begin(fn, ...)
end

-- job:wait() yields -> what fn returned, or nil and the error.
function Job:wait()
  options.receiver(self, Job, "job:wait")
  unobserved[self] = nil
  if not self.done then
    fibers.require_yieldable()
    wait_for(self)
  end
  unobserved[self] = nil
  if self.results then return table.unpack(self.results, 1, self.results.n) end
  return nil, self.error
end

-- Ends a job before its function does; what it began is cancelled.
local function end_early(job, state, reason)
  if job.done then return end
  job.state = state
  job.error = reason
  complete(job)
  local record = records[job.fiber]
  scopes.cancel_members(record.scope)
  record.interrupt = errors.cancelled("the job was cancelled")
  if job.fiber ~= current() then
    core.cancel_call(job.fiber)
    wake(job.fiber)
  end
end

fibers.end_early = end_early

-- job:cancel(): everything it began is cancelled, and its function raises `cancelled` where it waits.
function Job:cancel()
  options.receiver(self, Job, "job:cancel")
  end_early(self, "cancelled", errors.cancelled("the job was cancelled"))
end

-- Time --------------------------------------------------------------------------------------------------------------

local function wait_seconds(seconds)
  if not fibers.may_begin() then error(errors.cancelled("the script is being ended"), 0) end
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

function fibers.check_seconds(seconds, what)
  if type(seconds) ~= "number" or seconds ~= seconds then misuse("%s must be a number of seconds", what) end
end

-- http.sleep(seconds) yields.
function fibers.sleep(seconds)
  fibers.check_seconds(seconds, "argument #1 of http.sleep")
  fibers.require_yieldable()
  wait_seconds(seconds)
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

-- Events ------------------------------------------------------------------------------------------------------------

events[events.TIMER] = function(timer)
  local record = timers[timer]
  if not record then return end
  timers[timer] = nil
  if record.callback then
    fibers.run(record.callback)
  else
    complete(record)
  end
end

-- The script is to end: who sleeps is woken with `cancelled`, and tasks are cancelled.
events[events.STOP] = function()
  active.stopping = true
  for timer, record in pairs(timers) do
    timers[timer] = nil
    core.cancel_timer(timer)
    if not record.callback then
      record.error = errors.cancelled("the script is being ended")
      complete(record)
    end
  end
  for _, task in ipairs(active.list()) do task:_end_with_script() end
end

-- The end: failures that nobody looked at, and jobs that nothing will wake.
events[events.FINISH] = function()
  if not next(unobserved) and not next(records) then return end
  local leftovers = require "http.leftovers"
  if not active.stopping then leftovers.report_stranded(records) end
  leftovers.report_failures(unobserved)
end

-- Before somebody ends everything: jobs that are ended with it, and failures that nobody looked at.
function fibers.report_ended()
  local leftovers = require "http.leftovers"
  leftovers.report_ended(records)
  leftovers.report_failures(unobserved)
end

return fibers
