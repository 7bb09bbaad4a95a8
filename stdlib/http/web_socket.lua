-- WebSocket tasks: messages to and from a server that agrees to exchange them (RFC 6455).

local core = require "httpscript.core"
local active = require "http.active"
local channel = require "http.channel"
local events = require "http.events"
local fibers = require "http.fibers"
local options = require "http.options"
local response = require "http.response"
local settings_of = require "http.settings"
local steps = require "http.steps"
local task = require "http.task"

local misuse = options.misuse

local web_socket = {}

-- `maximum_message_size`: bytes; more is an error.
local methods = { maximum_message_size = 1024 * 1024, close_code = 0 }
local WebSocketTask = task.subclass(methods)

local function check_receiver(value, name)
  if task.is(value) and value.kind == "web_socket" then return end
  options.receiver(value, WebSocketTask, "task:" .. name)
end

-- What the core is told beside the request.
settings_of.named.web_socket = function(_, given) return given.web_socket end

-- Making ------------------------------------------------------------------------------------------------------------

local function check_protocols(protocols)
  if protocols == nil then return "" end
  options.expect(protocols, "string|table", "argument #2 of web_socket_task (the protocols)")
  local list = type(protocols) == "table" and protocols or { protocols }
  for _, name in ipairs(list) do
    if type(name) ~= "string" or not name:find("^[%w!#$%%&'*+.^_`|~-]+$") then
      misuse("a WebSocket protocol must be a token, not %s", tostring(name))
    end
  end
  return table.concat(list, ",")
end

-- Hands the task to the core as a request of HTTP's.
local function start(self)
  local size = self.maximum_message_size
  if math.type(size) ~= "integer" or size < 1 then misuse("'maximum_message_size' must be a number of bytes") end
  self.settings.web_socket = ("%d %s"):format(size, self.settings.protocols)
  return task.start_transfer(self)
end
methods._starter = start

-- `req`: a request of its own, whose URL may be ws: or wss:.
function web_socket.new(session, req, protocols)
  req.url = req.url:gsub("^[Ww][Ss]([Ss]?):", "http%1:")
  return session:_task("web_socket", req, { protocols = check_protocols(protocols) }, nil, WebSocketTask)
end

-- A message that came for one who waits no more is there for the next.
local function keep(own, record)
  if record.data then table.insert(own.backlog, 1, record.data) end
end

-- Made when it is first needed, which may be in did_create_task.
local function channel_of(self)
  local own = self._channel
  if own then return own end
  own = channel.new(self, core.web_socket_withdraw, keep)
  own.backlog = {}
  self._channel = own
  if self.done or self.completing then own:finish(self.error) end
  return own
end

-- Messages ----------------------------------------------------------------------------------------------------------

local MESSAGE = { data = "string", text = "string" }

-- The bytes of a message, and whether they are text.
local function read_message(message)
  if type(message) ~= "string" then
    options.expect(message, "table", "argument #1 of send (the message)")
    options.check(message, MESSAGE, "the message")
    if (message.data == nil) == (message.text == nil) then misuse("a message needs 'data' or 'text'") end
    if message.data then return message.data, false end
    message = message.text
  end
  if not utf8.len(message) then misuse("a text message must be UTF-8; other bytes are sent as { data = ... }") end
  return message, true
end

local function perform(self, ask, kind)
  local own = channel_of(self)
  fibers.require_yieldable()
  if own.ended then return nil, own:closed("the WebSocket is closed") end
  local record = own:perform(ask, kind)
  if record.error then return nil, record.error end
  return record.data or true
end

-- task:send(text) or task:send{ data = bytes } yields -> true | nil, err.
function methods:send(message)
  check_receiver(self, "send")
  local bytes, is_text = read_message(message)
  return perform(self, function(number, id) core.web_socket_send(number, id, bytes, is_text) end)
end

-- task:receive() yields -> { type, data } | nil, err.
function methods:receive()
  check_receiver(self, "receive")
  local own = channel_of(self)
  if #own.backlog > 0 then return table.remove(own.backlog, 1) end
  return perform(self, core.web_socket_receive, "receive")
end

-- task:ping() yields until the server has answered -> true | nil, err.
function methods:ping()
  check_receiver(self, "ping")
  return perform(self, core.web_socket_ping)
end

local function check_close(code, reason)
  options.expect(code, "integer", "argument #1 of cancel (the close code)")
  local is_known = code >= 1000 and code <= 1014 and code ~= 1004 and code ~= 1005 and code ~= 1006
  if not is_known and not (code >= 3000 and code <= 4999) then misuse("%d is no close code that may be sent", code) end
  options.expect(reason, "string", "argument #2 of cancel (the reason)")
  if #reason > 123 or not utf8.len(reason) then misuse("the reason must be UTF-8 of at most 123 bytes") end
end

-- task:cancel([code [, reason]]): with a code, the server is told, and the task ends well once it has answered; without
-- one, as any other task's.
function methods:cancel(code, reason)
  check_receiver(self, "cancel")
  if code == nil then return task.methods.cancel(self) end
  check_close(code, reason or "")
  if self.state == "completed" or self.state == "canceling" then return end
  if not (self._channel and self._channel.number) then return task.methods.cancel(self) end
  self.state, self.is_closing = "canceling", true
  core.web_socket_close(self.number, code, reason or "")
end

-- Events ------------------------------------------------------------------------------------------------------------

events[events.WEB_SOCKET_OPENED] = function(number, protocol, ...)
  local self = active.find(number)
  if not self then return end
  self.response = response.make(...)
  self.protocol = protocol ~= "" and protocol or nil
  channel_of(self):begin(number)
  if steps.has_handler(self, "did_open") then
    steps.perform_later(self, steps.call_delegate, "did_open", self.protocol)
  end
end

events[events.WEB_SOCKET_CLOSED] = function(number, code, reason)
  local self = active.find(number)
  if not self then return end
  self.close_code, self.close_reason = code, reason
  if steps.has_handler(self, "did_close") then
    steps.perform_later(self, steps.call_delegate, "did_close", code, reason)
  end
end

-- Whoever has waited longest for a message, or nil.
local function first_waiting(own)
  local first
  for id, record in pairs(own.operations) do
    if record.prefix == "receive" and (not first or id < first) then first = id end
  end
  return first
end

-- A message is for who has waited longest, whichever call it answers: that one may have been given up meanwhile, or
-- have come when the core had seen the end already.
events[events.WEB_SOCKET_MESSAGE] = function(number, id, err, data, is_text)
  local own = channel.find(number)
  if not own then return end
  if data then id = first_waiting(own) end
  local record = id and own:take(id)
  local message = data and { type = is_text and "text" or "binary", data = data }
  if record then
    own:settle(record, err, message)
  elseif message then
    table.insert(own.backlog, message)
  end
end

events[events.WEB_SOCKET_DONE] = function(number, id, err)
  local own = channel.find(number)
  local record = own and own:take(id)
  if record then own:settle(record, err) end
end

return web_socket
