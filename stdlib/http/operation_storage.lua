-- Operations as blobs: a mark with a version, a checksum, and the fields one behind another.

local errors = require "http.errors"
local headers = require "http.headers"
local request = require "http.request"
local transfer = require "http.operation_transfer"

local storage = {}

local MARK = "httpscript operation 1\n"
local SECRET = { authorization = true, cookie = true, ["proxy-authorization"] = true }

local function without_secrets(list)
  local kept = headers.from(nil)
  for name, value in pairs(list) do
    if not SECRET[name:lower()] then kept:add(name, value) end
  end
  return kept
end

local function pack_list(values)
  local texts = {}
  for index, value in ipairs(values) do texts[index] = string.pack("<s4", value) end
  return table.concat(texts)
end

local function unpack_list(packed)
  local values, position = {}, 1
  while position <= #packed do
    local ok, value, following = pcall(string.unpack, "<s4", packed, position)
    if not ok then return nil end
    values[#values + 1], position = value, following
  end
  return values
end

local function pack_headers(list)
  local flat = {}
  for name, value in pairs(list) do
    flat[#flat + 1] = name
    flat[#flat + 1] = value
  end
  return pack_list(flat)
end

local function unpack_headers(packed)
  local flat = packed and unpack_list(packed)
  if not flat or #flat % 2 ~= 0 then return nil end
  local list = headers.from(nil)
  for index = 1, #flat, 2 do list:add(flat[index], flat[index + 1]) end
  return list
end

-- Adler-32 (RFC 1950 §8.2): whether a blob is as it was written.
local function checksum(text)
  local a, b = 1, 0
  for first = 1, #text, 2048 do
    for _, byte in ipairs { text:byte(first, math.min(first + 2047, #text)) } do
      a = a + byte
      b = b + a
    end
    a, b = a % 65521, b % 65521
  end
  return b << 16 | a
end

-- A request's body as kind and value; nil for one that cannot be stored.
local function body_of(op)
  local body = op.request.body
  if op.input_stream then return nil end
  if body == nil then return "none", "" end
  if type(body) == "string" then return "data", body end
  if type(body) == "table" and type(body.file) == "string" then return "file", body.file end
end

local STATES = { ready = "ready", executing = "paused", paused = "paused", finished = "finished" }

-- The blob of an operation | nil, err.
function storage.encode(op)
  local kind, body = body_of(op)
  if not kind then
    return nil, errors.new {
      domain = "script", code = "cannot_encode", message = "an operation with a streamed body cannot be stored",
    }
  end
  local sent, response = op.request, op.response
  local fields = {
    sent.method, request.shown_url(sent.url), pack_headers(without_secrets(sent.headers)), kind, body, STATES[op.state],
  }
  if response then
    for _, value in ipairs {
      tostring(response.status), response.reason, response.http_version, response.url, pack_headers(response.headers),
      tostring(response.expected_content_length), transfer.data(op) or "",
    } do
      fields[#fields + 1] = value
    end
  end
  local packed = pack_list(fields)
  return MARK .. string.pack("<I4", checksum(packed)) .. packed
end

local function damaged()
  return nil, errors.new { domain = "script", code = "cannot_decode", message = "not a stored operation, or damaged" }
end

-- The parts of a blob: request, state, response, data | nil, err.
function storage.decode(blob)
  local packed = blob:sub(#MARK + 5)
  if blob:sub(1, #MARK) ~= MARK or #blob < #MARK + 4 then return damaged() end
  if string.unpack("<I4", blob, #MARK + 1) ~= checksum(packed) then return damaged() end
  local fields = unpack_list(packed)
  if not fields or #fields ~= 6 and #fields ~= 13 then return damaged() end
  local list = unpack_headers(fields[3])
  if not list then return damaged() end
  local body = fields[5]
  if fields[4] == "none" then
    body = nil
  elseif fields[4] == "file" then
    body = { file = body }
  end
  local stored = {
    request = request.new { method = fields[1], url = fields[2], headers = list, body = body }, state = fields[6],
  }
  if #fields == 6 then return stored end
  local answered = unpack_headers(fields[11])
  if not answered then return damaged() end
  stored.response = require("http.response").make(math.tointeger(tonumber(fields[7])) or 0, fields[8], fields[9],
    fields[10], tostring(answered), math.tointeger(tonumber(fields[12])) or -1)
  stored.data = fields[13]
  return stored
end

return storage
