-- Stream tasks: bytes to and from a host and port.

local core = require "httpscript.core"
local active = require "http.active"
local channel = require "http.channel"
local events = require "http.events"
local fibers = require "http.fibers"
local options = require "http.options"
local scopes = require "http.scopes"
local steps = require "http.steps"
local task = require "http.task"

local misuse = options.misuse

local stream = {}

local methods = {}
local StreamTask = task.subclass(methods)
stream.class = StreamTask

local function check_receiver(value, name)
  if task.is(value) and value.kind == "stream" then return end
  options.receiver(value, StreamTask, "task:" .. name)
end

-- Making ------------------------------------------------------------------------------------------------------------

local PLACE = { service = "table", host = "string", port = "integer" }
local SERVICE = { name = "string", type = "string", domain = "string" }

-- host, port or name, type, domain as a table.
local function read_place(place, port)
  if type(place) == "table" then
    options.check(place, PLACE, "argument #1 of stream_task")
    if not place.service then return read_place(place.host, place.port) end
    local service = options.check(place.service, SERVICE, "'service'")
    for _, name in ipairs { "name", "type" } do
      options.expect(service[name], "string", ("'service.%s'"):format(name))
    end
    return { service.name, service.type, service.domain or "local" }
  end
  options.expect(place, "string", "argument #1 of stream_task (the host)")
  options.expect(port, "integer", "argument #2 of stream_task (the port)")
  if port < 1 or port > 65535 then misuse("the port must be from 1 to 65535") end
  return { place, port }
end

-- Hands the task to the core.
local function start(self)
  if not task.enlist(self) then return end
  local asks = steps.has_handler(self, "session_did_receive_challenge")
    or steps.has_handler(self, "did_receive_challenge")
  core.stream_start(self.number, self.session:_core(), asks,
    steps.has_handler(self, "better_route_discovered"), table.unpack(self.settings.place))
  if self._channel then self._channel:begin(self.number) end
end
methods._starter = start

function stream.new(session, place, port)
  return session:_task("stream", nil, { place = read_place(place, port) }, nil, StreamTask)
end

-- Made when it is first needed, which may be in did_create_task.
local function channel_of(self)
  local own = self._channel
  if own then return own end
  own = channel.new(self)
  self._channel = own
  if self.number then own:begin(self.number) end
  if self.done or self.completing then own:finish(self.error) end
  return own
end

function methods:_result()
  if self.streams then return table.unpack(self.streams) end
  return true
end

function methods:_copy()
  if not self.settings.place then return self.session:data_task(self.original_request) end
  return self.session:_task("stream", nil, self.settings, nil, StreamTask)
end

-- Reading and writing -----------------------------------------------------------------------------------------------

-- task:read{ min, max, timeout } yields -> data, at_eof | nil, err.
function methods:read(given)
  check_receiver(self, "read")
  return channel_of(self):read(given)
end

-- task:write(data [, { timeout }]) yields -> true | nil, err.
function methods:write(data, given)
  check_receiver(self, "write")
  return channel_of(self):write(data, given)
end

for _, name in ipairs { "close_read", "close_write", "start_secure_connection", "stop_secure_connection" } do
  methods[name] = function(self)
    check_receiver(self, name)
    channel_of(self):tell(name)
  end
end

-- task:capture_streams(): once what was asked for before is done, the stream belongs to an input and an output object,
-- and the task is completed.
function methods:capture_streams()
  check_receiver(self, "capture_streams")
  channel_of(self):tell("capture")
end

-- Captured streams --------------------------------------------------------------------------------------------------

local Input = { __name = "http.stream_input" }
Input.__index = Input
local Output = { __name = "http.stream_output" }
Output.__index = Output
stream.input, stream.output = Input, Output

-- input:read{ min, max, timeout } yields -> data, at_eof | nil, err.
function Input:read(given)
  options.receiver(self, Input, "input:read")
  return self.channel:read(given)
end

-- The next line without its end, or what is left; nil at the end.
local function next_line(self)
  while true do
    local stop = self.buffer:find("\n", self.position, true)
    if stop then
      local line = self.buffer:sub(self.position, stop - 1)
      self.position = stop + 1
      return (line:gsub("\r$", ""))
    end
    local data, at_end = self.channel:read()
    if not data then return nil, at_end end
    self.buffer, self.position = self.buffer:sub(self.position) .. data, 1
    if data == "" then
      local rest = self.buffer
      self.buffer = ""
      return rest ~= "" and rest or nil
    end
  end
end

-- input:lines() -> an iterator over lines, which yields; an error ends it and is raised.
function Input:lines()
  options.receiver(self, Input, "input:lines")
  local state = { channel = self.channel, buffer = "", position = 1 }
  return function()
    local line, err = next_line(state)
    if err then error(err, 0) end
    return line
  end
end

-- input:close(): nothing more is read.
function Input:close()
  options.receiver(self, Input, "input:close")
  self.channel:tell("close_read")
end

-- output:write(data [, { timeout }]) yields -> true | nil, err.
function Output:write(data, given)
  options.receiver(self, Output, "output:write")
  return self.channel:write(data, given)
end

-- output:close(): nothing more is written; the other side sees the end.
function Output:close()
  options.receiver(self, Output, "output:close")
  self.channel:tell("close_write")
end

-- Events ------------------------------------------------------------------------------------------------------------

local function step_captured(self)
  steps.call(self, steps.call_delegate, self, "did_become_streams", self.streams[1], self.streams[2])
  if self.failure then self.error = self.failure end
  self.session:_forget(self)
  fibers.complete(self)
end

events[events.STREAM_CAPTURED] = function(number)
  local self = active.take(number)
  if not self then return core.cancel(number) end
  scopes.leave(self.scope, self)
  if self.draining then fibers.stay(self.draining) end
  local own = channel_of(self)
  own.is_captured = true
  self.number, self.state = false, "completed"
  self.streams = { setmetatable({ channel = own }, Input), setmetatable({ channel = own }, Output) }
  steps.perform_last(self, step_captured)
end

events[events.STREAM_CLOSED] = function(number, name)
  local self = active.find(number)
  if self and steps.has_handler(self, name) then steps.perform_later(self, steps.call_delegate, name) end
end

-- The core's last word about a stream that has no task any more.
local completed = events[events.COMPLETED]
events[events.COMPLETED] = function(number, err, ...)
  local own = channel.find(number)
  if own and own.is_captured then own:finish(err) end
  return completed(number, err, ...)
end

return stream
