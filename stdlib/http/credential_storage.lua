-- Credential storages: http.credential_storage and http.protection_space. What is stored where is native
-- (`httpscript.credentials`); here are the checks of what scripts give.

local core = require "httpscript.core"
local native = require "httpscript.credentials"
local credential = require "http.credential"
local errors = require "http.errors"
local events = require "http.events"
local fibers = require "http.fibers"
local options = require "http.options"

local misuse = options.misuse

local stores = {}

-- Protection spaces -------------------------------------------------------------------------------------------------

local Space = { __name = "http.protection_space" }

-- The last three are what a challenge's space has besides.
local SPACE = {
  host = "string", port = "integer", protocol = "string", realm = "string", authentication_method = "string",
  is_proxy = "boolean", parameters = "any", distinguished_names = "any", server_trust = "any",
}
local PROTOCOLS = {
  http = true, https = true, socks4 = true, socks4a = true, socks5 = true, socks5h = true,
}

local function check_space(given, what)
  options.check(given, SPACE, what)
  if not given or given.host == nil then misuse("%s needs a 'host'", what) end
  options.line(given.host, what .. ": 'host'")
  if given.authentication_method then options.line(given.authentication_method, what .. ": 'authentication_method'") end
  if given.protocol then options.expect_word(given.protocol:lower(), PROTOCOLS, "protocol") end
  if given.port and (given.port < 1 or given.port > 65535) then misuse("%s has no port %d", what, given.port) end
  return given
end

-- http.protection_space{ host, port, protocol, realm, authentication_method, is_proxy } -> a space.
function stores.space(given)
  check_space(given, "argument #1 of http.protection_space")
  local made = {}
  for name, value in next, given do made[name] = value end
  made.is_proxy = given.is_proxy or false
  return setmetatable(made, Space)
end

function Space:__tostring()
  return ("http.protection_space: %s://%s:%s %s"):format(self.protocol or "*", self.host, self.port or "*",
    self.realm or "*")
end

local function flatten_space(given, what)
  check_space(given, what)
  return given.host, given.port, given.protocol, given.realm, given.authentication_method, given.is_proxy or false
end

-- Storages ----------------------------------------------------------------------------------------------------------

local CredentialStorage = { __name = "http.credential_storage" }
local methods = {}
CredentialStorage.__index = methods
local NATIVE = {}

local objects = setmetatable({}, { __mode = "k" })

local function wrap(storage)
  local object = objects[storage]
  if not object then
    object = setmetatable({ [NATIVE] = storage }, CredentialStorage)
    objects[storage] = object
  end
  return object
end

-- The storage of default sessions.
function stores.standard() return wrap(native.standard()) end

-- The native storage of an object, nil for what is none.
function stores.native(value)
  return type(value) == "table" and debug.getmetatable(value) == CredentialStorage and rawget(value, NATIVE) or nil
end

-- The keyring -------------------------------------------------------------------------------------------------------

-- By number, what waits for the keyring.
local waits, last_wait = {}, 0

events[events.KEYRING_USED] = function(number)
  local record = waits[number]
  waits[number] = nil
  if record then fibers.complete(record) end
end

-- Waits until the keyring knows what `storage` wants kept, and, where a host is named, the storage what is kept for it.
local function use_keyring(storage, host, is_proxy)
  if not storage:uses_keyring() then return end
  fibers.require_yieldable()
  if not fibers.may_begin() then return end
  last_wait = last_wait + 1
  local record = {}
  waits[last_wait] = record
  core.use_keyring(storage, last_wait, host, is_proxy)
  fibers.wait_for(record)
end

-- Waits until what a storage has is kept (part of `session:flush`).
function stores.flush(storage) use_keyring(stores.native(storage)) end

-- Calls a method of the native storage about a space, between what the keyring knows before and after it.
local function call_native(storage, name, host, port, protocol, realm, method, is_proxy, ...)
  use_keyring(storage, host, is_proxy)
  local result = storage[name](storage, host, port, protocol, realm, method, is_proxy, ...)
  use_keyring(storage)
  return result
end

local FIELDS = {
  path = "string", keyring = "boolean", netrc = "string|boolean", credential_command = "string|table",
}

local function failure(code, message)
  return nil, errors.new { domain = "file", code = code, message = message }
end

