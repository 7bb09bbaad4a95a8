-- http.with_timeout: a function with a limit on its time.

local errors = require "http.errors"
local fibers = require "http.fibers"
local options = require "http.options"

-- http.with_timeout(seconds, fn, ...) yields -> fn's results, or nil and `timed_out`. What fn raises is raised here.
return function(seconds, fn, ...)
  fibers.check_seconds(seconds, "argument #1 of http.with_timeout")
  options.expect(fn, "function", "argument #2 of http.with_timeout")
  fibers.require_yieldable()
  local job = fibers.begin(fn, ...)
  local disarm = fibers.after(seconds, function()
    fibers.end_early(job, "timed_out", errors.new {
      domain = "url", code = "timed_out", message = ("not done after %g s"):format(seconds),
    })
  end)
  local ok, reason = pcall(fibers.wait_for, job)
  disarm()
  fibers.observe(job)
  if not ok then
    job:cancel()
    error(reason, 0)
  end
  if job.results then return table.unpack(job.results, 1, job.results.n) end
  if job.state == "failed" then error(job.raised.value, 0) end
  return nil, job.error
end
