-- Cookie storages: http.cookie_storage. The rules and the file are native (`httpscript.cookies`); here are the checks
-- of what scripts give, and the cookies as tables.

local native = require "httpscript.cookies"
local errors = require "http.errors"
local options = require "http.options"

local misuse = options.misuse

local cookies = {}

local CookieStorage = { __name = "http.cookie_storage" }
local methods = {}
local NATIVE = {}

local POLICIES = { always = true, never = true, only_from_main_document_domain = true }
local SAME_SITE = { none = true, lax = true, strict = true }

-- One object for each native storage, so that they can be compared.
local objects = setmetatable({}, { __mode = "k" })

-- The object of a native storage.
function cookies.wrap(storage)
  local object = objects[storage]
  if not object then
    object = setmetatable({ [NATIVE] = storage }, CookieStorage)
    objects[storage] = object
  end
  return object
end

-- The storage of default sessions.
function cookies.standard() return cookies.wrap(native.standard()) end

-- The native storage of an object, nil for what is none.
function cookies.native(value)
  return type(value) == "table" and debug.getmetatable(value) == CookieStorage and rawget(value, NATIVE) or nil
end

-- http.cookie_storage{ path = path } -> storage | nil, err; without a path, one in memory.
function cookies.new(given)
  if type(given) == "string" then given = { path = given } end
  given = options.check(given, { path = "string" }, "argument #1 of http.cookie_storage")
  local path = given.path and options.path(given.path, "option 'path'")
  local text_kind = path and require("http.cookie_files").kind_of_file(path)
  if text_kind then
    return nil, errors.new { domain = "file", code = "cannot_open_file",
      message = ("%s is a %s file of cookies, not a storage; import it into one"):format(path, text_kind) }
  end
  if path and require("httpscript.file").is_foreign(path) then
    return nil, errors.new { domain = "file", code = "cannot_open_file",
      message = path .. " holds something else than a cookie storage" }
  end
  return cookies.wrap(native.storage(path))
end

function CookieStorage.__index(self, name)
  if name == "accept_policy" then return rawget(self, NATIVE):policy() end
  if name == "path" then return rawget(self, NATIVE):path() end
  return methods[name]
end

function CookieStorage.__newindex(self, name, value)
  if name ~= "accept_policy" then misuse("a cookie storage has no field '%s' that can be set", tostring(name)) end
  rawget(self, NATIVE):policy(options.expect_word(value, POLICIES, "cookie accept policy"))
end

function CookieStorage:__tostring()
  return "http.cookie_storage: " .. (rawget(self, NATIVE):path() or "in memory")
end

local function native_of(self, name)
  options.receiver(self, CookieStorage, "cookie_storage:" .. name)
  return rawget(self, NATIVE)
end

-- Cookies -----------------------------------------------------------------------------------------------------------

local Cookie = { __name = "http.cookie" }

-- The value is a secret more often than not.
function Cookie:__tostring()
  return ("http.cookie: %s=*** (%s%s)"):format(self.name, tostring(self.domain), tostring(self.path))
end

local function cookie_at(flat, i)
  local expires, same_site = flat[i + 4], flat[i + 7]
  return setmetatable({
    name = flat[i], value = flat[i + 1], domain = flat[i + 2], path = flat[i + 3], expires = expires or nil,
    secure = flat[i + 5], http_only = flat[i + 6], same_site = same_site ~= "" and same_site or nil,
    host_only = flat[i + 8], created = flat[i + 9],
  }, Cookie)
end

local FIELDS = {
  name = "string", value = "string", domain = "string", path = "string", expires = "number", secure = "boolean",
  http_only = "boolean", same_site = "string", host_only = "boolean", created = "number",
}

local function host_of(url)
  local parsed, err = require("http.url").parse(url)
  if not parsed then misuse("argument #2 of set is no URL: %s", tostring(err)) end
  return parsed.host
end

-- A domain in lower case, and whether it began with a dot.
local function plain_domain(domain)
  local rest = domain:match("^%.(.*)$")
  return (rest or domain):lower(), rest ~= nil
