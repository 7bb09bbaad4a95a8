-- http.map: a function over a list or an iterator, so many at once.

local fibers = require "http.fibers"
local options = require "http.options"

-- Answers a function that gives the next index and item of an iterator, or nil. The iterator may itself wait, so only
-- one worker at a time is inside it.
local function puller(items)
  local index, busy, ended, queue = 0, false, false, {}
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

-- The length of a list is taken once.
local function map_list(items, limit, fn, results, failures)
  local count, index = #items, 0
  if count == 0 then return end
  results.n = count
  run_workers(math.min(limit, count), function()
    while index < count do
      local own = index + 1
      index = own
      results[own], failures[own] = fn(items[own])
    end
  end)
end

local function map_iterator(items, limit, fn, results, failures)
  local pull, started = puller(items), 1
  run_workers(started, function(start_another)
    for index, item in pull do
      if started < limit then
        started = started + 1
        start_another()
      end
      if index > results.n then results.n = index end
      results[index], failures[index] = fn(item)
    end
  end)
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
  local results, failures, map = { n = 0 }, {}, is_list and map_list or map_iterator
  map(items, limit, fn, results, failures)
  return results, failures
end
