-- Plays transfers that were translated from curl commands.
-- Arguments: a file of JSON, the list of { name, steps }. Prints a JSON line for each case.
local http = require "http"
local json = require "json"

local function bytes(hexadecimal)
  return (hexadecimal:gsub("%x%x", function(pair) return string.char(tonumber(pair, 16)) end))
end

local function hexadecimal(text)
  return (text:gsub(".", function(char) return ("%02x"):format(char:byte()) end))
end

local function reader_of(text)
  return function()
    local chunk = text
    text = nil
    return chunk ~= "" and chunk or nil
  end
end

local function request_options(step)
  local options = {
    url = step.url, method = step.method or "GET", headers = {}, redirects = step.redirects,
    max_body = step.max_body, resource_timeout = step.resource_timeout, retry = step.retry, auth = step.auth,
    timeout = 5,
  }
  for _, field in ipairs(step.headers) do
    local name, value = bytes(field[1]), bytes(field[2])
    if options.headers[name] == nil then options.headers[name] = value end
  end
  if step.if_modified_since then
    options.headers["If-Modified-Since"] = http.format_date(http.parse_date(step.if_modified_since))
  end
  if step.body then options.body = step.reader and reader_of(bytes(step.body)) or bytes(step.body) end
  return options
end

-- curl's jar: Netscape's format, or fields of responses as they came, which hold for every host.
local function storage_of(cookies, url)
  if not cookies then return false end
  local storage = http.cookie_storage()
  for _, content in ipairs(cookies.files) do
    local text = bytes(content)
    local name = os.tmpname()
    local file <close> = assert(io.open(name, "wb"))
    file:write(text)
    file:flush()
    storage:import(name)
    os.remove(name)
    for line in text:gmatch("[^\r\n]+") do
      local field = line:match("^[Ss]et%-[Cc]ookie:%s*(.*)$")
      if field then storage:set(field, url) end
    end
  end
  if cookies.junk then
    for _, cookie in ipairs(storage:cookies()) do
      if not cookie.expires then storage:delete(cookie) end
    end
  end
  return storage
end

-- Answers the challenges of proxies.
local function delegate_of(step)
  if not step.proxy_user then return nil end
  local user, password = step.proxy_user:match("^([^:]*):?(.*)$")
  local function answer(...)
    local space = select(-1, ...).protection_space
    if not space.is_proxy then return nil end
    return "use_credential", http.credential { user = user, password = password }
  end
  return { did_receive_challenge = answer }
end

-- Without an option curl keeps no cookies: then `storage` is false.
local function session_for(step, storage)
  local configuration = http.configuration.ephemeral(step.configuration)
  configuration.cookie_storage = storage
  return http.session(configuration, delegate_of(step))
end

local function play(case)
  local results = json.array {}
  local sessions = {}
  local storage = storage_of(case.cookies, case.steps[1].url)
  for _, step in ipairs(case.steps) do
    local key = json.encode(step.configuration, { sort_keys = true })
    if step.fresh or not sessions[key] then sessions[key] = session_for(step, storage) end
    local response, err = sessions[key]:send(request_options(step))
    results[#results + 1] = response and { status = response.status, body = hexadecimal(response.body) }
      or { error = err.code, message = tostring(err) }
  end
  return results
end

local file <close> = assert(io.open((...)))
http.map(assert(json.decode(file:read("a"))), 4, function(case)
  local ok, results = pcall(play, case)
  if not ok then results = json.array { { error = "raised", message = tostring(results) } } end
  io.write(assert(json.encode { name = case.name, results = results }), "\n")
  return true
end)
