-- What is told at the script's end: failures that nobody looked at, and jobs that nothing will wake.

local core = require "httpscript.core"
local errors = require "http.errors"

local leftovers = {}

-- Where the functions of the jobs there are begin, sorted.
local function places_of_jobs(records)
  local places = {}
  for fiber, record in pairs(records) do
    local job = record.scope and record.scope.job
    if job and job.fiber == fiber and not job.done then
      local info = type(job.fn) == "function" and debug.getinfo(job.fn, "S")
      places[#places + 1] = info and ("%s:%d"):format(info.short_src, info.linedefined) or "?"
    end
  end
  table.sort(places)
  return places
end

-- Jobs that wait for something that cannot happen any more, as nothing is left that could wake them. `records`: by
-- fiber, the jobs there are.
function leftovers.report_stranded(records)
  for _, place in ipairs(places_of_jobs(records)) do
    core.warn("the job at " .. place .. " waits for something that cannot happen any more "
      .. "(a task that is suspended wants resume())")
  end
end

-- Jobs that somebody ends.
function leftovers.report_ended(records)
  local places = places_of_jobs(records)
  if #places == 0 then return end
  core.warn(("ended with %d %s still running (%s)"):format(
    #places, #places == 1 and "job" or "jobs", table.concat(places, ", ")))
end

-- `unobserved`: what failed, with its place in time.
function leftovers.report_failures(unobserved)
  local failed = {}
  for thing in pairs(unobserved) do failed[#failed + 1] = thing end
  table.sort(failed, function(a, b) return unobserved[a] < unobserved[b] end)
  for _, thing in ipairs(failed) do
    local raised = thing.raised
    local is_plain = raised and errors.is(raised.value)
    core.uncaught(is_plain and tostring(thing.error) .. "\n" .. raised.trace or tostring(thing.error.message))
  end
end

return leftovers
