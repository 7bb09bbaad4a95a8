-- Dates as HTTP and cookies write them (RFC 9110 §5.6.7, RFC 6265 §5.1.1).

local native = require "httpscript.date"
local options = require "http.options"

local dates = {}

-- dates.parse(text) -> seconds | nil.
function dates.parse(text)
  return native.parse(options.expect(text, "string", "argument #1 of http.parse_date"))
end

-- dates.format(seconds) -> "Sun, 06 Nov 1994 08:49:37 GMT".
function dates.format(seconds)
  return native.format(options.expect(seconds, "number", "argument #1 of http.format_date"))
end

return dates
