-- Cookies in files that other programs read and write: Netscape's format, which curl and wget use, and JSON.

local errors = require "http.errors"
local json = require "json"
local native = require "httpscript.file"
local options = require "http.options"

local files = {}

local FORMATS = { netscape = true, json = true }

local function failure(code, message)
  return nil, errors.new { domain = "file", code = code, message = message }
end

local function read(path)
  local file, problem, number = io.open(path, "rb")
  if not file then
    -- ENOENT, EACCES
    local code = number == 2 and "file_does_not_exist" or number == 13 and "no_permissions_to_read_file"
    return failure(code or "cannot_open_file", "cannot read " .. tostring(problem))
  end
  local text = file:read("a")
  file:close()
  if not text then return failure("cannot_open_file", "cannot read " .. path) end
  return text
end

-- Netscape's format: seven fields between tabs on a line -------------------------------------------------------------

local HTTP_ONLY = "#HttpOnly_"

local function cookie_of_line(line)
  local http_only = line:sub(1, #HTTP_ONLY) == HTTP_ONLY
  if http_only then line = line:sub(#HTTP_ONLY + 1) elseif line:find("^#") then return nil end
  local domain, below, path, secure, expires, name, value =
    line:match("^([^\t]+)\t([^\t]*)\t([^\t]*)\t([^\t]*)\t(%-?%d+)\t([^\t]*)\t?([^\r]*)\r?$")
  if not domain then return nil end
  expires = math.tointeger(tonumber(expires)) or math.huge
  return {
    name = name, value = value, domain = domain:gsub("^%.", ""), path = path:find("^/") and path or "/",
    host_only = below:upper() ~= "TRUE", secure = secure:upper() == "TRUE", http_only = http_only,
    expires = expires > 0 and expires or nil,
  }
end

local function netscape_line(cookie)
  return table.concat({
    (cookie.http_only and HTTP_ONLY or "") .. (cookie.host_only and "" or ".") .. cookie.domain,
    cookie.host_only and "FALSE" or "TRUE", cookie.path, cookie.secure and "TRUE" or "FALSE",
    cookie.expires and ("%.0f"):format(math.ceil(cookie.expires)) or "0", cookie.name, cookie.value,
  }, "\t")
end

local function netscape_text(list)
  local lines = { "# Netscape HTTP Cookie File" }
  for _, cookie in ipairs(list) do
    -- A tab would be the end of a field.
    if not (cookie.name .. cookie.value .. cookie.path):find("\t") then lines[#lines + 1] = netscape_line(cookie) end
  end
  return table.concat(lines, "\n") .. "\n", #lines - 1
end

-- Lines that are none are passed over, unless there is nothing else.
local function cookies_of_netscape(text)
  local list, has_other = {}, false
  for line in text:gmatch("[^\n]+") do
    local cookie = cookie_of_line(line)
    list[#list + 1] = cookie
    has_other = has_other or not cookie and not line:find("^#") and line:find("%S") ~= nil
  end
  if has_other and #list == 0 then
    return failure("cannot_parse_response", "it is neither a Netscape file of cookies nor JSON")
  end
  return list
end

-- JSON: a list of cookies with the fields that scripts see -----------------------------------------------------------

local NAMES = {
  "name", "value", "domain", "path", "expires", "secure", "http_only", "same_site", "host_only", "created",
}

local function json_text(list)
  local plain = json.array {}
  for _, cookie in ipairs(list) do
    local one = {}
    for _, name in ipairs(NAMES) do one[name] = cookie[name] end
    plain[#plain + 1] = one
  end
  local text, err = json.encode(plain, { indent = 2, sort_keys = true })
  if not text then return nil, err end
  return text .. "\n", #plain
end

local function cookies_of_json(text)
  local decoded, err = json.decode(text)
  if decoded == nil then
    -- What stands there may be a secret.
    local place = err.message:match("^line %d+, column %d+")
    return failure("cannot_parse_response", "it is no JSON" .. (place and " (" .. place .. ")" or ""))
  end
  if not text:find("^%s*%[") then return failure("cannot_parse_response", "its JSON is no list of cookies") end
  local list = {}
  for _, one in ipairs(decoded) do
    local cookie = {}
    for _, name in ipairs(NAMES) do
      local value = type(one) == "table" and one[name]
      if value ~= json.null then cookie[name] = value end
    end
    list[#list + 1] = cookie
  end
  return list
end

-- --------------------------------------------------------------------------------------------------------------------

-- "Netscape" or "JSON" where that is what a text is, nil where it is neither.
local function kind_of(text)
  if text:find("^%s*%[") then return "JSON" end
  if text:find("^# ?[%w ]*HTTP Cookie File") or cookie_of_line(text:match("^[^\n]*")) then return "Netscape" end
end

-- What kind of text a file is; nil where it is none or cannot be read.
function files.kind_of_file(path)
  local file = io.open(path, "rb")
  if not file then return nil end
  local start = file:read(4096)
  file:close()
  return start and kind_of(start)
end

-- Adds the cookies of a file to a storage -> how many | nil, err.
function files.import(storage, path)
  local text, err = read(path)
  if not text then return nil, err end
  local parse = text:find("^%s*[%[{]") and cookies_of_json or cookies_of_netscape
  local list, problem = parse(text)
  if not list then return failure(problem.code, ("cannot import %s: %s"):format(path, problem.message)) end
  local count = 0
  for _, cookie in ipairs(list) do
    local fine, kept = pcall(storage.set, storage, cookie)
    if fine and kept then count = count + 1 end
  end
  return count
end

-- Writes the cookies of a storage to a file -> how many | nil, err.
function files.export(storage, path, format)
  format = options.expect_word(format or "netscape", FORMATS, "format")
  local make = format == "json" and json_text or netscape_text
  local text, count = make(storage:cookies())
  if not text then return nil, count end
  local done, err = native.write(path, text, true)
  if not done then return nil, errors.new(err) end
  return count
end

return files
