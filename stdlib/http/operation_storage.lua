-- Operations as blobs: a mark with a version, a checksum, and the fields one behind another.

local core = require "httpscript.core"
local errors = require "http.errors"
local headers = require "http.headers"
local packing = require "http.packing"
local request = require "http.request"
local transfer = require "http.operation_transfer"

local storage = {}

local MARK = "httpscript operation 2\n"

local function without_secrets(list)
  local kept = headers.from(nil)
  for name, value in pairs(list) do
    if not core.is_secret_field(name) then kept:add(name, value) end
  end
  return kept
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

local STATES = { ready = "ready", executing = "paused", paused = "paused", finished = "finished" }

-- The request as it is stored; nil for one that cannot be.
local function pack_request(op)
  if op.input_stream then return nil end
  local sent = op.request:copy()
  sent.url, sent.headers = request.shown_url(sent.url), without_secrets(sent.headers)
  return packing.request(sent)
end

-- The blob of an operation | nil, err.
function storage.encode(op)
  local sent = pack_request(op)
  if not sent then
    return nil, errors.new {
      domain = "script", code = "cannot_encode", message = "an operation with a streamed body cannot be stored",
    }
  end
  local response = op.response
  local fields = { sent, STATES[op.state] }
  if response then
    for _, value in ipairs {
      tostring(response.status), response.reason, response.http_version, response.url,
      packing.record(response.headers), tostring(response.expected_content_length), transfer.data(op) or "",
    } do
      fields[#fields + 1] = value
    end
  end
  local packed = packing.list(fields)
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
  local fields = packing.unlist(packed)
  local sent = fields and (#fields == 2 or #fields == 9) and packing.unrequest(fields[1])
  if not sent then return damaged() end
  local stored = { request = sent, state = fields[2] }
  if #fields == 2 then return stored end
  local answered = packing.unheaders(fields[7])
  if not answered then return damaged() end
  local block = tostring(answered):gsub("\n", "\r\n") .. "\r\n"
  stored.response = require("http.response").make(math.tointeger(tonumber(fields[3])) or 0, fields[4], fields[5],
    fields[6], block, math.tointeger(tonumber(fields[8])) or -1)
  stored.data = fields[9]
  return stored
end

return storage
