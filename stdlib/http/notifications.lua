-- Who wants to be told of what goes on, whichever session it is in: AFNetworking's notifications.

local active = require "http.active"
local fibers = require "http.fibers"
local options = require "http.options"

local notifications = {}

local NAMES = {
  task_did_start = true, task_did_suspend = true, task_did_resume = true, task_did_finish = true,
  operation_did_start = true, operation_did_pause = true, operation_did_resume = true, operation_did_finish = true,
  session_did_invalidate = true,
}

-- By name, the list of observers.
local observers = {}

local function count()
  local all = 0
  for _, list in pairs(observers) do all = all + #list end
  return all
end

-- http.on(name, fn) -> a function that ends it. fn(object, name) runs in a fiber of its own and may wait.
function notifications.on(name, fn)
  options.expect_word(name, NAMES, "notification")
  if not options.is_callable(fn) then options.expect(fn, "function", "argument #2 of http.on") end
  local list = observers[name] or {}
  observers[name] = list
  local entry = { fn = fn }
  list[#list + 1] = entry
  active.observed = true
  return function()
    for index, one in ipairs(list) do
      if one == entry then table.remove(list, index) end
    end
    active.observed = count() > 0
  end
end

local function tell(notice)
  local ok, problem = xpcall(notice.fn, debug.traceback, notice.object, notice.name)
  if not ok then require("httpscript.core").uncaught(tostring(problem)) end
end

-- Tells those who asked. An observer that raises ends the script with status 1, like any error nobody catches.
function notifications.post(name, object)
  for _, entry in ipairs(observers[name] or {}) do
    fibers.run(tell, { fn = entry.fn, object = object, name = name })
  end
end

return notifications
