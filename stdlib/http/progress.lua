-- Progress for people: bars on a terminal, plain lines at intervals where the output is a log, nothing when quiet.
--
-- A display owns some lines at the bottom of the output, one for each bar under way. A bar that is done is written a
-- last time, above those that go on. Only what the text is made of is decided here: http.progress_text has the words.

local options = require "http.options"
local text = require "http.progress_text"

local progress = {}

-- Bars that are shown at once; the others are counted.
local MAX_LINES = 12
-- Over how many seconds the rate is taken, about.
local RATE_SPAN = 3

-- Bars ---------------------------------------------------------------------------------------------------------------

local Bar = { __name = "http.progress.bar" }
Bar.__index = Bar

function Bar:__tostring() return "http.progress.bar: " .. text.plain(self, self._display:_now()) end

-- The rate follows the transfer, older seconds counting less and less.
local function take_rate(self, received, now)
  local span = now - self._sampled_at
  if span < 0.05 then return end
  local current = (received - self._sampled) / span
  if current < 0 then
    -- It began anew (a repeated request).
    self.rate, self._sampled, self._sampled_at = nil, received, now
    return
  end
  local weight = 1 - math.exp(-span / RATE_SPAN)
  self.rate = self.rate and self.rate + weight * (current - self.rate) or current
  self._sampled, self._sampled_at = received, now
end

-- bar:update(received [, expected]): bytes so far and in all (-1: unknown). A bar can be called likewise, so that it
-- serves as the option `progress` of a call.
function Bar:update(received, expected)
  options.receiver(self, Bar, "bar:update")
  options.expect(received, "number", "argument #1 of bar:update")
  options.expect(expected, "number|nil", "argument #2 of bar:update")
  if self.done then return end
  local now = self._display:_now()
  take_rate(self, received, now)
  self.received = received
  if expected then self.total = expected >= 0 and expected or nil end
  self._display:_changed(now)
end

Bar.__call = Bar.update

local function finish(self, note)
  if self.done then return end
  self.done, self.note = true, note
  self._display:_finished(self)
end

-- bar:finish([note]): the transfer is done; the bar is written a last time.
function Bar:finish(note)
  options.receiver(self, Bar, "bar:finish")
  finish(self, note)
end

-- bar:fail(err): the same for a transfer that failed.
function Bar:fail(err)
  options.receiver(self, Bar, "bar:fail")
  self.failed = true
  finish(self, type(err) == "table" and err.message or tostring(err))
end

-- Displays -----------------------------------------------------------------------------------------------------------

local Display = { __name = "http.progress.display" }
Display.__index = Display

local DISPLAY = {
  output = "userdata|table|function", terminal = "boolean", columns = "integer|function", interval = "number",
  log_interval = "number", quiet = "boolean", clock = "function",
}

local function writer(output)
  if type(output) == "function" then return output end
  return function(piece)
    output:write(piece)
    if output.flush then output:flush() end
  end
end

-- progress.display([options]) -> display. Without options: standard error, as wide as the terminal.
function progress.display(given)
  given = options.check(given, DISPLAY, "the options of a display")
  local terminal = require "http.terminal"
  local is_terminal = given.terminal
  if is_terminal == nil then is_terminal = given.output == nil and terminal.is_tty(2) end
  local columns = given.columns or function() return terminal.columns(2) end
  if type(columns) == "number" then
    local width = columns
    columns = function() return width end
  end
  return setmetatable({
    _write = writer(given.output or io.stderr), _is_terminal = is_terminal, _columns = columns,
    _interval = is_terminal and (given.interval or 0.1) or (given.log_interval or 10), _quiet = given.quiet or false,
    _clock = given.clock or require("httpscript.core").now, _bars = {}, _drawn = 0, _shown_at = false,
  }, Display)
end

function Display:_now() return self._clock() end

local BAR = { label = "string", total = "integer" }

-- display:bar{ label, total } -> bar.
function Display:bar(given)
  options.receiver(self, Display, "display:bar")
  given = options.check(given, BAR, "the options of a bar")
  local now = self:_now()
  if not self._shown_at and not self._is_terminal then self._shown_at = now end
  local bar = setmetatable({
    label = text.printable(given.label or ""), total = given.total, received = 0, done = false, started = now,
    _display = self, _sampled = 0, _sampled_at = now,
  }, Bar)
  table.insert(self._bars, bar)
  self:_changed(now)
  return bar
end

-- The escape sequences that take what is drawn away, and leave the cursor where it began.
local function erased(self)
  if self._drawn == 0 then return "" end
  local up = ("\27[%dF\27[J"):format(self._drawn)
  self._drawn = 0
  return up
end

local function drawn(self, now)
  local width, lines = self._columns() - 1, {}
  for index, bar in ipairs(self._bars) do
    if index > MAX_LINES then
      lines[#lines + 1] = text.cut(("and %d more"):format(#self._bars - MAX_LINES), width) .. "\n"
      break
    end
    lines[#lines + 1] = text.bar(bar, now, width) .. "\n"
  end
  self._drawn = #lines
  return table.concat(lines)
end

function Display:_changed(now)
  if self._quiet or self._shown_at and now - self._shown_at < self._interval then return end
  self._shown_at = now
  if self._is_terminal then return self._write(erased(self) .. drawn(self, now)) end
  for _, bar in ipairs(self._bars) do self._write(text.plain(bar, now) .. "\n") end
end

function Display:_finished(bar)
  for index, one in ipairs(self._bars) do
    if one == bar then table.remove(self._bars, index) end
  end
  if self._quiet then return end
  local now = self:_now()
  if not self._is_terminal then return self._write(text.plain(bar, now) .. "\n") end
  local last = text.bar(bar, now, self._columns() - 1) .. "\n"
  self._write(erased(self) .. last .. drawn(self, now))
end

-- display:print(line): a line of text above the bars.
function Display:print(line)
  options.receiver(self, Display, "display:print")
  options.expect(line, "string", "argument #1 of display:print")
  if self._quiet then return end
  self._write(erased(self) .. line .. "\n" .. (self._is_terminal and drawn(self, self:_now()) or ""))
end

-- display:close(): takes bars that are not done away.
function Display:close()
  options.receiver(self, Display, "display:close")
  self._bars = {}
  if not self._quiet and self._drawn > 0 then self._write(erased(self)) end
end

-- The shared display -------------------------------------------------------------------------------------------------

local shared
local is_quiet = false

-- progress.quiet(flag): whether the shared display shows nothing.
function progress.quiet(flag)
  options.expect(flag, "boolean", "argument #1 of progress.quiet")
  is_quiet = flag
  if shared then shared._quiet = flag end
end

-- progress.bar{ label, total } -> bar, on the display that all of the script's transfers share.
function progress.bar(given)
  shared = shared or progress.display { quiet = is_quiet }
  return shared:bar(given)
end

return progress
