---@meta http.retry

---When to try again. Calls use it by themselves (the option `retry`).
local retry = {}

---Makes a policy.
---@param option http.retry.options|integer|true true for the defaults, a number for the limit.
---@return http.retry
function retry.new(option) end

---Reads a Retry-After field.
---@param field string A number of seconds, or a date.
---@param now number Unix seconds.
---@return number|nil seconds
function retry.after(field, now) end

---What is tried again, and when. A `sink` gets the body of one answer only: see `http.options`.
---@class http.retry.options
---@field limit? integer Attempts after the first (default 3).
---@field statuses? integer[] Default 408, 425, 429, 500, 502, 503, 504.
---@field methods? string[] Default: the idempotent ones (GET, HEAD, OPTIONS, TRACE, PUT, DELETE).
---@field backoff? number|fun(attempt: integer): number Seconds before the second attempt (default 0.5), doubled for each further one up to a minute and shortened at random by up to half; or a function, whose answer is taken as it is. A Retry-After of the server counts instead.
---@field max_elapsed? number Seconds since the first attempt began; a wait that would end later is not begun (default 300).

---A policy.
---@class http.retry
local policy = {}

---Whether to try again, and when.
---@param request http.request What was sent.
---@param attempts integer How often so far.
---@param elapsed number Seconds since the first attempt began.
---@param response http.response|nil
---@param err http.error|nil
---@return number|nil seconds nil for not again.
---@return "outcome"|"limit"|"method"|"body"|"max_elapsed"|nil reason Why not.
function policy:next(request, attempts, elapsed, response, err) end

return retry
