-- AFNetworking's operations: one request as an object that is started, paused, resumed, copied and stored.
--
-- An operation makes a data task each time it starts or goes on. After a pause it asks for what is missing with a Range
-- request, where the server named a validator that says whether the rest still belongs to what is there; otherwise it
-- begins again. All operations without settings of their own share one session.

local errors = require "http.errors"
local fibers = require "http.fibers"
local notifications = require "http.notifications"
local options = require "http.options"
local request = require "http.request"
local session = require "http.session"
local transfer = require "http.operation_transfer"

local misuse = options.misuse

local operation = {}

local methods = {}
local Operation = { __name = "http.operation", _methods = methods }

local OPTIONS = {
  completion = "function", upload_progress = "function", download_progress = "function", redirect = "function",
  cache_response = "function", will_send_request_for_challenge = "function", input_stream = "function|table|userdata",
  output_stream = "function|table|userdata", credential = "table|userdata", should_use_credential_storage = "boolean",
  security_policy = "table|userdata", user_info = "any", response_serializer = "table", configuration = "table",
}

local getters = {}

function Operation.__index(self, name)
  local method = methods[name]
  if method ~= nil then return method end
  local getter = getters[name]
  if getter then return getter(self) end
  return nil
end

function Operation.__newindex(self, name, value)
  local wanted = OPTIONS[name]
  if getters[name] or not wanted and name:sub(1, 1) ~= "_" then
    local near = options.nearest(tostring(name), OPTIONS)
    misuse("an operation's '%s' cannot be set%s", tostring(name), near and (" (did you mean '" .. near .. "'?)") or "")
  end
  if wanted and value ~= nil then options.expect(value, wanted, "an operation's '" .. name .. "'") end
  rawset(self, name, value)
end

function Operation:__tostring()
  return ("http.operation: %s (%s)"):format(tostring(self.request), self.state)
end

-- The data received so far; nil where it went to an output stream.
function getters:response_data()
  if self.output_stream then return nil end
  return transfer.data(self)
end

-- The name of the charset of `response_string`, as iconv knows it; nil before there is a response.
function getters:response_string_encoding()
  if not self.response then return nil end
  return (require("http.charset").detect(self.response_data or "", self.response.headers["Content-Type"]))
end

-- The data as UTF-8; nil before there is any, and where it cannot be converted.
function getters:response_string()
  local response = transfer.whole_response(self)
  return response and response:text() or nil
end

-- What the response serializer made of the response (set when the operation is finished).
function getters:response_object() return rawget(self, "_object") end

function getters:is_paused() return self.state == "paused" end
function getters:is_executing() return self.state == "executing" end
function getters:is_finished() return self.state == "finished" end
function getters:is_cancelled() return self._cancelled end
function getters:state() return self._state end
function getters:response() return rawget(self, "_response") end
function getters:error() return rawget(self, "_error") end
function getters:request() return self._request end

-- Making -------------------------------------------------------------------------------------------------------------

local function to_request(given)
  if request.is(given) then return given:copy() end
  if type(given) == "table" or type(given) == "string" then return request.new(given) end
  misuse("argument #1 of operation must be a URL or a request, not %s", type(given))
end

local function check_serializer(given)
  local one = given and given.response_serializer
  if one and not require("http.serializer").is_response(one) then
    misuse("option 'response_serializer' must be a serializer of http.serializer")
  end
end

-- operation(request [, options]) -> an operation, ready to start.
local function new(given, settings)
  options.check(settings, OPTIONS, "the options of an operation")
  check_serializer(settings)
  local made = setmetatable({
    _request = to_request(given), _state = "ready", _cancelled = false, _gate = { done = false },
    should_use_credential_storage = true,
  }, Operation)
  for name, value in next, settings or {} do rawset(made, name, value) end
  transfer.reset(made)
  return made
end

setmetatable(operation, { __call = function(_, ...) return new(...) end })

-- Sessions -----------------------------------------------------------------------------------------------------------

local shared

-- Where an operation's task runs: an own session when it has settings of its own.
local function session_of(self)
  if not self.configuration and not self.security_policy and self.should_use_credential_storage then
    shared = shared or session.new(nil, transfer.delegate)
    return shared
  end
  local own = rawget(self, "_session")
  if own then return own end
  local configuration = require "http.configuration"
  local fields = configuration.copy(self.configuration)
  if self.security_policy then fields.security_policy = self.security_policy end
  if not self.should_use_credential_storage then fields.credential_storage = false end
  own = session.new(fields, transfer.delegate)
  rawset(self, "_session", own)
  return own
end

-- Life ---------------------------------------------------------------------------------------------------------------

local function check_receiver(value, name) options.receiver(value, Operation, "operation:" .. name) end

