-- Configurations, sessions and the verbs.

local core = require "httpscript.core"
local call = require "http.call"
local errors = require "http.errors"
local fibers = require "http.fibers"
local headers = require "http.headers"
local options = require "http.options"
local request = require "http.request"
local task = require "http.task"

local misuse = options.misuse

local session = {}

-- Configuration -----------------------------------------------------------------------------------------------------

local CONFIGURATION = {
  identifier = "string", request_cache_policy = "string", timeout_for_request = "number",
  timeout_for_resource = "number", network_service_type = "string", allows_cellular_access = "boolean",
  waits_for_connectivity = "boolean", discretionary = "boolean", shared_container = "string",
  session_sends_launch_events = "boolean", connection_proxy = "table|string|false",
  tls_minimum_supported = "string", tls_maximum_supported = "string", http_should_use_pipelining = "boolean",
  http_should_set_cookies = "boolean", http_cookie_accept_policy = "string", http_additional_headers = "table",
  http_maximum_connections_per_host = "integer", cookie_storage = "false", credential_storage = "false",
  cache = "false", should_use_extended_background_idle_mode = "boolean", user_agent = "string",
  http_version = "string", interface = "string", resolve = "table", unix_socket = "string", ca_file = "string",
}

-- Fields that change what is safe or what is stored; a version without them must not take them silently.
local LATER = {
  protocol_classes = true, security_policy = true, transport_security = true, client_certificate = true,
}

local DEFAULTS = {
  request_cache_policy = "use_protocol_cache_policy", timeout_for_request = 60, timeout_for_resource = 7 * 24 * 3600,
  http_maximum_connections_per_host = 6, connection_proxy = "environment", http_version = "auto",
}

local HTTP_VERSIONS = { auto = true, ["1.0"] = true, ["1.1"] = true, ["2"] = true, ["2-prior-knowledge"] = true }
local TLS_VERSIONS = { ["1.0"] = true, ["1.1"] = true, ["1.2"] = true, ["1.3"] = true }

local Configuration = { __name = "http.configuration" }
local STORE = {}

-- Also for NaN.
local function is_not_positive(value) return value ~= value or value <= 0 end

local function check_field(name, value)
  if LATER[name] then misuse("configuration field '%s' is not available in this version", name) end
  if CONFIGURATION[name] == nil then
    local near = options.nearest(tostring(name), CONFIGURATION)
    local hint = near and (" (did you mean '" .. near .. "'?)") or ""
    misuse("unknown configuration field '%s'%s", tostring(name), hint)
  end
  if value == nil then return end
  options.expect(value, CONFIGURATION[name], "configuration field '" .. name .. "'")
  if name == "http_version" and not HTTP_VERSIONS[value] then
    misuse("configuration field 'http_version' must be \"auto\", \"1.0\", \"1.1\", \"2\" or \"2-prior-knowledge\"")
  elseif name:find("^tls_") and not TLS_VERSIONS[value] then
    misuse("configuration field '%s' must be \"1.0\", \"1.1\", \"1.2\" or \"1.3\"", name)
  elseif name:find("^timeout_") and is_not_positive(value) then
    misuse("configuration field '%s' must be more than 0 seconds", name)
  elseif name == "http_maximum_connections_per_host" and value < 1 then
    misuse("configuration field '%s' must be at least 1", name)
  end
end

function Configuration.__index(self, name)
  local value = rawget(self, STORE)[name]
  if value == nil then return DEFAULTS[name] end
  return value
end

function Configuration.__newindex(self, name, value)
  check_field(name, value)
  rawget(self, STORE)[name] = value
end

function Configuration.__pairs(self)
  local all = {}
  for name, value in pairs(DEFAULTS) do all[name] = value end
  for name, value in pairs(rawget(self, STORE)) do all[name] = value end
  return next, all
end

local function new_configuration(fields, kind)
  local self = setmetatable({ [STORE] = {} }, Configuration)
  rawset(self, "_kind", kind)
  if fields ~= nil then
    options.expect(fields, "table", "a configuration")
    for name, value in next, fields do self[name] = value end
  end
  return self
