-- Configurations: the fields, their types and defaults, and how they become the core's arguments.

local headers = require "http.headers"
local lazy = require "http.lazy"
local options = require "http.options"
local request = require "http.request"

local security = lazy "http.security"

local misuse = options.misuse

local configuration = {}

local CONFIGURATION = {
  identifier = "string", request_cache_policy = "string", timeout_for_request = "number",
  timeout_for_resource = "number", network_service_type = "string", allows_cellular_access = "boolean",
  waits_for_connectivity = "boolean", discretionary = "boolean", shared_container = "string",
  session_sends_launch_events = "boolean", connection_proxy = "table|string|false",
  tls_minimum_supported = "string", tls_maximum_supported = "string", http_should_use_pipelining = "boolean",
  http_should_set_cookies = "boolean", http_cookie_accept_policy = "string", http_additional_headers = "table",
  http_maximum_connections_per_host = "integer", cookie_storage = "table|false", credential_storage = "table|false",
  cache = "table|false", should_use_extended_background_idle_mode = "boolean", user_agent = "string",
  http_version = "string", interface = "string", rate_limit = "number|table", resolve = "table",
  unix_socket = "string", ca_file = "string",
  security_policy = "table", transport_security = "table", client_certificate = "table|string",
  protocol_classes = "list", allows_file_urls = "boolean",
}

-- Fields that hold a store, and the module that knows its kind.
local STORES = {
  cookie_storage = "http.cookies", credential_storage = "http.credential_storage", cache = "http.cache",
}

local DEFAULTS = {
  request_cache_policy = "use_protocol_cache_policy", timeout_for_request = 60, timeout_for_resource = 7 * 24 * 3600,
  network_service_type = "default", allows_cellular_access = true, waits_for_connectivity = false,
  discretionary = false, session_sends_launch_events = false, connection_proxy = "environment",
  http_should_use_pipelining = false, http_should_set_cookies = true,
  http_cookie_accept_policy = "only_from_main_document_domain", http_maximum_connections_per_host = 6,
  should_use_extended_background_idle_mode = false, http_version = "auto", allows_file_urls = false,
}

local HTTP_VERSIONS = { auto = true, ["1.0"] = true, ["1.1"] = true, ["2"] = true, ["2-prior-knowledge"] = true }
local ACCEPT_POLICIES = { always = true, never = true, only_from_main_document_domain = true }
local TLS_VERSIONS = { ["1.0"] = true, ["1.1"] = true, ["1.2"] = true, ["1.3"] = true }

local IS_TEXT = {
  ca_file = true, unix_socket = true, interface = true, shared_container = true, identifier = true,
}

local Configuration = { __name = "http.configuration" }
local STORE = {}

local CLASS = { can_init = true, start_loading = true, stop_loading = false }

local function check_protocol_classes(list)
  for index, class in ipairs(list) do
    local what = ("configuration field 'protocol_classes', item %d"):format(index)
    options.expect(class, "table|userdata", what)
    for name, is_needed in pairs(CLASS) do
      local fn = class[name]
      if (is_needed or fn ~= nil) and not options.is_callable(fn) then
        misuse("%s: '%s' must be a function, not %s", what, name, type(fn))
      end
    end
  end
end

-- What libcurl would refuse with the first request.
local function check_resolve(map)
  local is_address = require("httpscript.url").is_address
  for name, address in pairs(map) do
    options.expect(name, "string", "a key of 'resolve'")
    local port = name:match("^[^=%z]+:(%d+)$")
    if not port or tonumber(port) > 65535 then misuse("a key of 'resolve' must be \"host:port\", not %q", name) end
    local what = "resolve['" .. name .. "']"
    options.expect(address, "string", what)
    for one in (address .. ","):gmatch("([^,]*),") do
      if not is_address(one:match("^%[(.*)%]$") or one) then
        misuse('%s must be an address ("192.0.2.1", "2001:db8::1"), or several with commas between them, not %q', what,
          address)
      end
    end
  end