local function finish(self, err)
  self._state, self._task = "finished", nil
  rawset(self, "_error", err)
  if not err and self.response_serializer then
    local value, problem = self.response_serializer:object(transfer.whole_response(self))
    rawset(self, "_object", value)
    rawset(self, "_error", problem)
  end
  local own = rawget(self, "_session")
  if own then own:finish_tasks_and_invalidate() end
  notifications.post("operation_did_finish", self)
  local completion = self.completion
  local ok, problem = true, nil
  if completion then ok, problem = xpcall(completion, debug.traceback, self) end
  fibers.complete(self._gate)
  if not ok then require("httpscript.core").uncaught(tostring(problem)) end
end

local function begin(self)
  self._state = "executing"
  transfer.begin(self, session_of(self), finish)
end

-- op:start(): sends the request; nothing when it was started before.
function methods:start()
  check_receiver(self, "start")
  if self._state ~= "ready" then return end
  notifications.post("operation_did_start", self)
  begin(self)
end

-- op:pause(): ends the transfer and keeps what has been received.
function methods:pause()
  check_receiver(self, "pause")
  if self._state ~= "executing" then return end
  self._state = "paused"
  transfer.stop(self)
  notifications.post("operation_did_pause", self)
end

-- op:resume(): goes on after a pause.
function methods:resume()
  check_receiver(self, "resume")
  if self._state ~= "paused" then return end
  notifications.post("operation_did_resume", self)
  begin(self)
end

-- op:cancel(): ends it with `cancelled`; harmless at any time.
function methods:cancel()
  check_receiver(self, "cancel")
  if self._state == "finished" or self._cancelled then return end
  self._cancelled = true
  if self._task then return self._task:cancel() end
  fibers.run(function() finish(self, errors.cancelled("the operation was cancelled")) end)
end

-- op:wait() yields -> the operation | nil, err.
function methods:wait()
  check_receiver(self, "wait")
  if not self._gate.done then
    fibers.require_yieldable()
    fibers.wait_for(self._gate)
  end
  if self.error then return nil, self.error end
  return self
end

-- op:copy() -> an operation for the same request with the same settings, ready to start.
function methods:copy()
  check_receiver(self, "copy")
  local settings = {}
  for name in next, OPTIONS do settings[name] = rawget(self, name) end
  return new(self._request, settings)
end

-- Storing ------------------------------------------------------------------------------------------------------------

-- op:encode() -> a blob that operation.decode takes: the request without secrets, and what has been received. nil, err
-- where the request's body is a stream.
function methods:encode()
  check_receiver(self, "encode")
  return require("http.operation_storage").encode(self)
end

-- operation.decode(blob [, options]) -> operation | nil, err. One that was under way is paused: `resume` goes on.
function operation.decode(blob, settings)
  options.expect(blob, "string", "argument #1 of operation.decode")
  local stored, err = require("http.operation_storage").decode(blob)
  if not stored then return nil, err end
  local made = new(stored.request, settings)
  made._state = stored.state
  if stored.state == "finished" then made._gate.done = true end
  if stored.response then transfer.restore(made, stored.response, stored.data) end
  return made
end

-- Batches ------------------------------------------------------------------------------------------------------------

local BATCH = { limit = "integer", progress = "function", completion = "function" }
local Batch = { __name = "http.operation.batch" }
Batch.__index = Batch

-- batch:wait() yields until all operations are finished -> the operations.
function Batch:wait()
  options.receiver(self, Batch, "batch:wait")
  local ok, err = self._job:wait()
  if err then return nil, err end
  return ok
end

-- batch:cancel(): cancels those that are not finished.
function Batch:cancel()
  options.receiver(self, Batch, "batch:cancel")
  for _, one in ipairs(self.operations) do one:cancel() end
end

-- operation.batch(operations [, { limit, progress, completion }]) -> batch: starts them, at most `limit` at once.
function operation.batch(list, given)
  options.expect(list, "table", "argument #1 of operation.batch")
  for _, one in ipairs(list) do options.receiver(one, Operation, "an item of operation.batch") end
  given = options.check(given, BATCH, "argument #2 of operation.batch")
  if given.limit and given.limit < 1 then misuse("option 'limit' must be at least 1") end
  local finished = 0
  local function run(one)
    one:start()
    if not one._gate.done then fibers.wait_for(one._gate) end
    finished = finished + 1
    if given.progress then given.progress(finished, #list) end
  end
  local batch = setmetatable({ operations = list }, Batch)
  batch._job = fibers.spawn(function()
    if #list > 0 then require "http.map"(list, given.limit or #list, run) end
    if given.completion then given.completion(list) end
    return list
  end)
  return batch
end

return operation
