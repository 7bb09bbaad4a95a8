-- Runs the rows of a conformance suite through one process.
-- Arguments: the suite, a file of JSON with its rows, and for some suites the origin of a server.
-- Prints a JSON line for each row: { index = n, ... }.
local http = require "http"
local json = require "json"

local suite, path, origin = ...
local suites = {}

-- Text of any bytes as JSON can carry it: one code point per byte.
local function latin1(text)
  return text and (text:gsub("[\x80-\xff]", function(char) return utf8.char(char:byte()) end)) or json.null
end

function suites.dates(row)
  return { epoch = http.parse_date(row.input) or json.null }
end

function suites.resolve(row)
  return { url = require("http.url").resolve(row.base, row.input) or json.null }
end

function suites.normalise(row)
  return { url = require("http.url").normalize(row.input) or json.null }
end

function suites.link(row, index)
  local url = require "http.url"
  local found = json.array {}
  local response = assert(http.get(origin .. "/" .. index))
  for _, link in ipairs(response:links()) do
    local params = json.object {}
    for name, value in pairs(link.params) do params[name] = tostring(value) end
    local rel = link.rel or ""
    if type(rel) == "table" then rel = table.concat(rel, " ") end
    found[#found + 1] = { url = link.url, rel = rel, params = params }
  end
  local expected = json.array {}
  for _, link in ipairs(type(row.links) == "table" and row.links or {}) do
    expected[#expected + 1] = url.resolve(response.url, link.uri) or link.uri
  end
  return { links = found, expected = expected }
end

function suites.multipart(row)
  local data = row.file and row.file.content or row.value
  local part = { name = row.name, data = data }
  if row.file then part.filename, part.type = row.file.filename, row.file.type end
  if row.enctype == "multipart/form-data" then
    assert(http.post(origin, { multipart = { part } }))
  else
    assert(http.post(origin, { form = { [row.name] = row.value or row.file.filename } }))
  end
  return {}
end

function suites.wire(_, index)
  local response, err = http.get(origin .. "/" .. index, { timeout = 5, redirects = false })
  if not response then return { error = err.code } end
  local fields = json.array {}
  for name, value in pairs(response.headers) do fields[#fields + 1] = latin1(name .. ": " .. value) end
  return {
    body = latin1(response.body), fields = fields, mime = latin1(response.mime_type),
    charset = latin1(response.text_encoding_name), status = response.status,
  }
end

-- The origin is a proxy that answers for every host.
function suites.cookies(row, index)
  local session = http.session(http.configuration.ephemeral { connection_proxy = origin })
  local options = { headers = { ["X-Row"] = index } }
  local response = assert(session:get(row.set_url, options))
  if not row.via_redirect then response = assert(session:get(row.request_url, options)) end
  return { cookie = latin1(response.body) }
end

local file <close> = assert(io.open(path))
for index, row in ipairs(assert(json.decode(file:read("a")))) do
  local ok, answer = pcall(suites[suite], row, index)
  if not ok then answer = { raised = tostring(answer) } end
  answer.index = index
  io.write(assert(json.encode(answer)), "\n")
end
