-- Asks again when a server is overloaded or a connection breaks, as patiently as the server wishes.
--
-- Usage: httpscript retry.lua URL [LIMIT]
--
-- Against httpbin: `retry.lua http://127.0.0.1:8000/status/503 2` asks three times (with pauses of about 0.1 and 0.2
-- seconds), prints "503 after 3 attempts" and exits with 1; `…/status/200` prints "200 after 1 attempts".

local http = require "http"

local url, limit = arg[1], math.tointeger(tonumber(arg[2] or 3))
if not url or not limit then
  io.stderr:write("usage: retry.lua URL [LIMIT]\n")
  os.exit(2)
end

-- A delegate that only counts the tasks: every attempt is one.
local attempts = 0
local session = http.session(http.configuration.ephemeral(), {
  did_create_task = function() attempts = attempts + 1 end,
})

local response, err = session:get(url, {
  retry = {
    limit = limit,
    -- Seconds before the second attempt; each further pause is twice as long. A Retry-After of the server's counts
    -- instead.
    backoff = 0.1,
    -- After so many seconds no further attempt is begun.
    max_elapsed = 60,
    -- The defaults, written out: what may pass, and what may be repeated without doing a thing twice.
    statuses = { 408, 425, 429, 500, 502, 503, 504 },
    methods = { "GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE" },
  },
})

print(("%s after %d attempts"):format(response and response.status or err.code, attempts))
if not response or response.status >= 400 then os.exit(1) end
