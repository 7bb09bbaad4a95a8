-- Checks tables of named options, with messages that help.

local options = {}

-- Edit distance, transpositions counted as one (restricted Damerau-Levenshtein).
local function distance(a, b)
  local before, previous = {}, {}
  for j = 0, #b do
    previous[j] = j
  end
  for i = 1, #a do
    local current = { [0] = i }
    for j = 1, #b do
      local cost = a:byte(i) == b:byte(j) and 0 or 1
      current[j] = math.min(previous[j] + 1, current[j - 1] + 1, previous[j - 1] + cost)
      if i > 1 and j > 1 and a:byte(i) == b:byte(j - 1) and a:byte(i - 1) == b:byte(j) then
        current[j] = math.min(current[j], before[j - 2] + 1)
      end
    end
    before, previous = previous, current
  end
  return previous[#b]
end

--- The known name that `name` was probably meant to be; nil when none is near.
function options.nearest(name, known)
  local best, best_distance
  for candidate in pairs(known) do
    local d = distance(name, candidate)
    if not best or d < best_distance or (d == best_distance and candidate < best) then
      best, best_distance = candidate, d
    end
  end
  -- Two slips, fewer in a short word.
  if best and best_distance <= math.min(2, #name // 2) then return best end
  return nil
end

local function has_type(value, types)
  for wanted in types:gmatch("[^|]+") do
    if type(value) == wanted or (wanted == "integer" and math.type(value) == "integer")
      or (wanted == "list" and type(value) == "table") then
      return true
    end
  end
  return false
end

--- Checks `given` against `known`: name -> types ("string|list"). Raises at the caller's `level` (as for error)
-- for a name that is not known or a value of another type. `what` names the table in messages.
function options.check(given, known, what, level)
  level = (level or 1) + 1
  if type(given) ~= "table" then
    error(("bad argument '%s' (a table is expected, not %s)"):format(what, type(given)), level)
  end
  for name, value in pairs(given) do
    local types = known[name]
    if not types then
      local near = type(name) == "string" and options.nearest(name, known)
      local hint = near and (" (did you mean '%s'?)"):format(near) or ""
      error(("unknown option '%s'%s"):format(tostring(name), hint), level)
    end
    if not has_type(value, types) then
      error(("bad option '%s' (%s is expected, not %s)"):format(name, types:gsub("|", " or "), type(value)), level)
    end
  end
end

return options