-- The path of the netrc file, and that it can be used.
local function netrc_path(given)
  if given == nil or given == false then return nil end
  local path = given ~= true and options.path(given, "option 'netrc'")
    or os.getenv("NETRC") or (os.getenv("HOME") or "") .. "/.netrc"
  local file, problem, number = io.open(path, "rb")
  if not file then
    local code = number == 2 and "file_does_not_exist" or number == 13 and "no_permissions_to_read_file"
    return failure(code or "cannot_open_file", "cannot read " .. problem)
  end
  file:close()
  return path
end

-- The words of a command; a text is one for the shell.
local function command_words(given)
  if given == nil then return {} end
  if type(given) == "string" then return { "/bin/sh", "-c", options.text(given, "option 'credential_command'") } end
  for name, value in next, given do
    if math.type(name) == "integer" then
      options.text(value, "a word of 'credential_command'")
    elseif name == "user" then
      options.text(value, "credential_command.user")
    elseif name == "timeout" then
      if not (options.expect(value, "number", "credential_command.timeout") > 0) then
        misuse("credential_command.timeout must be more than 0 seconds")
      end
    else
      misuse("'credential_command' has a field '%s'; it takes words, 'user' and 'timeout'", tostring(name))
    end
  end
  if #given == 0 then misuse("'credential_command' needs the name of a program") end
  return given
end

-- http.credential_storage{ path, keyring, netrc, credential_command } -> storage | nil, err.
function stores.new(given)
  given = options.check(given, FIELDS, "argument #1 of http.credential_storage")
  local path = given.path and options.path(given.path, "option 'path'")
  local words = command_words(given.credential_command)
  local netrc, err = netrc_path(given.netrc)
  if err then return nil, err end
  for _, file in ipairs { path or netrc, netrc } do
    local problem = native.problem(file)
    if problem then return failure("no_permissions_to_read_file", problem) end
  end
  if path and require("httpscript.file").is_foreign(path) then
    return failure("cannot_open_file", path .. " holds something else than a credential storage")
  end
  return wrap(native.storage(path, given.keyring or false, netrc, words.user, words.timeout, table.unpack(words)))
end

function CredentialStorage:__tostring()
  return "http.credential_storage: " .. (rawget(self, NATIVE):path() or "in memory")
end

local function native_of(self, name)
  options.receiver(self, CredentialStorage, "credential_storage:" .. name)
  return rawget(self, NATIVE)
end

local function check_credential(given, name)
  if credential.is(given) then return end
  misuse("argument #1 of %s must be an http.credential, not %s", name, type(given))
end

local function set(self, name, given, space, is_default)
  local storage = native_of(self, name)
  check_credential(given, name)
  local host, port, protocol, realm, method, is_proxy = flatten_space(space, "argument #2 of " .. name)
  call_native(storage, "set", host, port, protocol, realm, method, is_proxy, is_default, given.persistence,
    credential.flatten(given))
end

-- storage:set(credential, space): keeps it, in the place of the one of the same user.
function methods:set(given, space) set(self, "set", given, space, false) end

-- storage:set_default(credential, space): the same, and it is the one that is proposed.
function methods:set_default(given, space) set(self, "set_default", given, space, true) end

-- storage:credentials(space) -> list.
function methods:credentials(space)
  local storage = native_of(self, "credentials")
  local list = call_native(storage, "credentials", flatten_space(space, "argument #1 of credentials"))
  for i, fields in ipairs(list) do list[i] = credential.of(fields) end
  return list
end

-- storage:default(space) -> credential | nil: what is proposed there.
function methods:default(space)
  local storage = native_of(self, "default")
  local fields = call_native(storage, "default", flatten_space(space, "argument #1 of default"))
  return fields and credential.of(fields)
end

-- storage:remove(credential, space) -> whether it was there. The secret need not be right.
function methods:remove(given, space)
  local storage = native_of(self, "remove")
  check_credential(given, "remove")
  local host, port, protocol, realm, method, is_proxy = flatten_space(space, "argument #2 of remove")
  return call_native(storage, "remove", host, port, protocol, realm, method, is_proxy, given.persistence,
    credential.flatten(given))
end

-- storage:clear(): removes everything, from its file too.
function methods:clear()
  local storage = native_of(self, "clear")
  storage:clear()
  use_keyring(storage)
end

stores.methods, stores.class = methods, CredentialStorage

return stores
