-- Values as bytes, for what outlives the process: strings one behind another after their lengths.

local headers = require "http.headers"
local request = require "http.request"

local packing = {}

-- A list of strings as one.
function packing.list(values)
  local texts = {}
  for index, value in ipairs(values) do texts[index] = string.pack("<s4", value) end
  return table.concat(texts)
end

-- The list again; nil where it is none.
function packing.unlist(packed)
  local values, position = {}, 1
  while position <= #packed do
    local ok, value, following = pcall(string.unpack, "<s4", packed, position)
    if not ok then return nil end
    values[#values + 1], position = value, following
  end
  return values
end

-- Strings by name as one; also header fields, in their order.
function packing.record(fields)
  local flat = {}
  for name, value in pairs(fields) do
    flat[#flat + 1] = name
    flat[#flat + 1] = value
  end
  return packing.list(flat)
end

-- Calls add(name, value) for each string of a record -> whether it is one.
local function each_pair(packed, add)
  local flat = packed and packing.unlist(packed)
  if not flat or #flat % 2 ~= 0 then return false end
  for index = 1, #flat, 2 do add(flat[index], flat[index + 1]) end
  return true
end

-- The strings by name again; nil where there are none.
function packing.unrecord(packed)
  local fields = {}
  return each_pair(packed, function(name, value) fields[name] = value end) and fields or nil
end

-- The header fields again; nil where there are none.
function packing.unheaders(packed)
  local list = headers.from(nil)
  return each_pair(packed, function(name, value) list:add(name, value) end) and list or nil
end

-- The fields of a request that are texts, and how the others become texts and are read again.
local TEXTS = { "method", "url", "cache_policy", "network_service_type", "main_document_url" }
local FLAGS = { "allows_cellular_access", "http_should_handle_cookies", "http_should_use_pipelining" }

-- A request; nil for one whose body is a stream.
function packing.request(req)
  local body = rawget(req, "body")
  local fields = { headers = packing.record(req.headers) }
  if type(body) == "string" then
    fields.data = body
  elseif type(body) == "table" and type(body.file) == "string" then
    fields.file = body.file
  elseif body ~= nil then
    return nil
  end
  for _, name in ipairs(TEXTS) do fields[name] = rawget(req, name) end
  for _, name in ipairs(FLAGS) do
    local value = rawget(req, name)
    if value ~= nil then fields[name] = value and "1" or "0" end
  end
  local timeout = rawget(req, "timeout")
  if timeout then fields.timeout = ("%.17g"):format(timeout) end
  return packing.record(fields)
end

-- The request again; nil where it is none.
function packing.unrequest(packed)
  local fields = packing.unrecord(packed)
  local list = fields and packing.unheaders(fields.headers)
  if not list or not fields.method or not fields.url then return nil end
  local given = { headers = list, body = fields.data or fields.file and { file = fields.file } or nil }
  for _, name in ipairs(TEXTS) do given[name] = fields[name] end
  for _, name in ipairs(FLAGS) do
    if fields[name] then given[name] = fields[name] == "1" end
  end
  given.timeout = tonumber(fields.timeout)
  return request.new(given)
end

return packing
