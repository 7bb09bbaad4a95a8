-- The verbs: calls on a session that wait for the response.

local core = require "httpscript.core"
local active = require "http.active"
local call = require "http.call"
local fibers = require "http.fibers"
local lazy = require "http.lazy"
local options = require "http.options"
local session = require "http.session"

local request = lazy "http.request"

local misuse, quick, metatable_of = options.misuse, call.quick, debug.getmetatable
local methods, Session = session.methods, session.class

local function is_not_positive(value) return value ~= value or value <= 0 end

local CALL = {
  headers = "table", query = "table|string", body = "string|function|table", json = "any", form = "table|string",
  multipart = "table", timeout = "number", resource_timeout = "number", auth = "table",
  redirects = "integer|boolean", expect_continue = "boolean|string", cache_policy = "string",
  sink = "function|string|userdata", progress = "function|string|table", max_body = "integer", decompress = "boolean",
  segments = "integer", mirrors = "table", resume = "boolean", pieces = "table",
  priority = "number", checksum = "string", rate_limit = "number|table", retry = "table|integer|boolean",
}

-- What other libraries call it.
local FOREIGN = {
  params = "'query'", data = "'body', 'form' or 'json'", files = "'multipart'", method = "an option of http.send",
  on_data = "'sink'", stream = "'sink'", allow_redirects = "'redirects'",
  proxy = "'connection_proxy' of the session", proxies = "'connection_proxy' of the session",
  verify = "'security_policy' of the session", cookies = "'cookie_storage' of the session (http.cookie_storage)",
}

local SEND = { url = "string", method = "string" }
for name, types in pairs(CALL) do SEND[name] = types end

-- What can be said beside a request: all that is not the request's own.
local BESIDE = {}
for name, types in pairs(CALL) do BESIDE[name] = types end
for _, name in ipairs { "headers", "query", "body", "json", "form", "multipart" } do BESIDE[name] = nil end

local function check_values(given)
  local expect = given.expect_continue
  if type(expect) == "string" and expect ~= "auto" then
    misuse("option 'expect_continue' must be true, false or \"auto\", not %q", expect)
  end
  if given.segments and given.segments < 1 then misuse("option 'segments' must be at least 1") end
  if given.max_body and given.max_body < 0 then misuse("option 'max_body' must not be negative") end
  if given.priority and not (given.priority >= 0 and given.priority <= 1) then
    misuse("option 'priority' must be from 0 to 1")
  end
  if math.type(given.redirects) and given.redirects < 0 then misuse("option 'redirects' must not be negative") end
  local progress = given.progress
  if progress ~= nil and progress ~= "bar" and not options.is_callable(progress) then
    misuse("option 'progress' must be a function or \"bar\"")
  end
  if type(given.sink) == "string" then
    if given.sink == "" then misuse("option 'sink' must not be an empty path") end
    options.path(given.sink, "option 'sink'")
  end
  for _, name in ipairs { "timeout", "resource_timeout" } do
    if given[name] and is_not_positive(given[name]) then misuse("option '%s' must be more than 0 seconds", name) end
  end
end

-- Has the authenticator of the option `auth` change a copy of the request before it is sent.
local function prepare(self, req, given)
  local authenticator = require("http.settings").authenticator(given)
  if not authenticator or not authenticator.prepare then return req end
  local copy = request.complete(req):copy()
  local _, err = authenticator:prepare(self, copy)
  if err then return nil, err end
  return copy
end

local function attempt(self, req, given)
  if given and given.auth then
    local prepared, err = prepare(self, req, given)
    if err then return nil, err end
    req = prepared
  end
  local result, problem = call.make(self, req, given)
  if result ~= false then return result, problem end
  local one = self:_start_call(req, given)
  if not one.done then fibers.wait_for(one) end
  local err = one.error
  if not err then return one.response end
  fibers.observe(one)
  return nil, err
end

methods._attempt = attempt

-- The same options but for some.
local function with_options(given, changed)
  local copy = {}
  for name, value in next, given do copy[name] = value end
  for name, value in next, changed do copy[name] = value end
  return setmetatable(copy, getmetatable(given))
end

