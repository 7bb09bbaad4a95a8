--- When a failed attempt is worth another one, and after how long. Pure: the caller sleeps and sends.

local options = require "http.options"

local retry = {}

local DEFAULT_STATUSES = { 408, 425, 429, 500, 502, 503, 504 }

-- RFC 9110 9.2.2: these may be repeated without asking what they did the first time.
local IDEMPOTENT = { "GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE" }

-- What may be gone in a moment. Not here: what the caller decided (cancelled), what is wrong with the request
-- (bad_url), and what a second try would find again (certificates, redirects, content that cannot be decoded).
local TRANSIENT = {
  timed_out = true, cannot_find_host = true, cannot_connect_to_host = true, network_connection_lost = true,
  not_connected_to_internet = true,
}

local KNOWN = {
  limit = "integer", statuses = "list", methods = "list", backoff = "number|function", max_elapsed = "number",
}

local MAX_DELAY = 60

local function set(list)
  local result = {}
  for _, item in ipairs(list) do
    result[type(item) == "string" and item:upper() or item] = true
  end
  return result
end

local Policy = {}
Policy.__index = Policy

--- Makes a policy of the `retry` option.
-- true: the defaults; a number: only the limit; a table of: `limit` (attempts after the first, default 3),
-- `statuses`, `methods` (lists), `backoff` (seconds before the second attempt, doubled for each further one up to a
-- minute and varied by half; or function(n) -> seconds, taken as it is), `max_elapsed` (seconds from the first attempt's
-- start; a wait that would end later is not begun; default 300).
-- nil and false give nil. Misuse raises at the caller's `level`.
function retry.policy(option, level)
  level = (level or 1) + 1
  if option == nil or option == false then return nil end
  if option == true then option = {} end
  if math.type(option) == "integer" then option = { limit = option } end
  options.check(option, KNOWN, "retry", level)
  local function positive(name, default)
    local value = option[name]
    if value == nil then return default end
    if value < 0 or value ~= value then error(("bad option '%s' (it is negative)"):format(name), level + 1) end
    return value
  end
  local backoff = option.backoff
  if type(backoff) ~= "function" then backoff = positive("backoff", 0.5) end
  return setmetatable({
    limit = positive("limit", 3),
    max_elapsed = positive("max_elapsed", 300),
    backoff = backoff,
    statuses = set(option.statuses or DEFAULT_STATUSES),
    methods = set(option.methods or IDEMPOTENT),
  }, Policy)
end

--- Retry-After in seconds from `now` (Unix seconds), from a number of seconds or a date; nil when it is neither.
-- `parse_date`: function(text) -> Unix seconds | nil.
function retry.after(field, now, parse_date)
  local seconds = field:match("^%s*(%d+)%s*$")
  if seconds then return tonumber(seconds) + 0.0 end
  local date = parse_date and parse_date(field)
  return date and math.max(0.0, date - now) or nil
end

-- `random`: function() -> [0, 1), for the tests.
function Policy:_backoff(attempt, random)
  if type(self.backoff) == "function" then
    return tonumber(self.backoff(attempt)) or error("retry: 'backoff' must return a number of seconds", 0)
  end
  local delay = math.min(self.backoff * 2.0 ^ (attempt - 1), MAX_DELAY)
  return delay * (0.5 + (random or math.random)() / 2)
end

--- Whether to try again. `attempt` counts the attempts made. `outcome` has `method`, and either `status` (with
-- `retry_after`, the field's value) or `code` (of an error of domain "url"); `elapsed` (seconds since the first
-- attempt began), `replayable` (false: the body cannot be sent again), `now` (Unix seconds), `parse_date`, `random`.
-- Returns the seconds to wait first, or nil and why not.
function Policy:delay(attempt, outcome)
  if attempt > self.limit then return nil, "limit" end
  if outcome.replayable == false then return nil, "body" end
  if not self.methods[outcome.method:upper()] then return nil, "method" end
  if outcome.code then
    if not TRANSIENT[outcome.code] then return nil, "error" end
  elseif not self.statuses[outcome.status] then
    return nil, "status"
  end
  local delay = outcome.retry_after and retry.after(outcome.retry_after, outcome.now or os.time(), outcome.parse_date)
  delay = math.max(0, delay or self:_backoff(attempt, outcome.random))
  if (outcome.elapsed or 0) + delay > self.max_elapsed then return nil, "max_elapsed" end
  return delay
end

return retry
