-- Downloads that go on whatever happens: end the script, kill it, run it again.
--
-- Usage: httpscript background_downloads.lua DIRECTORY [URL...]
--
-- Each URL's file is put into DIRECTORY, where what is unfinished is kept as well. A later run goes on with what an
-- earlier one has left, without being given the URLs again. Prints a line for each file.

local http = require "http"

local directory = table.remove(arg, 1)
if not directory then
  io.stderr:write("usage: background_downloads.lua DIRECTORY [URL...]\n")
  os.exit(2)
end

local delegate, failed = {}, false

function delegate.did_resume_at_offset(_, task, offset, expected)
  print(("%s goes on at %d of %d bytes"):format(task.description, offset, expected))
end

-- The file goes when this returns, unless it has been moved.
function delegate.did_finish_downloading(_, task, location)
  if task.response.status ~= 200 and task.response.status ~= 206 then return end
  assert(os.rename(location, directory .. "/" .. task.description))
end

function delegate.did_complete(_, task, err)
  local status = task.response and task.response.status
  if not err and status ~= 200 and status ~= 206 then err = "status " .. status end
  failed = failed or err ~= nil
  print(task.description .. ": " .. (err and tostring(err) or "done"))
end

function delegate.did_finish_events_for_background_session(session) session:finish_tasks_and_invalidate() end
function delegate.did_become_invalid() os.exit(failed and 1 or 0) end

local configuration = http.configuration.background("downloads", { shared_container = directory })
local session, err = http.session(configuration, delegate)
if not session then
  io.stderr:write(tostring(err), "\n")
  os.exit(1)
end
for _, url in ipairs(arg) do
  local task = session:download_task(url)
  task.description = url:match("([%w%-_.]+)[^/]*$") or "index"
  task:resume()
end
