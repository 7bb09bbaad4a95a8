-- What is told at the script's end: failures that nobody looked at, and jobs that nothing will wake.

local core = require "httpscript.core"
local errors = require "http.errors"

local leftovers = {}

-- Jobs that wait for something that cannot happen any more, as nothing is left that could wake them.
local function report_stranded(records)
  local places = {}
  for fiber, record in pairs(records) do
    local job = record.scope and record.scope.job
    if job and job.fiber == fiber and not job.done then
      local info = type(job.fn) == "function" and debug.getinfo(job.fn, "S")
      places[#places + 1] = info and ("%s:%d"):format(info.short_src, info.linedefined) or "?"
    end
  end
  table.sort(places)
  for _, place in ipairs(places) do
    core.warn("httpscript: the job at " .. place .. " waits for something that cannot happen any more")
  end
end

-- `unobserved`: what failed, with its place in time. `records`: by fiber, the jobs there are.
function leftovers.report(unobserved, records)
  report_stranded(records)
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
