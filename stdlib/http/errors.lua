-- Error objects: what every function of the standard library returns as the second value.
--
-- Fields: domain, code, message, and where they apply url, task, underlying { source, code, message }, response, value,
-- resume_data, line, column, position. tostring() is one line for people.

local errors = {}

local Error = { __name = "http.error" }

-- Resume data is kept for who looks at it.
function Error.__index(self, name)
  local part = name == "resume_data" and rawget(self, "_part")
  if part then return part:claim() end
  return Error[name]
end

-- A URL that is none may hold anything; the line stays one line.
local function printable(url)
  return (url:gsub("%c", function(byte) return ("\\x%02x"):format(byte:byte()) end))
end

function Error:__tostring()
  local line = tostring(self.message):match("^[^\r\n]*")
  local text = self.code .. ": " .. line
  if self.url and not text:find(self.url, 1, true) then text = text .. " (" .. printable(self.url) .. ")" end
  return text
end

function Error.__concat(a, b)
  return tostring(a) .. tostring(b)
end

-- Makes a table with at least domain, code and message an error object.
function errors.new(fields)
  return setmetatable(fields, Error)
end

-- Whether a value is an error object of this library.
function errors.is(value)
  return getmetatable(value) == Error
end

function errors.cancelled(message)
  return errors.new { domain = "url", code = "cancelled", message = message or "cancelled" }
end

-- A raised value as a text for people; its __tostring may itself fail.
local function text_of(value)
  local ok, text = pcall(tostring, value)
  local meta = debug.getmetatable(value)
  if ok and (type(value) ~= "table" or meta and rawget(meta, "__tostring") ~= nil) then return text end
  return ("(error object is a %s value)"):format(type(value))
end

-- The message handler for xpcall around a script's function: the value itself, and where it was raised.
function errors.capture(value)
  return { value = value, trace = debug.traceback("", 2):gsub("^\n", "") }
end

-- What xpcall with this handler gave. Out of memory and stack overflow come without it, as a text.
function errors.captured(raised)
  return type(raised) == "table" and raised or { value = raised, trace = "" }
end

-- A value raised by a script's function, as an error object: an error object passes as it is.
function errors.raised(value, code, trace)
  if errors.is(value) then return value end
  local message = text_of(value)
  if trace then message = message .. "\n" .. trace end
  return errors.new { domain = "script", code = code, message = message, value = value }
end

return errors
