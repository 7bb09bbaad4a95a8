-- Nested parameters as name=value pairs, in the styles that servers read.

local options = require "http.options"
local request = require "http.request"

local query = {}

-- brackets: a[b]=1, a[]=1 (AFNetworking, Rails, PHP) · repeat: a.b=1, a=1&a=2 · comma: a.b=1, a=1,2.
local STYLES = { brackets = true, ["repeat"] = true, comma = true }

function query.check_style(style) return options.expect_word(style, STYLES, "query style") end

local function scalar(name, value)
  if type(value) == "boolean" or type(value) == "number" then return tostring(value) end
  return options.expect(value, "string", "parameter '" .. name .. "'")
end

local function sorted_names(object)
  local names = {}
  for key in pairs(object) do
    if type(key) ~= "string" then options.misuse("parameters have a key that is not a name: %s", tostring(key)) end
    names[#names + 1] = key
  end
  table.sort(names)
  return names
end

local add

local function add_list(out, name, list, style)
  if style == "comma" then
    local texts = {}
    for index, one in ipairs(list) do texts[index] = request.escape(scalar(name, one)) end
    out[#out + 1] = { name, table.concat(texts, ","), is_encoded = true }
    return
  end
  for _, one in ipairs(list) do add(out, style == "brackets" and name .. "[]" or name, one, style) end
end

local function add_object(out, name, object, style)
  for _, key in ipairs(sorted_names(object)) do
    add(out, style == "brackets" and name .. "[" .. key .. "]" or name .. "." .. key, object[key], style)
  end
end

function add(out, name, value, style)
  if type(value) ~= "table" then
    out[#out + 1] = { name, scalar(name, value) }
  elseif #value > 0 then
    add_list(out, name, value, style)
  else
    add_object(out, name, value, style)
  end
end

local function flatten(parameters, style)
  local out = {}
  for _, name in ipairs(sorted_names(parameters)) do add(out, name, parameters[name], style) end
  return out
end

-- Text of a query or a form, names in sorted order.
function query.encode(parameters, style)
  local texts = {}
  for index, pair in ipairs(flatten(parameters, query.check_style(style))) do
    texts[index] = request.escape(pair[1]) .. "=" .. (pair.is_encoded and pair[2] or request.escape(pair[2]))
  end
  return table.concat(texts, "&")
end

-- The same as parts of a multipart form.
function query.fields(parameters, style)
  local parts = {}
  for index, pair in ipairs(flatten(parameters, type(style) == "string" and style or "brackets")) do
    parts[index] = { name = pair[1], data = pair[2] }
  end
  return parts
end

return query
