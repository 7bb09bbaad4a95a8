-- Header fields: a list of name and value that is looked up without regard to case.
--
-- headers[name] is the value; repeated fields are joined by ", " (RFC 9110 §5.3). headers[name] = value replaces all of
-- the name, nil removes them. headers:get_all(name) lists them one by one, headers:add(name, value) appends one,
-- pairs(headers) goes through them in wire order. The fields of a response are parsed when first looked at.

local options = require "http.options"

local LIST, BLOCK = {}, {}
local Headers = { __name = "http.headers" }
local methods = {}

local function parse(block)
  local list, n = {}, 0
  for name, value in block:gmatch("([^:\r\n]+):[ \t]*([^\r\n]*)") do
    n = n + 1
    list[n] = { name, (value:gsub("[ \t]+$", "")) }
  end
  return list
end

local function list_of(self)
  local list = rawget(self, LIST)
  if not list then
    local block = rawget(self, BLOCK)
    list = block and parse(block) or {}
    rawset(self, LIST, list)
    rawset(self, BLOCK, nil)
  end
  return list
end

function methods:get_all(name)
  options.receiver(self, Headers, "headers:get_all")
  options.expect(name, "string", "argument #1 of headers:get_all")
  local wanted, values = name:lower(), {}
  for _, field in ipairs(list_of(self)) do
    if field[1]:lower() == wanted then values[#values + 1] = field[2] end
  end
  return values
end

function methods:add(name, value)
  options.receiver(self, Headers, "headers:add")
  options.expect(name, "string", "a header's name")
  options.expect(value, "string|number", "header '" .. name .. "'")
  local list = list_of(self)
  list[#list + 1] = { name, tostring(value) }
end

function Headers.__index(self, name)
  if methods[name] then return methods[name] end
  if type(name) ~= "string" then return nil end
  local values = methods.get_all(self, name)
  if #values == 0 then return nil end
  return table.concat(values, ", ")
end

function Headers.__newindex(self, name, value)
  options.expect(name, "string", "a header's name")
  local list, wanted, kept = list_of(self), name:lower(), {}
  local position
  for _, field in ipairs(list) do
    if field[1]:lower() ~= wanted then
      kept[#kept + 1] = field
    else
      position = position or #kept + 1
    end
  end
  if type(value) == "table" then
    for _, one in ipairs(value) do
      options.expect(one, "string|number", "header '" .. name .. "'")
      kept[#kept + 1] = { name, tostring(one) }
    end
  elseif value ~= nil then
    options.expect(value, "string|number|table", "header '" .. name .. "'")
    table.insert(kept, position or #kept + 1, { name, tostring(value) })
  end
  rawset(self, LIST, kept)
end

function Headers.__pairs(self)
  local list, i = list_of(self), 0
  return function()
    i = i + 1
    local field = list[i]
    if field then return field[1], field[2] end
  end
end

function Headers.__len(self) return #list_of(self) end

function Headers.__tostring(self)
  local lines = {}
  for name, value in pairs(self) do lines[#lines + 1] = name .. ": " .. value end
  return table.concat(lines, "\n")
end

local headers = {}

function headers.is(value) return getmetatable(value) == Headers end

-- From field lines as received.
function headers.from_block(block) return setmetatable({ [BLOCK] = block }, Headers) end

-- From names and values each ended by NUL, as the core gives a proposed request's fields.
function headers.from_flat(text)
  local list = {}
  for name, value in text:gmatch("(%Z*)%z(%Z*)%z") do list[#list + 1] = { name, value } end
  return setmetatable({ [LIST] = list }, Headers)
end

-- From what a script gives: a table of name -> value (or list of values), a list of { name, value }, or headers.
function headers.from(given)
  -- Most requests have no fields of their own: their list is made with the first one.
  local result = setmetatable({}, Headers)
  if given == nil then return result end
  if headers.is(given) then
    if next(given) == nil then return result end
    for name, value in pairs(given) do result:add(name, value) end
    return result
  end
  options.expect(given, "table", "'headers'")
  for _, pair in ipairs(given) do
    options.expect(pair, "table", "an item of 'headers'")
    result:add(pair[1] or pair.name, pair[2] or pair.value)
  end
  local names = {}
  for name in pairs(given) do
    if type(name) == "string" then
      names[#names + 1] = name
    elseif math.type(name) ~= "integer" then
      options.misuse("'headers' has a key that is not a name: %s", tostring(name))
    end
  end
  table.sort(names)
  for _, name in ipairs(names) do
    local value = given[name]
    if type(value) == "table" then
      for _, one in ipairs(value) do result:add(name, one) end
    else
      result:add(name, value)
    end
  end
  return result
end

-- Names and values each ended by NUL, or nil and what is wrong: a field that would change the message's framing.
function headers.flatten(self)
  if next(self) == nil then return nil end
  local list = list_of(self)
  if #list == 0 then return nil end
  local parts = {}
  for i, field in ipairs(list) do
    local name, value = field[1], field[2]
    if not name:find("^[!#$%%&'*+%-.^_`|~%w]+$") then
      return nil, ("header name %q is not a token (RFC 9110 §5.1)"):format(name)
    end
    if value:find("[\r\n\0]") then
      return nil, ("header '%s' has a line break or NUL in its value"):format(name)
    end
    parts[i] = name .. "\0" .. value .. "\0"
  end
  return table.concat(parts)
end

return headers
