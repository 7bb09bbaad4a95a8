local dates = require "http.dates"
local retry = require "http.retry"

return function(t)
  local it, expect = t.it, t.expect

  local GET = { method = "GET" }
  local function response(status, retry_after)
    return { status = status, headers = { ["Retry-After"] = retry_after } }
  end
  local function failure(code, domain) return { domain = domain or "url", code = code } end

  it("repeats what may pass: statuses and broken connections", function()
    local policy = retry.new(true)
    for _, status in ipairs { 408, 425, 429, 500, 502, 503, 504 } do
      expect(policy:next(GET, 1, 0, response(status))):is_between(0.25, 0.5)
    end
    for _, code in ipairs {
      "timed_out", "cannot_find_host", "cannot_connect_to_host", "network_connection_lost", "not_connected_to_internet",
    } do
      expect(policy:next(GET, 1, 0, nil, failure(code))):is_between(0.25, 0.5)
    end
  end)

  it("leaves what will not pass", function()
    local policy = retry.new(true)
    for _, status in ipairs { 200, 304, 400, 401, 404, 501 } do
      expect(select(2, policy:next(GET, 1, 0, response(status)))):equals("outcome")
    end
    for _, code in ipairs { "cancelled", "bad_url", "server_certificate_untrusted", "http_too_many_redirects" } do
      expect(select(2, policy:next(GET, 1, 0, nil, failure(code)))):equals("outcome")
    end
    expect(select(2, policy:next(GET, 1, 0, nil, failure("timed_out", "script")))):equals("outcome")
  end)

  it("repeats only what is idempotent, unless told", function()
    local failed = response(503)
    for _, method in ipairs { "POST", "PATCH", "CONNECT" } do
      expect(select(2, retry.new(true):next({ method = method }, 1, 0, failed))):equals("method")
    end
    for _, method in ipairs { "GET", "HEAD", "PUT", "DELETE", "OPTIONS", "get" } do
      expect(retry.new(true):next({ method = method }, 1, 0, failed)):is_between(0.25, 0.5)
    end
    expect(retry.new({ methods = { "post" } }):next({ method = "POST" }, 1, 0, failed)):is_between(0.25, 0.5)
    expect(select(2, retry.new({ methods = { "post" } }):next(GET, 1, 0, failed))):equals("method")
  end)

  it("does not repeat a body that is gone", function()
    local put = { method = "PUT", body = function() end }
    expect(select(2, retry.new(true):next(put, 1, 0, response(503)))):equals("body")
    expect(retry.new(true):next({ method = "PUT", body = "text" }, 1, 0, response(503))):is_between(0.25, 0.5)
  end)

  it("stops at the limit", function()
    expect(select(2, retry.new(true):next(GET, 4, 0, response(503)))):equals("limit")
    expect(select(2, retry.new(1):next(GET, 2, 0, response(503)))):equals("limit")
    expect(select(2, retry.new(0):next(GET, 1, 0, response(503)))):equals("limit")
  end)

  it("doubles the wait, varies it, and caps it at a minute", function()
    local policy = retry.new { limit = 100, backoff = 1 }
    local seen = {}
    for _ = 1, 50 do
      local delay = policy:next(GET, 3, 0, response(503))
      expect(delay):is_between(2, 4)
      seen[delay] = true
    end
    local count = 0
    for _ in pairs(seen) do
      count = count + 1
    end
    expect(count > 10):equals(true)
    expect(policy:next(GET, 99, 0, response(503))):is_between(30, 60)
    expect(retry.new({ backoff = 0 }):next(GET, 1, 0, response(503))):equals(0)
  end)

  it("asks a backoff function", function()
    local policy = retry.new { backoff = function(n) return n * 10 end }
    expect(policy:next(GET, 2, 0, response(503))):equals(20)
    expect(function() retry.new({ backoff = function() end }):next(GET, 1, 0, response(503)) end):raises("backoff")
  end)

  it("honours Retry-After in both forms", function()
    local policy = retry.new(true)
    expect(policy:next(GET, 1, 0, response(503, "7"))):equals(7)
    expect(policy:next(GET, 1, 0, response(429, " 0 "))):equals(0)
    expect(policy:next(GET, 1, 0, response(503, dates.format(os.time() + 30)))):is_between(28, 31)
    expect(policy:next(GET, 1, 0, response(503, "soon"))):is_between(0.25, 0.5)
    expect(retry.after("120", 0)):equals(120)
    expect(retry.after("-1", 0)):equals(nil)
    expect(retry.after("1.5", 0)):equals(nil)
    expect(retry.after("Thu, 01 Jan 1970 00:01:30 GMT", 100)):equals(0)
    expect(retry.after("Thu, 01 Jan 1970 00:02:40 GMT", 100)):equals(60)
  end)

  it("does not begin a wait that would end too late", function()
    local policy = retry.new { max_elapsed = 10, backoff = 1 }
    expect(select(2, policy:next(GET, 1, 9.6, response(503)))):equals("max_elapsed")
    expect(policy:next(GET, 1, 5, response(503))):is_between(0.5, 1)
    expect(select(2, retry.new(true):next(GET, 1, 0, response(503, "86400")))):equals("max_elapsed")
  end)

  it("raises for wrong options", function()
    expect(function() retry.new { limt = 3 } end):raises("unknown option 'limt' %(did you mean 'limit'%?%)")
    expect(function() retry.new { limit = -1 } end):raises("'retry.limit' must not be negative")
    expect(function() retry.new { backoff = 0 / 0 } end):raises("'retry.backoff' must not be negative")
    expect(function() retry.new { statuses = 503 } end):raises("'statuses' must be table")
    expect(function() retry.new "often" end):raises("must be a table")
  end)
end
