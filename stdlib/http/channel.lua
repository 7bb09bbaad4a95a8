-- Channels: the reads and writes of one stream, or the messages of one WebSocket, as what fibers can wait for.
--
-- A channel has the stream's number, from when it is begun until its end. Its operations are numbered; what is asked
-- for before the beginning is kept until then.

local core = require "httpscript.core"
local errors = require "http.errors"
local events = require "http.events"
local fibers = require "http.fibers"
local options = require "http.options"

local misuse = options.misuse

local channel = {}

local Channel = { __name = "http.channel" }
Channel.__index = Channel

-- By number; what nobody holds any more is of no interest to anybody.
local channels = setmetatable({}, { __mode = "v" })

-- A stream whose input and output objects are both gone is closed by the collector.
function Channel:__gc()
  if self.number and self.is_captured then core.cancel(self.number) end
end

-- Bytes that came for a read that is not waited for any more are there for the next.
local function keep_bytes(self, record)
  self.kept = (record.prefix or "") .. (record.data or "") .. self.kept
end

-- `task`: what errors name. `withdraw(number, id)` takes an operation back; `keep(channel, record)` keeps what it got.
function channel.new(task, withdraw, keep)
  return setmetatable({
    task = task, withdraw = withdraw or core.stream_withdraw, keep = keep or keep_bytes, number = false,
    operations = {}, last = 0, early = {}, kept = "", is_captured = false, ended = false, failure = nil,
    is_read_closed = false,
  }, Channel)
end

-- The channel of a number, or nil.
function channel.find(number) return channels[number] end

-- The stream has begun: what was asked for before goes to the core.
function Channel:begin(number)
  self.number = number
  channels[number] = self
  local early = self.early
  self.early = {}
  for _, ask in ipairs(early) do ask() end
end

-- Runs `ask` when there is a number.
local function submit(self, ask)
  if self.number then return ask() end
  if not self.ended then self.early[#self.early + 1] = ask end
end

-- The error for what comes too late: that of the end, or one of these words.
function Channel:closed(message)
  local err = self.failure or errors.new { domain = "url", code = "network_connection_lost", message = message }
  err.task = err.task or self.task
  return err
end

-- Begins an operation and waits for its end. `ask(number, id)` hands it to the core. `prefix`: bytes it has already.
function Channel:perform(ask, prefix)
  self.last = self.last + 1
  local record = { id = self.last, done = false, prefix = prefix }
  self.operations[record.id] = record
  submit(self, function() if self.operations[record.id] then ask(self.number, record.id) end end)
  local ok, reason = pcall(fibers.wait_for, record)
  if ok then return record end
  self.operations[record.id] = nil
  self:keep(record)
  submit(self, function() self.withdraw(self.number, record.id) end)
  error(reason, 0)
end

-- The operation of a number, which is then over.
function Channel:take(id)
  local record = self.operations[id]
  self.operations[id] = nil
  return record
end

-- Wakes who waits for an operation.
function Channel:settle(record, err, data, at_end)
  record.data, record.at_end = data, at_end
  if err then
    record.error = errors.new(err)
    record.error.task = self.task
  end
  fibers.complete(record)
end

-- Nothing more can be read or written.
function Channel:finish(err)
  if self.ended then return end
  self.number, self.ended, self.early = false, true, {}
  self.failure = err and (errors.is(err) and err or errors.new(err)) or nil
  for id, record in pairs(self.operations) do
    self.operations[id] = nil
    record.error = self:closed("the stream has ended")
    fibers.complete(record)
  end
end

-- Bytes -------------------------------------------------------------------------------------------------------------

local READ = { min = "integer", max = "integer", timeout = "number" }
local WRITE = { timeout = "number" }
local USUAL_MAXIMUM = 64 * 1024

local function check_timeout(given)
  if given.timeout and not (given.timeout > 0) then misuse("option 'timeout' must be more than 0 seconds") end
end

local function read_limits(given)
  given = options.check(given, READ, "the argument of read")
  local min = given.min or 1
  local max = given.max or math.max(min, USUAL_MAXIMUM)
  if min < 0 then misuse("option 'min' must not be negative") end
  if max < 1 or max < min then misuse("option 'max' must be at least 1 and not less than 'min'") end
  check_timeout(given)
  return min, max, given.timeout
end

-- What was kept answers a read where that is enough, or all there will be.
local function read_kept(self, min, max)
  local kept = self.kept
  if #kept >= min and #kept > 0 then
    self.kept = kept:sub(max + 1)
    return kept:sub(1, max), self.ended and not self.failure and self.kept == ""
  end
  if not self.ended then return nil end
  if self.failure or self.is_read_closed then return nil, self:closed("the stream is closed for reading") end
  self.kept = ""
  return kept, true
end

-- channel:read{ min, max, timeout } yields -> data, at_eof | nil, err.
function Channel:read(given)
  local min, max, timeout = read_limits(given)
  fibers.require_yieldable()
  local data, rest = read_kept(self, min, max)
  if data or rest then return data, rest end
  local kept = self.kept
  self.kept = ""
  local record = self:perform(function(number, id)
    core.stream_read(number, id, math.max(min - #kept, 0), max - #kept, timeout)
  end, kept)
  if record.error then
    self:keep(record)
    return nil, record.error
  end
  return kept .. record.data, record.at_end
end

-- channel:write(data, { timeout }) yields -> true | nil, err.
function Channel:write(data, given)
  options.expect(data, "string", "argument #1 of write (the data)")
  given = options.check(given, WRITE, "argument #2 of write")
  check_timeout(given)
  fibers.require_yieldable()
  if self.ended then return nil, self:closed("the stream is closed for writing") end
  local record = self:perform(function(number, id) core.stream_write(number, id, data, given.timeout) end)
  if record.error then return nil, record.error end
  return true
end

-- One of the things that take their turn among reads and writes.
function Channel:tell(word)
  if self.ended then return end
  if word == "close_read" then self.is_read_closed = true end
  submit(self, function() core.stream_do(self.number, word) end)
end

events[events.STREAM_READ] = function(number, id, total, err, data, at_end)
  local self = channels[number]
  if not self then return end
  if not self.is_captured then self.task.count_of_bytes_received = total end
  local record = self:take(id)
  if record then return self:settle(record, err, data, at_end) end
  if data then self.kept = self.kept .. data end
end

events[events.STREAM_WRITTEN] = function(number, id, total, err)
  local self = channels[number]
  if not self then return end
  if not self.is_captured then self.task.count_of_bytes_sent = total end
  local record = self:take(id)
  if record then self:settle(record, err) end
end

return channel
