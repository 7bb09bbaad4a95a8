-- AWS Signature Version 4, in the Authorization field.

local digest = require "http.digest"
local options = require "http.options"
local url = require "http.url"

local sigv4 = {}

local ALGORITHM = "AWS4-HMAC-SHA256"

local FIELDS = {
  access_key = "string", secret_key = "string", session_token = "string", region = "string", service = "string",
  sign_body = "boolean", normalize_path = "boolean", now = "function",
}

local Signer = { __name = "http.auth.aws_sigv4" }
Signer.__index = Signer

function Signer:__tostring() return ("http.auth.aws_sigv4: %s in %s"):format(self._service, self._region) end

-- sigv4.new{ access_key, secret_key, region, service, session_token, sign_body, normalize_path, now } -> an
-- authenticator. `now` gives Unix seconds.
function sigv4.new(given)
  options.expect(given, "table", "argument #1 of aws_sigv4")
  options.check(given, FIELDS, "argument #1 of aws_sigv4")
  for _, name in ipairs { "access_key", "secret_key", "region", "service" } do
    if not given[name] then options.misuse("aws_sigv4 needs a '%s'", name) end
  end
  local is_s3 = given.service == "s3"
  local function default(name, value)
    if given[name] == nil then return value end
    return given[name]
  end
  return setmetatable({
    _access_key = given.access_key, _secret_key = given.secret_key, _session_token = given.session_token,
    _region = given.region, _service = given.service, _sign_body = default("sign_body", is_s3),
    _normalize = default("normalize_path", not is_s3), _now = given.now or os.time,
  }, Signer)
end

-- The canonical request ----------------------------------------------------------------------------------------------

-- Percent-encodes all but unreserved characters; what is encoded already is decoded first.
local function encode_once(text, also)
  text = text:gsub("%%(%x%x)", function(pair) return string.char(tonumber(pair, 16)) end)
  return (text:gsub("[^%w%-%._~" .. (also or "") .. "]", function(c) return ("%%%02X"):format(c:byte()) end))
end

-- Without dot segments and double slashes.
local function normalized(path)
  local kept = {}
  for segment in path:gmatch("[^/]+") do
    if segment == ".." then
      kept[#kept] = nil
    elseif segment ~= "." then
      kept[#kept + 1] = segment
    end
  end
  local tail = #kept > 0 and path:find("/%.?%.?$") and "/" or ""
  return "/" .. table.concat(kept, "/") .. tail
end

local function canonical_path(self, path)
  if path == "" then return "/" end
  if self._service == "s3" then return encode_once(path, "/") end
  if self._normalize then path = normalized(path) end
  return encode_once(path, "/")
end

local function canonical_query(query)
  local pairs_of = {}
  for part in (query or ""):gmatch("[^&]+") do
    local name, value = part:match("^([^=]*)=?(.*)$")
    pairs_of[#pairs_of + 1] = { encode_once(name), encode_once(value) }
  end
  table.sort(pairs_of, function(a, b)
    if a[1] ~= b[1] then return a[1] < b[1] end
    return a[2] < b[2]
  end)
  local texts = {}
  for i, pair in ipairs(pairs_of) do texts[i] = pair[1] .. "=" .. pair[2] end
  return table.concat(texts, "&")
end

-- What is not signed: what proxies and HTTP itself may change.
local UNSIGNED = {
  authorization = true, ["user-agent"] = true, connection = true, expect = true, ["transfer-encoding"] = true,
  ["x-amzn-trace-id"] = true, ["proxy-authorization"] = true, ["proxy-connection"] = true,
}

-- The fields as lines in order of their names, and the list of names.
local function canonical_headers(list)
  local values, names = {}, {}
  for name, value in pairs(list) do
    name = name:lower()
    if not UNSIGNED[name] then
      value = value:gsub("%s+", " "):gsub("^ ", ""):gsub(" $", "")
      if not values[name] then
        values[name] = {}
        names[#names + 1] = name
      end
      table.insert(values[name], value)
    end
  end
  table.sort(names)
  local lines = {}
  for i, name in ipairs(names) do lines[i] = name .. ":" .. table.concat(values[name], ",") .. "\n" end
  return table.concat(lines), table.concat(names, ";")
end

local function file_digest(path)
  local file <close> = assert(io.open(path, "rb"))
  return digest.hex(digest.sha256(assert(file:read("a"))))
end

local function body_digest(body)
  if body == nil then return digest.hex(digest.sha256("")) end
  if type(body) == "string" then return digest.hex(digest.sha256(body)) end
  if type(body) == "table" and body.data then return digest.hex(digest.sha256(body.data)) end
  if type(body) == "table" and body.file then return file_digest(body.file) end
  -- What is not known before it is sent.
  return "UNSIGNED-PAYLOAD"
end

local function host_of(parts)
  local usual = parts.scheme == "https" and 443 or 80
  if not parts.port or parts.port == usual then return parts.host end
  return parts.host .. ":" .. parts.port
end

function Signer:_canonical_request(request, parts)
  local lines, names = canonical_headers(request.headers)
  local hash = request.headers["X-Amz-Content-Sha256"] or body_digest(request.body)
  local texts = {
    request.method, canonical_path(self, parts.path or "/"), canonical_query(parts.query), lines, names, hash,
  }
  return table.concat(texts, "\n"), names
end

-- The signature -------------------------------------------------------------------------------------------------------

function Signer:_key(day)
  local key = "AWS4" .. self._secret_key
  for _, part in ipairs { day, self._region, self._service, "aws4_request" } do
    key = digest.hmac("sha256", key, part)
  end
  return key
end

function Signer:_scope(day)
  return table.concat({ day, self._region, self._service, "aws4_request" }, "/")
end

function Signer:_string_to_sign(canonical, time)
  local hash = digest.hex(digest.sha256(canonical))
  return table.concat({ ALGORITHM, time, self:_scope(time:sub(1, 8)), hash }, "\n")
end

-- Signs a request: adds X-Amz-Date, Authorization and what else is asked for.
function Signer:prepare(_, request)
  local parts, err = url.parse(request.url)
  if not parts then return nil, err end
  local time = os.date("!%Y%m%dT%H%M%SZ", self._now())
  local list = request.headers
  if not list["Host"] then list["Host"] = host_of(parts) end
  list["X-Amz-Date"] = time
  if self._session_token then list["X-Amz-Security-Token"] = self._session_token end
  if self._sign_body then list["X-Amz-Content-Sha256"] = body_digest(request.body) end
  local canonical, names = self:_canonical_request(request, parts)
  local signature = digest.hex(digest.hmac("sha256", self:_key(time:sub(1, 8)), self:_string_to_sign(canonical, time)))
  list["Authorization"] = ("%s Credential=%s/%s, SignedHeaders=%s, Signature=%s"):format(
    ALGORITHM, self._access_key, self:_scope(time:sub(1, 8)), names, signature)
end

return sigv4