-- What goes to a sink cannot be taken back, unless it is a file that appears when it is whole. So no attempt but the
-- one that answers the call may give it anything: the body of an answer that is to be repeated does not go there, and
-- what has begun to go there is not repeated.
-- -> the options of an attempt, and a function that tells whether the sink may have been given something by one that
-- ended with this error.
local function guard_sink(given, policy)
  local changed, sink = { collected_statuses = policy:_status_text() }, given.sink
  if type(sink) == "string" then
    if not require("httpscript.part").is_stream(sink) then return given, function() return false end end
    return with_options(given, changed), function(err)
      local head = err and err.response
      return head ~= nil and head.status // 100 == 2
    end
  end
  local has_begun = false
  local write = type(sink) == "userdata" and require("http.steps").writer(sink) or sink
  changed.sink = function(data)
    has_begun = true
    write(data)
  end
  return with_options(given, changed), function() return has_begun end
end

-- An attempt, and others as the policy says.
local function with_retries(self, req, given)
  local policy = require("http.retry").new(given.retry)
  local is_begun
  if given.sink then given, is_begun = guard_sink(given, policy) end
  local started, count = core.now(), 0
  while true do
    count = count + 1
    local result, err = attempt(self, req, given)
    if is_begun and is_begun(err) then return result, err end
    local delay = policy:next(req, count, core.now() - started, result, err)
    if not delay then return result, err end
    fibers.sleep(delay)
  end
end

-- One call, repeated as the option `retry` says.
local function repeated(self, method, url, given, make)
  fibers.require_yieldable()
  local req = make and make() or request.from_options(method, url, given)
  if given and given.checksum then
    local checksum, err = require("http.checksum").resolve(self, given.checksum, req.url)
    if not checksum then return nil, err end
    given = with_options(given, { checksum = checksum })
  end
  if given and (given.segments or given.mirrors or given.resume) then
    return require("http.segments").fetch(self, req, given)
  end
  if not given or not given.retry then return attempt(self, req, given) end
  return with_retries(self, req, given)
end

-- The same with a bar of http.progress for the time it takes, named after the file or the last part of the URL.
local function with_bar(self, method, url, given, make)
  local name = type(given.sink) == "string" and given.sink or url:gsub("[?#].*$", "")
  local bar = require("http.progress").bar { label = name:match("([^/]+)/*$") or name }
  local result, err = repeated(self, method, url, with_options(given, { progress = bar }), make)
  if err then
    bar:fail(err)
  elseif result.status >= 400 then
    bar:fail(("%d %s"):format(result.status, result.reason))
  else
    bar:finish()
  end
  return result, err
end

local function perform(self, method, url, given, make)
  if given and given.progress == "bar" then return with_bar(self, method, url, given, make) end
  return repeated(self, method, url, given, make)
end

for _, name in ipairs { "get", "head", "post", "put", "patch", "delete", "options" } do
  local method = name:upper()
  methods[name] = function(self, url, given)
    if metatable_of(self) ~= Session then options.receiver(self, Session, "session:" .. name) end
    if type(url) ~= "string" then
      url = request.url_text(url) or misuse("argument #1 of %s must be a URL, not %s", name, type(url))
    end
    if given == nil then
      if not (self._delegate or self._protocols or active.observed) then return quick(self, method, url) end
    else
      options.check(given, CALL, "the options", FOREIGN)
      check_values(given)
    end
    return perform(self, method, url, given)
  end
end

-- The same as get, with options that are the library's own as well.
function methods:_get(url, given)
  check_values(given)
  return perform(self, "GET", url, given)
end

local function send_request(self, given, beside)
  local copy = given:copy()
  if beside ~= nil then
    options.check(beside, BESIDE, "argument #2 of send")
    check_values(beside)
    copy.timeout = beside.timeout or copy.timeout
    copy.cache_policy = beside.cache_policy or copy.cache_policy
  end
  return perform(self, copy.method, copy.url, beside, function() return copy end)
end

-- session:send(options) or session:send(request [, options]) yields -> response | nil, err.
function methods:send(given, beside)
  options.receiver(self, Session, "session:send")
  if request.is(given) then return send_request(self, given, beside) end
  if beside ~= nil then misuse("argument #2 of send is for the options of a request") end
  options.check(given, SEND, "argument #1 of send", FOREIGN)
  if given == nil or given.url == nil then misuse("argument #1 of send needs a 'url'") end
  check_values(given)
  return perform(self, given.method or "GET", given.url, given)
end

return { "get", "head", "post", "put", "patch", "delete", "options", "send" }
