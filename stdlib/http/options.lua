-- Checking of options and arguments: names with a suggestion, types with the argument's name, and errors that point at
-- the line of the script that made the call.

local options = {}

-- Raises at the nearest frame that is neither the standard library nor C.
function options.misuse(message, ...)
  if select("#", ...) > 0 then message = message:format(...) end
  local level = 2
  while true do
    local info = debug.getinfo(level, "S")
    if not info then break end
    if info.what ~= "C" and info.source:sub(1, 13) ~= "=[httpscript]" then break end
    level = level + 1
  end
  error(message, level)
end
local misuse = options.misuse

-- Edit distance with transposition (optimal string alignment).
local function distance(a, b)
  local before, previous = nil, {}
  for j = 0, #b do previous[j] = j end
  for i = 1, #a do
    local row = { [0] = i }
    for j = 1, #b do
      local cost = a:byte(i) == b:byte(j) and 0 or 1
      local best = math.min(previous[j] + 1, row[j - 1] + 1, previous[j - 1] + cost)
      if before and j > 1 and a:byte(i) == b:byte(j - 1) and a:byte(i - 1) == b:byte(j) then
        best = math.min(best, before[j - 2] + 1)
      end
      row[j] = best
    end
    before, previous = previous, row
  end
  return previous[#b]
end

-- The name in `names` (keys) that `name` was probably meant to be, or nil.
function options.nearest(name, names)
  local best, least = nil, math.max(1, #name // 3) + 1
  for candidate in pairs(names) do
    if type(candidate) == "string" then
      local d = distance(name:lower(), candidate)
      if d < least or (d == least and best and candidate < best) then
        best, least = candidate, d
      end
    end
  end
  return best
end

local function describe(value)
  local kind = type(value)
  if kind == "table" and (getmetatable(value) or {}).__name then return getmetatable(value).__name end
  return kind
end

local function matches(value, wanted)
  local kind = type(value)
  for one in wanted:gmatch("[^|]+") do
    if kind == one then return true end
    if one == "integer" and math.type(value) == "integer" then return true end
    if one == "list" and kind == "table" then return true end
    if one == "false" and value == false then return true end
    if one == "any" then return true end
  end
  return false
end

-- Raises unless `value` is of one of the types in `wanted` ("string|table").
function options.expect(value, wanted, what)
  if not matches(value, wanted) then
    misuse("%s must be %s, not %s", what, (wanted:gsub("|", " or ")), describe(value))
  end
  return value
end

-- Raises unless `value` is one of the words in `known` (keys).
function options.expect_word(value, known, what)
  if known[value] then return value end
  local near = options.nearest(tostring(value), known)
  misuse("unknown %s '%s'%s", what, tostring(value), near and (" (did you mean '" .. near .. "'?)") or "")
end

-- Checks every name and type of a table of options against `specification` (name -> types). nil is an empty table.
function options.check(given, specification, what)
  if given == nil then return {} end
  if type(given) ~= "table" then misuse("%s must be a table, not %s", what, describe(given)) end
  for name, value in next, given do
    local wanted = specification[name]
    if wanted == nil then
      if type(name) ~= "string" then misuse("%s has a key that is not a name: %s", what, tostring(name)) end
      local near = options.nearest(name, specification)
      misuse("unknown option '%s'%s", name, near and (" (did you mean '" .. near .. "'?)") or "")
    end
    if not matches(value, wanted) then
      misuse("option '%s' must be %s, not %s", name, (wanted:gsub("|", " or ")), describe(value))
    end
  end
  return given
end

return options