end

-- Also for NaN.
local function is_not_positive(value) return value ~= value or value <= 0 end

local function check_field(name, value)
  if CONFIGURATION[name] == nil then
    local near = options.nearest(tostring(name), CONFIGURATION)
    local hint = near and (" (did you mean '" .. near .. "'?)") or ""
    misuse("unknown configuration field '%s'%s", tostring(name), hint)
  end
  if value == nil then return end
  options.expect(value, CONFIGURATION[name], "configuration field '" .. name .. "'")
  if STORES[name] and value and not require(STORES[name]).native(value) then
    misuse("configuration field '%s' must be an http.%s or false", name, name)
  end
  if name == "http_version" and not HTTP_VERSIONS[value] then
    misuse("configuration field 'http_version' must be \"auto\", \"1.0\", \"1.1\", \"2\" or \"2-prior-knowledge\"")
  elseif name == "user_agent" and value:find("[\r\n\0]") then
    misuse("configuration field 'user_agent' has a line break or NUL in it")
  elseif IS_TEXT[name] then
    options.text(value, "configuration field '" .. name .. "'")
  elseif name:find("^tls_") and not TLS_VERSIONS[value] then
    misuse("configuration field '%s' must be \"1.0\", \"1.1\", \"1.2\" or \"1.3\"", name)
  elseif name:find("^timeout_") and is_not_positive(value) then
    misuse("configuration field '%s' must be more than 0 seconds", name)
  elseif name == "network_service_type" then
    request.check_service_type(value)
  elseif name == "protocol_classes" then
    check_protocol_classes(value)
  elseif name == "resolve" then
    check_resolve(value)
  elseif name == "request_cache_policy" then
    request.check_policy(value)
  elseif name == "http_cookie_accept_policy" then
    options.expect_word(value, ACCEPT_POLICIES, "cookie accept policy")
  elseif name == "http_maximum_connections_per_host" and value < 1 then
    misuse("configuration field '%s' must be at least 1", name)
  end
end

-- The store of a configuration that has been given none: the user's, or, where nothing is to be remembered, one in
-- memory, which belongs to the configuration and the sessions made of it.
local function default_store(self, name)
  local module = require(STORES[name])
  if rawget(self, "_kind") ~= "ephemeral" then return module.standard() end
  local made = module.new()
  rawget(self, STORE)[name] = made
  return made
end

function Configuration.__index(self, name)
  local value = rawget(self, STORE)[name]
  if value ~= nil then return value end
  if STORES[name] then return default_store(self, name) end
  return DEFAULTS[name]
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