end

local function copy_configuration(given)
  local self = setmetatable({ [STORE] = {} }, Configuration)
  rawset(self, "_kind", rawget(given, "_kind"))
  for name, value in next, rawget(given, STORE) do rawget(self, STORE)[name] = value end
  return self
end

session.configuration = {
  -- http.configuration.default([fields]): Apple's default configuration.
  default = function(fields) return new_configuration(fields, "default") end,
  -- http.configuration.ephemeral([fields]): nothing is kept on disk.
  ephemeral = function(fields) return new_configuration(fields, "ephemeral") end,
}

-- "host:port=address" pairs ended by NUL.
local function flatten_resolve(map)
  local pairs_of = {}
  for name, address in pairs(map) do
    options.expect(name, "string", "a key of 'resolve'")
    options.expect(address, "string", "resolve['" .. tostring(name) .. "']")
    if not name:find("^[^=%z]+:%d+$") then misuse("a key of 'resolve' must be \"host:port\", not %q", name) end
    pairs_of[#pairs_of + 1] = name .. "=" .. address .. "\0"
  end
  return table.concat(pairs_of)
end

local function flatten_proxy(proxy, add)
  if proxy == "environment" then return end
  if proxy == false then return add("proxy", "") end
  if type(proxy) == "string" then return add("proxy", proxy) end
  options.check(proxy, { url = "string", no_proxy = "string|table" }, "'connection_proxy'")
  if not proxy.url then misuse("'connection_proxy' needs a 'url'") end
  add("proxy", proxy.url)
  local bypass = proxy.no_proxy
  if type(bypass) == "table" then bypass = table.concat(bypass, ",") end
  if bypass then add("no_proxy", bypass) end
end

local PASSED = {
  "timeout_for_request", "timeout_for_resource", "http_maximum_connections_per_host", "user_agent", "http_version",
  "interface", "unix_socket", "ca_file", "tls_minimum_supported", "tls_maximum_supported",
}

-- A configuration as the pairs that the core takes.
local function flatten_configuration(configuration)
  local flat = {}
  local function add(name, value)
    flat[#flat + 1] = name
    flat[#flat + 1] = value
  end
  for _, name in ipairs(PASSED) do
    local value = configuration[name]
    if value ~= nil then add(name, value) end
  end
  if configuration.http_additional_headers then
    local fields, problem = headers.flatten(headers.from(configuration.http_additional_headers))
    if problem then misuse("configuration field 'http_additional_headers': %s", problem) end
    add("http_additional_headers", fields or "")
  end
  if configuration.resolve then add("resolve", flatten_resolve(configuration.resolve)) end
  flatten_proxy(configuration.connection_proxy, add)
  return flat
end

-- Sessions ----------------------------------------------------------------------------------------------------------

local Session = { __name = "http.session" }
local methods = {}
Session.__index = methods

function Session:__tostring()
  return "http.session" .. (self.description and (": " .. self.description) or "")
end

local sessions, last_session = {}, 0

-- http.session([configuration [, delegate]]) -> session. A table of fields is a default configuration with these.
function session.new(configuration, delegate)
  if configuration == nil then configuration = new_configuration(nil, "default") end
  options.expect(configuration, "table", "argument #1 of http.session")
  if getmetatable(configuration) ~= Configuration then
    configuration = new_configuration(configuration, "default")
  end
  if delegate ~= nil then options.expect(delegate, "table|userdata", "argument #2 of http.session (the delegate)") end
  local copy = copy_configuration(configuration)
  return setmetatable({
    configuration = copy, delegate = delegate, _flat = flatten_configuration(copy), _waiting = {}, _open_tasks = 0,
    _last_task = 0,
  }, Session)
end

-- The core's number of the session; made with its first task.
function methods:_core()
  local number = rawget(self, "_number")
  if not number then
    last_session = last_session + 1
    number = last_session
    self._number = number
    sessions[number] = self
    core.session(number, table.unpack(self._flat))
  end
  return number
end

-- A task of this session is completed.
function methods:_forget(one)
  self._open_tasks = self._open_tasks - 1
  if not one.is_call then self._waiting[one] = nil end
  if self._invalid and self._open_tasks == 0 then self:_finish_invalidation() end
end

local function count_new_task(self)
  if self._invalid then misuse("the session is invalidated: no task can be made in it") end
  self._last_task = self._last_task + 1
  self._open_tasks = self._open_tasks + 1
  return self._last_task
end

-- A call without a task object begins or ends.
function methods:_call_begins() count_new_task(self) end

function methods:_call_done()
  local open = self._open_tasks - 1
  self._open_tasks = open
  if self._invalid and open == 0 then self:_finish_invalidation() end
end

local function tell_creation(self, one)
  local ok, problem = pcall(self.delegate.did_create_task, self, one)
  if ok then return end
  self._open_tasks = self._open_tasks - 1
  self._waiting[one] = nil
  error(problem, 0)
end

-- Makes a task; raises at the caller's line when the session is invalid.
function methods:_task(kind, req, settings, completion)
  if completion ~= nil then options.expect(completion, "function", "the completion") end
  local one = task.new(self, kind, count_new_task(self), req, settings)
  one.completion = completion
  self._waiting[one] = true
  if self.delegate and self.delegate.did_create_task then tell_creation(self, one) end
  return one
end

-- Makes the task of a call.
local function new_call(self, req, settings)
  local one = task.new_call(self, count_new_task(self), req, settings)
  if self.delegate and self.delegate.did_create_task then tell_creation(self, one) end
  return one
end

local function to_request(given, what)
  if type(given) == "string" then return request.new(given) end
  if request.is(given) then return given:copy() end
  if type(given) == "table" then return request.new(given) end
  misuse("%s must be a URL or a request, not %s", what, type(given))
end

-- session:data_task(url_or_request [, completion]) -> task, suspended.
function methods:data_task(given, completion)
  return self:_task("data", to_request(given, "argument #1 of data_task"), nil, completion)
end

-- session:tasks() -> data, upload, download lists of tasks that are not completed.
function methods:tasks()
  local lists = { data = {}, upload = {}, download = {} }
  for _, one in ipairs(self:all_tasks()) do
    local list = lists[one.kind]
    if list then list[#list + 1] = one end
  end
  return lists.data, lists.upload, lists.download
end

function methods:all_tasks()
  local list = {}
  for one in pairs(self._waiting) do list[#list + 1] = one end
  for _, one in ipairs(task.begun(self)) do
    if one.is_call then list[#list + 1] = one end
  end
  table.sort(list, function(a, b) return a.identifier < b.identifier end)
  for _, number in ipairs(rawget(self, "_number") and core.calls(self._number) or {}) do
    list[#list + 1] = task.of_call(self, number)
  end
  return list
end

function methods:_finish_invalidation()
  self._invalid = "invalid"
  local number = rawget(self, "_number")
  if number then
    core.invalidate(number, true)
  else
    fibers.run(function() self:_became_invalid() end)
  end
end

function methods:_became_invalid()
  local delegate = self.delegate
  self.delegate = nil
  if rawget(self, "_number") then sessions[self._number] = nil end
  local handler = delegate and delegate.did_become_invalid
  if not handler then return end
  fibers.run(function()
    local ok, problem = xpcall(handler, debug.traceback, self, nil)
    if not ok then core.uncaught(tostring(problem)) end
  end)
end

-- session:finish_tasks_and_invalidate(): no new tasks; those there are run to their end.
function methods:finish_tasks_and_invalidate()
  if self == session.shared_session() or self._invalid then return end
  self._invalid = "finishing"
  if self._open_tasks == 0 then self:_finish_invalidation() end
end

-- session:invalidate_and_cancel(): no new tasks; those there are end with `cancelled`.
function methods:invalidate_and_cancel()
  if self == session.shared_session() or self._invalid == "invalid" then return end
  self._invalid = "finishing"
  if self._open_tasks == 0 then return self:_finish_invalidation() end
  for _, one in ipairs(self:all_tasks()) do one:cancel() end
  if rawget(self, "_number") then core.cancel_calls(self._number) end
end

-- session:reset() yields: closes idle connections; later requests make new ones.
function methods:reset()
  fibers.require_yieldable()
  if rawget(self, "_number") then core.close_idle_connections(self._number) end
  fibers.sleep(0)
end

-- session:flush() yields: idle connections are closed and what is stored is on disk.
function methods:flush() self:reset() end

task.on_session_invalidated(function(number)
  local self = sessions[number]
  if self then self:_became_invalid() end
end)

-- Verbs -------------------------------------------------------------------------------------------------------------

local CALL = {
  headers = "table", query = "table|string", body = "string|function|table", json = "any", form = "table|string",
  multipart = "table", timeout = "number", resource_timeout = "number", auth = "table",
  redirects = "integer|boolean", expect_continue = "boolean|string", cache_policy = "string",
  sink = "function|string|userdata", progress = "function", max_body = "integer", decompress = "boolean",
  priority = "number", retry = "table|integer|boolean",
}

local SEND = { url = "string", method = "string" }
for name, types in pairs(CALL) do SEND[name] = types end

local function check_values(given)
  local expect = given.expect_continue
  if type(expect) == "string" and expect ~= "auto" then
    misuse("option 'expect_continue' must be true, false or \"auto\", not %q", expect)
  end
  if given.max_body and given.max_body < 0 then misuse("option 'max_body' must not be negative") end
  if math.type(given.redirects) and given.redirects < 0 then misuse("option 'redirects' must not be negative") end
  for _, name in ipairs { "timeout", "resource_timeout" } do
    if given[name] and is_not_positive(given[name]) then misuse("option '%s' must be more than 0 seconds", name) end
  end
end


local function attempt(self, req, given)
  local result, problem = call.make(self, req, given)
  if result ~= false then return result, problem end
  local one = new_call(self, req, given)
  one:resume()
  if not one.done then fibers.wait_for(one) end
  local err = one.error
  if not err then return one.response end
  fibers.observe(one)
  return nil, err
end

-- One call, repeated as the option `retry` says.
local function perform(self, method, url, given, make)
  fibers.require_yieldable()
  local req = make and make() or request.from_options(method, url, given)
  if not given or not given.retry then return attempt(self, req, given) end
  local policy = require("http.retry").new(given.retry)
  local started, count = core.now(), 0
  while true do
    count = count + 1
    local result, err = attempt(self, req, given)
    local delay = policy:next(req, count, core.now() - started, result, err)
    if not delay then return result, err end
    fibers.sleep(delay)
  end
end

local function checked(given)
  if given == nil then return nil end
  options.check(given, CALL, "the options")
  check_values(given)
  return given
end

for _, name in ipairs { "get", "head", "post", "put", "patch", "delete", "options" } do
  local method = name:upper()
  methods[name] = function(self, url, given)
    if type(url) ~= "string" then misuse("argument #1 of %s must be a URL, not %s", name, type(url)) end
    return perform(self, method, url, checked(given))
  end
end

-- session:send(request_or_options) yields -> response | nil, err.
function methods:send(given)
  if request.is(given) then
    local copy = given:copy()
    return perform(self, copy.method, copy.url, nil, function() return copy end)
  end
  options.check(given, SEND, "argument #1 of send")
  if given == nil or given.url == nil then misuse("argument #1 of send needs a 'url'") end
  check_values(given)
  return perform(self, given.method or "GET", given.url, given)
end

local shared

-- The shared session: invalidating it does nothing.
function session.shared_session()
  if not shared then
    shared = session.new()
    shared.description = "shared"
  end
  return shared
end

session.verbs = { "get", "head", "post", "put", "patch", "delete", "options", "send" }
session.error = errors

return session
