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

-- The shortest of the names that begin with `name`, or nil.
local function completion(name, names)
  local best
  for candidate in pairs(names) do
    if type(candidate) == "string" and candidate:find(name, 1, true) == 1 then
      local is_shorter = not best or #candidate < #best or (#candidate == #best and candidate < best)
      if is_shorter then best = candidate end
    end
  end
  return best
end

-- The name in `names` (keys) that `name` was probably meant to be, or nil. With `most`, it differs by so many letters
-- at most.
function options.nearest(name, names, most)
  local best, least = nil, (most or math.max(1, #name // 3)) + 1
  for candidate in pairs(names) do
    if type(candidate) == "string" then
      local d = distance(name:lower(), candidate)
      if d < least or (d == least and best and candidate < best) then
        best, least = candidate, d
      end
    end
  end
  return best or (not most and #name >= 4 and completion(name:lower(), names) or nil)
end

-- The real metatable, whatever a field __metatable says.
local metatable_of = debug.getmetatable

local function describe(value)
  local meta = type(value) == "table" and metatable_of(value)
  local name = meta and rawget(meta, "__name")
  return type(name) == "string" and name or type(value)
end

-- Whether a value can be called.
function options.is_callable(value)
  if type(value) == "function" then return true end
  local meta = metatable_of(value)
  return meta ~= nil and rawget(meta, "__call") ~= nil
end

-- Raises unless a method was called on an object of its class: `get` with a dot in place of a colon.
function options.receiver(value, class, what)
  if metatable_of(value) == class then return end
  misuse("%s must be called on an object (with a colon), not on %s", what, describe(value))
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

local function check_type(name, value, wanted)
  if matches(value, wanted) then return end
  misuse("option '%s' must be %s, not %s", name, (wanted:gsub("|", " or ")), describe(value))
end

-- What may have been meant by a name that is none, in brackets, or "".
local function hint(name, specification, foreign)
  if foreign and foreign[name] then return " (here it is " .. foreign[name] .. ")" end
  local near = options.nearest(name, specification)
  return near and (" (did you mean '" .. near .. "'?)") or ""
end

-- Checks every name and type of a table of options against `specification` (name -> types). nil is an empty table.
-- `foreign`: names that other libraries have for them, and what it is called here.
function options.check(given, specification, what, foreign)
  if given == nil then return {} end
  if type(given) ~= "table" then misuse("%s must be a table, not %s", what, describe(given)) end
  for name, value in next, given do
    local wanted = specification[name]
    if wanted == nil then
      if type(name) ~= "string" then misuse("%s has a key that is not a name: %s", what, tostring(name)) end
      misuse("unknown option '%s'%s", name, hint(name, specification, foreign))
    end
    check_type(name, value, wanted)
  end
  if metatable_of(given) then
    for name, wanted in pairs(specification) do
      if given[name] ~= nil then check_type(name, given[name], wanted) end
    end
  end
  return given
end

-- Raises unless `value` is text that arrives as it is where C's strings and Swift's are used: a path. It is not shown.
function options.text(value, what)
  options.expect(value, "string", what)
  if value:find("\0", 1, true) then misuse("%s must not contain NUL", what) end
  if not utf8.len(value) then misuse("%s must be UTF-8", what) end
  return value
end
options.path = options.text

-- Raises unless `value` can be a user's name, a password or a token (RFC 7617 §2): bytes without control characters. It
-- is not shown.
function options.secret(value, what)
  options.expect(value, "string", what)
  if value:find("%c") then misuse("%s must not contain control characters", what) end
  return value
end
options.line = options.secret

return options