-- Values that are tables belong to one configuration only; the protocol classes in their list and the stores are the
-- script's objects.
local function copy_value(value, name)
  if type(value) ~= "table" then return value end
  if STORES[name] then return value end
  if name == "protocol_classes" then return table.move(value, 1, #value, 1, {}) end
  if headers.is(value) then return headers.from(value) end
  local copied = {}
  for key, one in next, value do copied[key] = copy_value(one) end
  return setmetatable(copied, getmetatable(value))
end

local function new_configuration(fields, kind)
  local self = setmetatable({ [STORE] = {} }, Configuration)
  rawset(self, "_kind", kind)
  if fields ~= nil then
    options.expect(fields, "table", "a configuration")
    if getmetatable(fields) == Configuration then fields = rawget(fields, STORE) end
    for name, value in next, fields do self[name] = copy_value(value, name) end
  end
  return self
end

local function copy_configuration(given)
  local self = setmetatable({ [STORE] = {} }, Configuration)
  rawset(self, "_kind", rawget(given, "_kind"))
  for name, value in next, rawget(given, STORE) do rawget(self, STORE)[name] = copy_value(value, name) end
  return self
end

-- http.configuration.default([fields]): Apple's default configuration.
function configuration.default(fields) return new_configuration(fields, "default") end

-- http.configuration.ephemeral([fields]): nothing is kept on disk.
function configuration.ephemeral(fields) return new_configuration(fields, "ephemeral") end

-- http.configuration.background(identifier [, fields]): one whose sessions' tasks go on across runs.
function configuration.background(identifier, fields)
  options.expect(identifier, "string", "argument #1 of http.configuration.background (the identifier)")
  if identifier == "" then misuse("a background session needs an identifier that is not empty") end
  local self = new_configuration(fields, "background")
  self.identifier = identifier
  if rawget(self, STORE).session_sends_launch_events == nil then self.session_sends_launch_events = true end
  return self
end

function configuration.is_background(given) return rawget(given, "_kind") == "background" end

-- A copy of what a script gave for a session: a configuration, a table of fields, or nil.
function configuration.copy(given)
  if given == nil then return new_configuration(nil, "default") end
  options.expect(given, "table", "argument #1 of http.session")
  if getmetatable(given) ~= Configuration then given = new_configuration(given, "default") end
  if rawget(given, "_kind") == "ephemeral" then
    for name in next, STORES do local _ = given[name] end
  end
  return copy_configuration(given)
end

-- The protocol classes, or false; the module that runs them is then loaded.
function configuration.protocols(given)
  local list = given.protocol_classes
  if not list or #list == 0 then return false end
  require "http.loads"
  return list
end

-- "host:port=address" pairs ended by NUL. The table may have been changed since the field was set.
local function flatten_resolve(map)
  check_resolve(map)
  local pairs_of = {}
  for name, address in pairs(map) do pairs_of[#pairs_of + 1] = name .. "=" .. address .. "\0" end
  return table.concat(pairs_of)
end

local PROXY_SCHEMES = { http = true, https = true, socks4 = true, socks4a = true, socks5 = true, socks5h = true }
local PROXY = { url = "string", user = "string", password = "string" }
local PROXIES = { http = "string|table|false", https = "string|table|false", no_proxy = "string|table" }
for name, types in pairs(PROXY) do PROXIES[name] = types end

-- As long as the core takes it.
local LONGEST_PROXY = 65536

-- What user and password of a proxy's URL stand for, which may not be what is written.
local function check_user_information(rest, what)
  local information = rest:match("^([^/?#]*)@") or ""
  for digits in information:gmatch("%%(%x%x)") do
    if string.char(tonumber(digits, 16)):find("%c") then
      misuse("%s: the user and the password in the URL must not contain control characters", what)
    end
  end
end

-- The URL of a proxy given as a text or as { url, user, password }; "" for none.
local function proxy_url(proxy, what)
  if not proxy then return "" end
  if type(proxy) == "string" then proxy = { url = proxy } end
  local url = proxy.url
  if not url then misuse("%s needs a 'url'", what) end
  local scheme, rest = url:match("^(%a[%w+.-]*)://(.*)$")
  scheme, rest = (scheme or "http"):lower(), rest or url
  if not PROXY_SCHEMES[scheme] then
    misuse("%s: a proxy speaks http, https, socks4, socks4a, socks5 or socks5h, not %q", what, scheme)
  end
  if rest == "" or rest:find("[%c ]") then misuse("%s is no URL of a proxy", what) end
  if proxy.user then
    options.secret(proxy.user, what .. ": 'user'")
    options.secret(proxy.password or "", what .. ": 'password'")
    rest = request.escape(proxy.user) .. ":" .. request.escape(proxy.password or "") .. "@" .. rest:gsub("^.*@", "")
  elseif proxy.password then
    misuse("%s has a 'password' and no 'user'", what)
  end
  check_user_information(rest, what)
  if #scheme + #"://" + #rest > LONGEST_PROXY then misuse("%s is longer than %d bytes", what, LONGEST_PROXY) end
  if scheme:find("^http") and rest:find("^[^/?#@:]*%%3[Aa][^/?#]*@") then
    misuse("%s: the user must not contain a colon: Basic cannot send it (RFC 7617 §2)", what)
  end
  return scheme .. "://" .. rest
end

local function flatten_proxy(proxy, add)
  if proxy == "environment" then return end
  if type(proxy) ~= "table" then proxy = proxy and { url = proxy } or { http = false, https = false } end
  options.check(proxy, PROXIES, "'connection_proxy'")
  local common = { url = proxy.url, user = proxy.user, password = proxy.password }
  if not proxy.url and proxy.http == nil and proxy.https == nil then misuse("'connection_proxy' needs a 'url'") end
  for _, scheme in ipairs { "http", "https" } do
    local own, what = proxy[scheme], "'connection_proxy." .. scheme .. "'"
    if type(own) == "table" then options.check(own, PROXY, what) end
    if own == nil then own, what = common.url and common, "'connection_proxy'" end
    add("proxy_" .. scheme, proxy_url(own, what))
  end
  local bypass = proxy.no_proxy
  if type(bypass) == "table" then
    for _, one in ipairs(bypass) do options.text(one, "an item of 'connection_proxy.no_proxy'") end
    bypass = table.concat(bypass, ",")
  end
  if bypass then add("no_proxy", options.text(bypass, "'connection_proxy.no_proxy'")) end
end

local PASSED = {
  "timeout_for_request", "timeout_for_resource", "http_should_set_cookies", "http_cookie_accept_policy",
  "http_maximum_connections_per_host", "user_agent", "http_version", "interface", "unix_socket", "ca_file",
  "shared_container", "allows_file_urls", "tls_minimum_supported", "tls_maximum_supported",
  "should_use_extended_background_idle_mode", "http_should_use_pipelining",
}

-- What may take its time is marked as such, unless the configuration says more.
local function add_service(given, add)
  local name = given.network_service_type
  if name == "default" and given.discretionary then name = "background" end
  add("network_service_type", name)
end

-- A configuration as the pairs that the core takes.
function configuration.flatten(given)
  local flat = {}
  local function add(name, value)
    flat[#flat + 1] = name
    flat[#flat + 1] = value
  end
  local least, most = given.tls_minimum_supported, given.tls_maximum_supported
  if least and most and least > most then
    misuse("configuration field 'tls_minimum_supported' must not be above 'tls_maximum_supported'")
  end
  for _, name in ipairs(PASSED) do
    local value = given[name]
    if value ~= nil then add(name, value) end
  end
  if given.request_cache_policy ~= DEFAULTS.request_cache_policy then
    add("request_cache_policy", given.request_cache_policy)
  end
  if given.http_additional_headers then
    local fields, problem = headers.flatten(headers.from(given.http_additional_headers))
    if problem then misuse("configuration field 'http_additional_headers': %s", problem) end
    add("http_additional_headers", fields or "")
  end
  if given.security_policy or given.transport_security or given.client_certificate then security.flatten(given, add) end
  if rawget(given, "_kind") == "ephemeral" then add("remembers_hosts", false) end
  for name, module in next, STORES do
    local store = rawget(given, STORE)[name]
    if store ~= nil then add(name, store and require(module).native(store)) end
  end
  if configuration.protocols(given) then add("protocol_classes", true) end
  if given.rate_limit then
    local receive, send = require("http.settings").rates(given.rate_limit, "configuration field 'rate_limit'")
    if receive then add("receive_rate_limit", receive) end
    if send then add("send_rate_limit", send) end
  end
  if given.resolve then add("resolve", flatten_resolve(given.resolve)) end
  flatten_proxy(given.connection_proxy, add)
  add_service(given, add)
  -- Background sessions always wait.
  add("waits_for_connectivity", given.waits_for_connectivity or configuration.is_background(given))
  return flat
end

return configuration
