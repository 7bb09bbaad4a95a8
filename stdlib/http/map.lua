-- http.map: a function over a list or an iterator, so many at once.

local fibers = require "http.fibers"
local options = require "http.options"

-- Answers a function that gives the next index and item, or nil. A list's length is taken once; an iterator may
-- itself wait, so only one worker at a time is inside it.
local function puller(items, count)
  local index = 0
  if count then
    return function()
      if index >= count then return nil end
      index = index + 1
      return index, items[index]
    end
  end
  local busy, ended, queue = false, false, {}
  return function()
    while busy do
      local record = {}
      queue[#queue + 1] = record
      fibers.wait_for(record)
    end
    if ended then return nil end
    busy = true
    local ok, item = pcall(items)
    busy = false
    if queue[1] then fibers.complete(table.remove(queue, 1)) end
    if not ok or item == nil then ended = true end
    if not ok then error(item, 0) end
    if item == nil then return nil end
    index = index + 1
    return index, item
  end
end

-- Runs `process` in workers, the first `initial` at once; each may start one more. Waits until all have ended or one
-- has failed: then the others are cancelled, and what it raised is raised here.
local function run_workers(initial, process)
  local jobs, gate = {}, { running = 0, failure = nil }
  local function start()
    gate.running = gate.running + 1
    jobs[#jobs + 1] = fibers.begin(function(more)
      local ok, raised = pcall(process, more)
      gate.running = gate.running - 1
      if not ok and not gate.failure then gate.failure = { value = raised } end
      if gate.failure or gate.running == 0 then fibers.complete(gate) end
    end, start)
  end
  for _ = 1, initial do start() end
  local ok, reason = pcall(fibers.wait_for, gate)
  if ok and not gate.failure then return end
  for _, job in ipairs(jobs) do job:cancel() end
  error(not ok and reason or gate.failure.value, 0)
end

-- http.map(list_or_iterator, limit, fn) yields -> the first result of fn(item) for each item in order (field n:
-- how many), and a table of the second results (errors) by index. An error raised in fn ends the rest at once and is
-- raised here.
return function(items, limit, fn)
  local is_list = type(items) == "table" and not options.is_callable(items)
  if not is_list and not options.is_callable(items) then
    options.misuse("argument #1 of http.map must be a list or an iterator, not %s", type(items))
  end
  if math.type(limit) ~= "integer" or limit < 1 then
    options.misuse("argument #2 of http.map (the limit) must be a positive integer")
  end
  options.expect(fn, "function", "argument #3 of http.map")
  fibers.require_yieldable()
  local count = is_list and #items or nil
  local results, failures, pull, started = { n = 0 }, {}, puller(items, count), 1
  if count then started = math.min(limit, count) end
  if started == 0 then return results, failures end
  run_workers(started, function(start_another)
    for index, item in pull do
      if not is_list and started < limit then
        started = started + 1
        start_another()
      end
      if index > results.n then results.n = index end
      results[index], failures[index] = fn(item)
    end
  end)
  return results, failures
end
