-- URLs: parse, build, resolve, normalise, percent-encoding. libcurl's URL API does the work, so that what a script sees
-- is what goes on the wire.

local native = require "httpscript.url"
local errors = require "http.errors"
local options = require "http.options"
local request = require "http.request"

local url = {}

local URL = { __name = "http.url" }

local function bad_url(message, text)
  return nil, errors.new { domain = "url", code = "bad_url", message = message, url = request.shown_url(text) }
end

function URL.__tostring(u)
  local text, problem = native.build(u.scheme, u.user, u.password, u.host, u.port, u.path, u.query, u.fragment)
  if not text then error("these parts make no URL: " .. problem, 2) end
  return text
end

function URL.__eq(a, b) return tostring(a) == tostring(b) end

-- url.parse(text) -> u | nil, err. Fields: scheme, user, password, host, port (nil where it is not written), path,
-- query, fragment, all as written on the wire; tostring(u) builds the URL again.
function url.parse(text)
  options.expect(text, "string", "argument #1 of url.parse")
  local scheme, user, password, host, port, path, query, fragment = native.parse(text)
  if not scheme then return bad_url(user, text) end
  return setmetatable({
    scheme = scheme, user = user, password = password, host = host, port = port, path = path, query = query,
    fragment = fragment,
  }, URL)
end

-- url.resolve(base, reference) -> text | nil, err (RFC 3986 §5).
function url.resolve(base, reference)
  options.expect(base, "string|table", "argument #1 of url.resolve")
  options.expect(reference, "string|table", "argument #2 of url.resolve")
  base, reference = tostring(base), tostring(reference)
  local text, problem = native.resolve(base, reference)
  if not text then return bad_url(problem, reference) end
  return text
end

-- url.normalize(text) -> text | nil, err: lower-case scheme and host, no default port, dot segments removed, escapes
-- in upper case and only where needed (RFC 3986 §6.2).
function url.normalize(text)
  options.expect(text, "string|table", "argument #1 of url.normalize")
  local normal, problem = native.normalize(tostring(text))
  if not normal then return bad_url(problem, tostring(text)) end
  return normal
end

-- url.encode(text) -> text with everything but the unreserved characters percent-encoded (RFC 3986 §2.3).
function url.encode(text)
  return native.encode(options.expect(text, "string", "argument #1 of url.encode"))
end

-- url.decode(text) -> bytes. A percent sign that begins no escape stays.
function url.decode(text)
  return native.decode(options.expect(text, "string", "argument #1 of url.decode"))
end

-- url.encode_query(fields) -> "a=1&b=2". Names in sorted order, list values repeat; a list of { name, value } keeps its
-- order.
function url.encode_query(fields)
  options.expect(fields, "table", "argument #1 of url.encode_query")
  return request.encode_query(fields)
end

-- url.decode_query(text) -> table name -> value; a repeated name has a list. "+" is a space.
function url.decode_query(text)
  options.expect(text, "string", "argument #1 of url.decode_query")
  local fields = {}
  for pair in text:gsub("^%?", ""):gmatch("[^&]+") do
    local name, value = pair:match("^([^=]*)=?(.*)$")
    name, value = native.decode(name, true), native.decode(value, true)
    local known = fields[name]
    if known == nil then
      fields[name] = value
    elseif type(known) == "table" then
      known[#known + 1] = value
    else
      fields[name] = { known, value }
    end
  end
  return fields
end

return url
