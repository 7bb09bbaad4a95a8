-- What an operation does on the wire: its task, where its data goes, and going on after a pause.

local part_file = require "httpscript.part"
local errors = require "http.errors"
local fibers = require "http.fibers"

local transfer = {}

-- The operation of a task.
local operations = setmetatable({}, { __mode = "k" })

-- Data ---------------------------------------------------------------------------------------------------------------

-- Forgets what has been received.
function transfer.reset(op)
  rawset(op, "_chunks", {})
  rawset(op, "_received", 0)
  rawset(op, "_offset", 0)
end

-- What has been received, as one string; nil where it went to a stream.
function transfer.data(op)
  if op.output_stream then return nil end
  local chunks = op._chunks
  if #chunks > 1 then
    chunks = { table.concat(chunks) }
    rawset(op, "_chunks", chunks)
  end
  return chunks[1] or ""
end

-- The response with the data as its body; nil before there is one.
function transfer.whole_response(op)
  local head = rawget(op, "_response")
  if head then head.body = transfer.data(op) end
  return head
end

-- Gives an operation that was stored what it had received.
function transfer.restore(op, head, data)
  rawset(op, "_response", head)
  rawset(op, "_chunks", { data })
  rawset(op, "_received", #data)
end

local function store(op, data)
  local stream = op.output_stream
  if not stream then
    op._chunks[#op._chunks + 1] = data
  elseif type(stream) == "function" then
    stream(data)
  else
    assert(stream:write(data))
  end
  rawset(op, "_received", op._received + #data)
end

-- What has been received belongs to another version, or cannot be gone on from.
local function start_over(op)
  if op._received > 0 and op.output_stream then
    error(errors.new {
      domain = "script", code = "cannot_restart",
      message = "the transfer must begin again, and an output stream cannot",
      url = op.request.url,
    }, 0)
  end
  transfer.reset(op)
end

-- Going on -----------------------------------------------------------------------------------------------------------

-- The strong validator of what is there (RFC 9110 §13.1.5), after a letter for its kind; nil where a rest of it cannot
-- be asked for, or the data was decoded.
local function validator(head)
  if not head or head.status ~= 200 and head.status ~= 206 or head.headers["Content-Encoding"] then return nil end
  return part_file.validator(rawget(head, "_block") or "")
end

-- The request for what is missing, or the whole one.
local function next_request(op)
  local sent = op.request:copy()
  rawset(op, "_offset", 0)
  if op._received == 0 then return sent end
  local known = sent.method == "GET" and validator(rawget(op, "_response"))
  if not known then
    start_over(op)
    return sent
  end
  sent.headers["Range"] = ("bytes=%d-"):format(op._received)
  sent.headers["If-Range"] = known:sub(2)
  sent.headers["Accept-Encoding"] = "identity"
  rawset(op, "_offset", op._received)
  return sent
end

-- Whether a response brings all that is missing of what is there (RFC 9110 §14.4): the rest of the same version.
local function continues(op, head)
  local before = rawget(op, "_response")
  local known = validator(before)
  if head.status ~= 206 or not known or validator(head) ~= known then return false end
  local first, last, total = (head.headers["Content-Range"] or ""):lower():match("^bytes (%d+)%-(%d+)/(%d+)$")
  first, last, total = math.tointeger(first), math.tointeger(last), math.tointeger(total)
  if not first or not last or first ~= op._offset or last + 1 ~= total then return false end
  return before.expected_content_length < 0 or before.expected_content_length == total
end

-- Whether a 416 says that all there is has been received; only where that was known before.
local function is_all(op, head)
  local before = rawget(op, "_response")
  local size = head.status == 416 and (head.headers["Content-Range"] or ""):lower():match("^bytes %*/(%d+)$")
  return size and math.tointeger(size) == op._offset and before.expected_content_length == op._offset
end

-- The delegate of the operations' sessions ---------------------------------------------------------------------------

local delegate = {}
transfer.delegate = delegate

function delegate.did_receive_response(_, task, head)
  local op = operations[task]
  if not op then return "cancel" end
  if op._offset == 0 then
    rawset(op, "_response", head)
    return "allow"
  end
  if is_all(op, head) then
    -- All of it was there already: the response is the one it came with.
    op._is_complete = true
    return "cancel"
  end
  if continues(op, head) then
    op._response.metrics = nil
    return "allow"
  end
  if head.status == 206 or head.status == 416 then
    -- Another part than was asked for, or none: the whole, then.
    op._again = true
    return "cancel"
  end
  start_over(op)
  rawset(op, "_response", head)
  return "allow"
end

function delegate.did_receive_data(_, task, data)
  local op = operations[task]
  if not op then return end
  store(op, data)
  local report = op.download_progress
  if not report then return end
  local expected = task.response and task.response.expected_content_length or -1
  report(#data, op._received, expected < 0 and expected or expected + op._offset)
end

function delegate.did_send_body_data(_, task, sent, total, expected)
  local op = operations[task]
  if op and op.upload_progress then op.upload_progress(sent, total, expected) end
end

function delegate.will_perform_redirection(_, task, head, proposed)
  local op = operations[task]
  if not op or not op.redirect then return nil end
  return op.redirect(op, proposed, head)
end

function delegate.did_receive_challenge(_, task, challenge)
  local op = operations[task]
  if not op then return nil end
  if op.will_send_request_for_challenge then return op.will_send_request_for_challenge(op, challenge) end
  local credential, method = require "http.credential", challenge.protection_space.authentication_method
  if not op.credential or challenge.previous_failure_count > 0 then return nil end
  if credential.kind(op.credential) == credential.kind_for(method) then return "use_credential", op.credential end
  -- The next challenge of the response may be one for it.
  if method ~= "server_trust" and method ~= "client_certificate" then return "reject_protection_space" end
end

function delegate.need_new_body_stream(_, task)
  local op = operations[task]
  local stream = op and op.input_stream
  if not stream or type(stream) == "function" or not stream.seek then return nil end
  assert(stream:seek("set", 0))
  return transfer.reader(stream)
end

function delegate.will_cache_response(_, task, cached)
  local op = operations[task]
  if not op or not op.cache_response then return nil end
  return op.cache_response(op, cached)
end

function delegate.did_complete(_, task, err)
  local op = operations[task]
  operations[task] = nil
  if not op or op._task ~= task then return end
  if op._again then
    op._again = nil
    start_over(op)
    return transfer.begin(op, task.session, op._finish)
  end
  if op._is_complete then err = nil end
  -- Raised in a handler of this module.
  if err and errors.is(err.value) and err.value.code == "cannot_restart" then err = err.value end
  if not rawget(op, "_response") and task.response then rawset(op, "_response", task.response) end
  op._finish(op, err)
end

-- Tasks --------------------------------------------------------------------------------------------------------------

-- A body's reader function for a stream: a function, or an object with `read(size)`.
function transfer.reader(stream)
  if type(stream) == "function" then return stream end
  return function(size) return stream:read(size) end
end

-- Makes the operation's next task; `finish(op, err)` is called when that is over and none follows.
function transfer.begin(op, session, finish)
  op._finish = finish
  local ok, sent = pcall(next_request, op)
  if not ok then return fibers.run(function() finish(op, sent) end) end
  if op.input_stream then sent.body = transfer.reader(op.input_stream) end
  local task = session:data_task(sent)
  task.user_info = op.user_info
  operations[task] = op
  op._task = task
  task:resume()
end

-- Ends the task without a word: the operation is paused.
function transfer.stop(op)
  local task = op._task
  op._task = nil
  if not task then return end
  operations[task] = nil
  task:cancel()
end

return transfer
