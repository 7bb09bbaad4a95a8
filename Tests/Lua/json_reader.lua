-- Reads the fixtures: the product's own json where it is there, else a small reader for correct JSON.

local ok, json = pcall(require, "json")
local reader = {}

local ESCAPE = { b = "\b", f = "\f", n = "\n", r = "\r", t = "\t", ['"'] = '"', ["\\"] = "\\", ["/"] = "/" }
reader.null = ok and json.null or setmetatable({}, { __tostring = function() return "null" end })

local value

local function unescape(text)
  -- A pair of surrogates is one character; a lone one is kept as its three bytes.
  text = text:gsub("\\u([dD][89abAB]%x%x)\\u([dD][c-fC-F]%x%x)", function(high, low)
    return utf8.char(0x10000 + ((tonumber(high, 16) & 0x3FF) << 10) + (tonumber(low, 16) & 0x3FF))
  end)
  text = text:gsub("\\u(%x%x%x%x)", function(digits) return utf8.char(tonumber(digits, 16)) end)
  return (text:gsub('\\(["\\/bfnrt])', ESCAPE))
end

local function string_at(text, position)
  local start = position + 1
  position = start
  while true do
    local _, last = text:find('^[^"\\]*', position)
    if text:sub(last + 1, last + 1) == '"' then
      local raw = text:sub(start, last)
      if not raw:find("\\", 1, true) then return raw, last + 2 end
      -- `\\` is set apart first, so that what follows it is not taken for its escape.
      raw = raw:gsub("\\\\", "\1")
      return (unescape(raw):gsub("\1", "\\")), last + 2
    end
    position = last + 3
  end
end

local function skip(text, position) return select(2, text:find("^[ \t\r\n]*", position)) + 1 end

local function container(text, position, closing, item)
  local result = {}
  position = skip(text, position + 1)
  while text:sub(position, position) ~= closing do
    position = skip(text, item(result, position))
    if text:sub(position, position) == "," then position = skip(text, position + 1) end
  end
  return result, position + 1
end

function value(text, position)
  position = skip(text, position)
  local first = text:sub(position, position)
  if first == '"' then return string_at(text, position) end
  if first == "[" then
    return container(text, position, "]", function(list, at)
      list[#list + 1], at = value(text, at)
      return at
    end)
  elseif first == "{" then
    return container(text, position, "}", function(object, at)
      local key
      key, at = string_at(text, at)
      object[key], at = value(text, skip(text, at) + 1)
      return at
    end)
  end
  local word = text:match("^[%w.+-]+", position) or error("no JSON value at byte " .. position)
  local constants = { ["true"] = true, ["false"] = false, null = reader.null }
  local constant = constants[word]
  if constant == nil then constant = tonumber(word) end
  return constant, position + #word
end

--- The document in a file.
function reader.read(path)
  local file <close> = assert(io.open(path, "rb"))
  local text = file:read("a")
  if ok then return assert(json.decode(text)) end
  return (value(text, 1))
end

return reader
