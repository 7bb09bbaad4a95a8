-- Resume data: what a download task that failed leaves to one that goes on.

local core = require "httpscript.core"
local fibers = require "http.fibers"
local headers = require "http.headers"
local options = require "http.options"
local request = require "http.request"

local current = require("httpscript.fiber").current

local resume_data = {}

-- The bytes that a failed task left: they go with this object, unless somebody has looked at the resume data.
local Part = {}
Part.__index = Part

function Part:__gc()
  if not self.claimed and self.is_ours then core.remove_download(self.file) end
end

-- `blob`: the resume data, which says that the bytes are at the path `kept`; they are still in `file`. (Where they are
-- there already, other resume data may refer to them too.)
function resume_data.part(blob, file, kept)
  return setmetatable({ blob = blob, file = file, kept = kept, claimed = false, is_ours = file ~= kept }, Part)
end

-- The same for bytes that are where the resume data says, and are nobody else's.
function resume_data.own_part(blob, file)
  local part = resume_data.part(blob, file, file)
  part.is_ours = true
  return part
end

-- Moves the bytes of a part to where the resume data says, as if it had been claimed -> the part that they are now.
function resume_data.moved_part(part)
  if part.file == part.kept then return part end
  part:claim()
  return resume_data.own_part(part.blob, part.kept)
end

-- Somebody wants the resume data: from now on the bytes outlive the process.
function Part:claim()
  if not self.claimed then
    self.claimed = true
    core.keep_download(self.file, self.kept)
  end
  return self.blob
end

-- The request of a task that goes on with a blob; `fields`: more header fields, or other ones. A damaged blob has no
-- request; the task will fail saying so.
function resume_data.request(blob, fields)
  local url, flat = core.resume_request(blob)
  local made = request.new { url = url or "" }
  if flat then made.headers = headers.from_flat(flat) end
  for name, value in pairs(fields and headers.from(fields) or {}) do made.headers[name] = value end
  return made
end

-- The end of task:cancel_by_producing_resume_data.
function resume_data.cancel(task, fn)
  if fn ~= nil then
    options.expect(fn, "function", "argument #1 of cancel_by_producing_resume_data")
  elseif not task.done then
    fibers.require_yieldable()
    if task.draining == current() then options.misuse("a handler cannot wait for the end of its own task") end
  end
  fibers.observe(task)
  if task.state ~= "completed" then task:_cancel_keeping() end
  local function finish()
    if not task.done then fibers.wait_for(task) end
    fibers.observe(task)
    return task.part and task.part:claim() or nil
  end
  if not fn then return finish() end
  fibers.run(function()
    local ok, problem = xpcall(function() fn(finish()) end, debug.traceback)
    if not ok then core.uncaught(tostring(problem)) end
  end)
end

return resume_data
