--- When a failed attempt is worth another one, and after how long. Pure: the caller sleeps and sends.

local dates = require "httpscript.date"
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

local FIELDS = {
  limit = "integer", statuses = "table", methods = "table", backoff = "number|function", max_elapsed = "number",
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

local function not_negative(option, name, default)
  local value = option[name]
  if value == nil then return default end
  if not (value >= 0) then options.misuse("option 'retry.%s' must not be negative", name) end
  return value
end

--- Makes a policy of the `retry` option.
-- true: the defaults; a number: only the limit; a table of: `limit` (attempts after the first, default 3),
-- `statuses`, `methods` (lists), `backoff` (seconds before the second attempt, doubled for each further one up to a
-- minute and shortened at random by up to half; or function(n) -> seconds, taken as it is), `max_elapsed` (seconds from
-- the first attempt's start; a wait that would end later is not begun; default 300).
function retry.new(option)
  if option == true then option = {} end
  if math.type(option) == "integer" then option = { limit = option } end
  options.check(option, FIELDS, "option 'retry'")
  local backoff = option.backoff
  if type(backoff) ~= "function" then backoff = not_negative(option, "backoff", 0.5) end
  return setmetatable({
    limit = not_negative(option, "limit", 3),
    max_elapsed = not_negative(option, "max_elapsed", 300),
    backoff = backoff,
    statuses = set(option.statuses or DEFAULT_STATUSES),
    methods = set(option.methods or IDEMPOTENT),
  }, Policy)
end

--- Retry-After in seconds from `now` (Unix seconds), from a number of seconds or a date; nil when it is neither.
function retry.after(field, now)
  return dates.retry_after(field, now)
end

function Policy:_backoff(attempt)
  if type(self.backoff) == "function" then
    local seconds = self.backoff(attempt)
    return options.expect(seconds, "number", "what 'retry.backoff' returns")
  end
  local delay = math.min(self.backoff * 2.0 ^ (attempt - 1), MAX_DELAY)
  return delay * (1 - math.random() / 2)
end

-- The statuses that are tried again, as a text with spaces between them.
function Policy:_status_text()
  local list = {}
  for status in pairs(self.statuses) do
    if math.type(status) == "integer" then list[#list + 1] = status end
  end
  return table.concat(list, " ")
end

-- Whether the failure may be gone in a moment.
function Policy:_is_transient(response, err)
  if err then return err.domain == "url" and TRANSIENT[err.code] == true end
  return self.statuses[response.status] == true
end

-- A reader function gives its bytes once.
local function is_replayable(request)
  local body = request.body
  return type(body) ~= "function" and not (type(body) == "table" and body.reader)
end

--- Whether to try again, and when.
-- `request`: what was sent (`method`, `body`); `attempts`: how often so far; `elapsed`: seconds since the first began;
-- then the last attempt's response, or nil and its error.
-- Returns the seconds to wait first, or nil and the reason ("limit", "method", "body", "outcome", "max_elapsed").
function Policy:next(request, attempts, elapsed, response, err)
  if not self:_is_transient(response, err) then return nil, "outcome" end
  if attempts > self.limit then return nil, "limit" end
  if not self.methods[request.method:upper()] then return nil, "method" end
  if not is_replayable(request) then return nil, "body" end
  local field = response and response.headers["Retry-After"]
  local delay = field and retry.after(field, os.time())
  delay = math.max(0, delay or self:_backoff(attempts))
  if elapsed + delay > self.max_elapsed then return nil, "max_elapsed" end
  return delay
end

return retry
