-- Tasks that become another one when their response has come: a download, or a stream in both directions.

local core = require "httpscript.core"
local active = require "http.active"
local fibers = require "http.fibers"
local lazy = require "http.lazy"
local scopes = require "http.scopes"
local steps = require "http.steps"

local stream = lazy "http.stream"

local become = {}

-- Puts the new task in the old one's place: the core goes on under the same number.
local function replace(old, new, head)
  active.replace(old, new)
  scopes.leave(old.scope, old)
  if old.draining then fibers.stay(old.draining) end
  new.scope = old.scope
  scopes.join(new.scope, new)
  new.begun, new.suspensions, new.state = true, old.suspensions, old.state
  new.current_request, new.priority = old.current_request, old.priority
  rawset(new, "response", head)
  new.count_of_bytes_expected_to_receive = head.expected_content_length
  rawset(old, "became", new)
  old.completing, old.state = true, "completed"
end

-- Tells the delegate; the old task is then over.
local function finish(old, handler)
  if not steps.call(old, steps.call_delegate, old, handler, old.became) then
    rawset(old, "error", old.failure)
    old.became:cancel()
  end
  old.session:_forget(old)
  fibers.complete(old)
end

-- The body goes to a file from its first byte on, once the delegate knows the new task.
function become.become_download(old, head)
  local number = old.number
  replace(old, old.session:_task("download", old._request or old.original_request, old.settings), head)
  finish(old, "did_become_download_task")
  core.answer_response(number, "become_download")
end

-- The delegate's handler may use the stream already.
function become.become_stream(old, head)
  local number = old.number
  replace(old, old.session:_task("stream", old._request or old.original_request, nil, nil, stream.class), head)
  core.answer_response(number, "become_stream")
  finish(old, "did_become_stream_task")
end

return become