end

local function refused(why)
  return nil, errors.new { domain = "cookie", code = "cookie_refused", message = "the cookie is refused: " .. why }
end

local function result_of(name, ...)
  if name == nil then return refused((...)) end
  return cookie_at({ name, ... }, 1)
end

-- Without a domain, the cookie is for the host of `url` alone.
local function set_fields(storage, given, url)
  options.check(given, FIELDS, "a cookie")
  local host = url and host_of(url):lower()
  local domain, has_dot = given.domain, false
  if domain then
    domain, has_dot = plain_domain(domain)
  elseif host then
    domain = host
  else
    misuse("a cookie needs a 'domain', or argument #2 of set a URL")
  end
  local host_only = given.host_only
  if host_only == nil then host_only = given.domain == nil end
  if has_dot and host_only then misuse("a host-only cookie's 'domain' must not begin with a dot") end
  if given.same_site then options.expect_word(given.same_site:lower(), SAME_SITE, "same_site") end
  return result_of(storage:set(given.name or "", given.value or "", domain, given.path or "/",
    given.expires or false, given.secure or false, given.http_only or false, (given.same_site or ""):lower(),
    host_only, given.created, host))
end

-- storage:set(cookie, [url]) or storage:set(line, url) -> cookie | nil, err. A line is the value of a Set-Cookie field,
-- and is judged as if the server at `url` had sent it.
function methods:set(given, url)
  local storage = native_of(self, "set")
  options.expect(given, "string|table", "argument #1 of set (a cookie or the value of a Set-Cookie field)")
  if type(given) == "table" then
    if url ~= nil then options.expect(url, "string", "argument #2 of set (the URL)") end
    return set_fields(storage, given, url)
  end
  options.expect(url, "string", "argument #2 of set (the URL)")
  host_of(url)
  return result_of(storage:set_line(given, url))
end

-- storage:cookies([url]) -> list: all of them, or those that a request to `url` would carry, in the order of sending.
function methods:cookies(url)
  local storage = native_of(self, "cookies")
  if url ~= nil then options.expect(url, "string", "argument #1 of cookies (the URL)") end
  local flat = storage:cookies(url)
  if not flat then misuse("argument #1 of cookies is no URL: %s", url) end
  local list = {}
  for i = 1, #flat, 10 do list[#list + 1] = cookie_at(flat, i) end
  return list
end

-- storage:delete(cookie) -> whether it was there. Name, domain and path say which.
function methods:delete(cookie)
  local storage = native_of(self, "delete")
  options.check(cookie, FIELDS, "argument #1 of delete (a cookie)")
  if not cookie.domain then misuse("a cookie to be deleted needs a 'domain'") end
  return storage:remove(cookie.name or "", plain_domain(cookie.domain), cookie.path or "/", cookie.host_only) > 0
end

-- storage:remove_since(date) -> how many: removes the cookies made at that time (Unix seconds) or later.
function methods:remove_since(date)
  local storage = native_of(self, "remove_since")
  return storage:remove_since(options.expect(date, "number", "argument #1 of remove_since (the date)"))
end

-- storage:clear() -> how many: removes all cookies.
function methods:clear() return native_of(self, "clear"):remove_since(-math.huge) end

-- Files -------------------------------------------------------------------------------------------------------------

-- storage:import(path) -> count | nil, err: adds the cookies of a file, Netscape's (curl's, wget's) or JSON.
function methods:import(path)
  native_of(self, "import")
  return require("http.cookie_files").import(self, options.path(path, "argument #1 of import (the path)"))
end

-- storage:export(path [, format]) -> count | nil, err: writes all cookies to a file that only the user can read.
-- `format`: "netscape" (default) or "json".
function methods:export(path, format)
  native_of(self, "export")
  return require("http.cookie_files").export(self, options.path(path, "argument #1 of export (the path)"), format)
end

cookies.methods, cookies.class = methods, CookieStorage

return cookies
