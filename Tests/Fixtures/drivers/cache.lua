-- Makes the requests of http-tests/cache-tests: each test's one after another, all tests at once.
-- Arguments: a file of JSON with the tests, and the origin of the server.
-- Prints a JSON line for each test: its id and what came for each request.
local http = require "http"
local json = require "json"

local path, origin = ...

-- Text of any bytes as JSON can carry it, one code point per byte; and back.
local function latin1(text)
  return text and (text:gsub("[\x80-\xff]", function(char) return utf8.char(char:byte()) end)) or json.null
end

local function bytes(text)
  return (text:gsub(utf8.charpattern, function(char)
    local code = utf8.codepoint(char)
    return code < 256 and string.char(code) or char
  end))
end

local interim = {}
local session = http.session({ http_maximum_connections_per_host = 512 }, {
  did_receive_informational_response = function(_, task, response)
    local list = interim[task.original_request.headers["Test-ID"]]
    local fields = json.array {}
    for name, value in pairs(response.headers) do fields[#fields + 1] = json.array { name, value } end
    list[#list + 1] = json.array { response.status, fields }
  end,
})

local function fields_of(test, number, config, before)
  local list = {}
  for _, field in ipairs(config.request_headers or {}) do
    local value = field[2]
    if math.type(value) then
      value = http.format_date(tonumber(before.headers["Server-Now"]) // 1000 + value)
    end
    list[#list + 1] = { field[1], bytes(value) }
  end
  list[#list + 1] = { "Test-ID", test.id }
  list[#list + 1] = { "Req-Num", number }
  return list
end

local function url_of(test, config)
  return origin .. "/test/" .. test.uuid .. (config.filename and "/" .. config.filename or "")
    .. (config.query_arg and "?" .. config.query_arg or "")
end

local function record(response, err, seen)
  if not response then return { error = tostring(err), interim = seen } end
  local fields = json.array {}
  for name, value in pairs(response.headers) do fields[#fields + 1] = json.array { name, latin1(value) } end
  return {
    status = response.status, headers = fields, body = latin1(response.body), from_cache = response.from_cache,
    interim = seen,
  }
end

local function run(test)
  local answers, before = json.array {}, nil
  for number, config in ipairs(test.requests) do
    interim[test.id] = json.array {}
    local response, err = session:send {
      url = url_of(test, config), method = config.request_method, headers = fields_of(test, number, config, before),
      body = config.request_body, redirects = false, timeout = 30,
      cache_policy = config.cache == "no-cache" and "reload_revalidating_cache_data" or nil,
    }
    answers[number] = record(response, err, interim[test.id])
    before = response
    if config.pause_after then http.sleep(3) end
  end
  return { id = test.id, answers = answers }
end

local file <close> = assert(io.open(path))
local tests = assert(json.decode(file:read("a")))
http.map(tests, #tests, function(test)
  local ok, result = pcall(run, test)
  print(assert(json.encode(ok and result or { id = test.id, raised = tostring(result) })))
end)
