-- Dates as HTTP and cookies write them.
--
-- Reading follows the cookie algorithm (RFC 6265 5.1.1), which takes the three forms of HTTP (RFC 9110 5.6.7) and what
-- servers make of them. Times are GMT; only where a date looks like mail's ("6 Nov 1994 08:49:37 +0100") does a zone
-- count, since the makers of cookies write zones that they do not mean.

local dates = {}

local MONTHS = { "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec" }
local DAYS = { [0] = "Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat" }

local MONTH_OF = {}
for number, name in ipairs(MONTHS) do
  MONTH_OF[name:lower()] = number
end

-- Hours east of Greenwich of the zones that RFC 822 names, and their neighbours.
local ZONES = {
  GMT = 0, UT = 0, UTC = 0, Z = 0, WET = 0, BST = 1, WEST = 1, CET = 1, MET = 1, CEST = 2, MEST = 2, EET = 2, EEST = 3,
  EST = -5, EDT = -4, CST = -6, CDT = -5, MST = -7, MDT = -6, PST = -8, PDT = -7,
}

local DAYS_IN = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 }

local function is_leap(year) return year % 4 == 0 and (year % 100 ~= 0 or year % 400 == 0) end

-- Days from 1 January 1970 to a date of the Gregorian calendar.
local function days_since_epoch(year, month, day)
  -- The year begins in March, so that the leap day is its last.
  local y = month > 2 and year or year - 1
  local era = y // 400
  local of_era = y - era * 400
  local of_year = (153 * (month > 2 and month - 3 or month + 9) + 2) // 5 + day - 1
  return era * 146097 + of_era * 365 + of_era // 4 - of_era // 100 + of_year - 719468
end

-- Each finds one field in a token; the first token that fits gives it.
local FIELDS = {
  {
    "time", function(token)
      local hour, minute, second, rest = token:match("^(%d%d?):(%d%d?):(%d%d?)(.*)$")
      if hour and not rest:find("^%d") then return { tonumber(hour), tonumber(minute), tonumber(second) } end
      return nil
    end,
  },
  { "day", function(token) return tonumber(token:match("^(%d%d?)%f[%D]")) end },
  { "month", function(token) return MONTH_OF[token:sub(1, 3):lower()] end },
  {
    "year", function(token)
      local digits = token:match("^(%d%d%d?%d?)%f[%D]")
      local year = tonumber(digits)
      if year and #digits == 2 then year = year + (year < 70 and 2000 or 1900) end
      return year
    end,
  },
}

local function read_fields(text)
  local found = {}
  -- Letters, digits, colons and whatever is not ASCII; all else separates.
  for token in text:gmatch("[%w:\127-\255\1-\8\10-\31]+") do
    for _, field in ipairs(FIELDS) do
      local name, read = field[1], field[2]
      local value = not found[name] and read(token)
      if value then
        found[name] = value
        break
      end
    end
  end
  return found
end

-- Seconds to take off for the zone behind the time, where it is meant; nil for a zone that nobody knows.
local function zone_offset(text)
  if text:find("%d%-%a%a%a") then return 0 end
  local rest = text:match("%d%d?:%d%d?:%d%d?%s*(.*)$") or ""
  rest = rest:gsub("^%d%d%d%d%s*", "")
  local sign, hours, minutes = rest:match("^([+-])(%d%d):?(%d%d)$")
  if sign then
    local offset = tonumber(hours) * 3600 + tonumber(minutes) * 60
    return sign == "-" and -offset or offset
  end
  local name = rest:match("^(%a+)$")
  local zone = name and ZONES[name:upper()]
  if name and not zone then return nil end
  return (zone or 0) * 3600
end

--- Unix seconds, or nil for a text that is no date.
function dates.parse(text)
  local found = read_fields(text)
  local time, day, month, year = found.time, found.day, found.month, found.year
  if not (time and day and month and year) or year < 1601 then return nil end
  local days = month == 2 and is_leap(year) and 29 or DAYS_IN[month]
  -- A second of 60 is a leap second, which RFC 9110 allows.
  if day < 1 or day > days or time[1] > 23 or time[2] > 59 or time[3] > 60 then return nil end
  local offset = zone_offset(text)
  if not offset then return nil end
  return days_since_epoch(year, month, day) * 86400 + time[1] * 3600 + time[2] * 60 + time[3] - offset
end

--- The date as HTTP writes it: "Sun, 06 Nov 1994 08:49:37 GMT".
function dates.format(seconds)
  local date = os.date("!*t", math.floor(seconds))
  return ("%s, %02d %s %04d %02d:%02d:%02d GMT"):format(DAYS[date.wday - 1], date.day, MONTHS[date.month], date.year,
    date.hour, date.min, date.sec)
end

return dates
