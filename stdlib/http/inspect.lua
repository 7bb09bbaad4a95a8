-- Values as text for people: what the dialogue shows.
--
-- Strings are quoted, tables are written as Lua would have them, objects speak for themselves (`__tostring`). The text
-- is bounded whatever the value is: by depth, by the number of members, by the length of strings; a table inside
-- itself is named, not followed.

local MAX_DEPTH = 5
local MAX_MEMBERS = 100
local MAX_TOTAL = 1000
local MAX_STRING = 4000
local MAX_NESTED_STRING = 200
local DEFAULT_WIDTH = 80

local KEYWORDS = {}
for word in ([[and break do else elseif end false for function goto if in local nil not or repeat return then true
  until while]]):gmatch("%a+") do
  KEYWORDS[word] = true
end

local NAMED = { ["\n"] = "\\n", ["\r"] = "\\r", ["\t"] = "\\t", ["\""] = "\\\"", ["\\"] = "\\\\" }

local function escape(text)
  return (text:gsub("[%c\"\\\127]", function(char) return NAMED[char] or ("\\x%02X"):format(char:byte()) end))
end

-- Bytes that are no UTF-8 as escapes: a terminal shall not get them.
local function escape_invalid(text)
  local pieces, at = {}, 1
  while at <= #text do
    local _, bad = utf8.len(text, at)
    pieces[#pieces + 1] = text:sub(at, bad and bad - 1)
    if not bad then break end
    pieces[#pieces + 1] = ("\\x%02X"):format(text:byte(bad))
    at = bad + 1
  end
  return table.concat(pieces)
end

local function quote(text, limit)
  local shown, rest = text, ""
  if #text > limit then
    shown = text:sub(1, (utf8.offset(text, 0, limit + 1) or limit + 1) - 1)
    rest = (" … (%d bytes)"):format(#text)
  end
  return "\"" .. escape_invalid(escape(shown)) .. "\"" .. rest
end

-- tostring, which may be the script's own code, as may what __name holds.
local function speak(value)
  local ok, text = pcall(tostring, value)
  if ok then return text end
  return ("<%s whose __tostring failed>"):format(type(value))
end

local function speaks(value)
  local metatable = getmetatable(value)
  return type(metatable) == "table" and rawget(metatable, "__tostring") ~= nil
end

local function scalar(value, limit)
  if type(value) == "string" then return quote(value, limit) end
  local metatable = type(value) == "userdata" and getmetatable(value)
  if type(metatable) == "table" and metatable.__name == "json.null" then return "json.null" end
  return speak(value)
end

local RANK = { number = 1, string = 2, boolean = 3 }

local function comes_before(a, b)
  local rank_a, rank_b = RANK[type(a)] or 4, RANK[type(b)] or 4
  if rank_a ~= rank_b then return rank_a < rank_b end
  if rank_a <= 2 then return a < b end
  return speak(a) < speak(b)
end

-- The keys beside the sequence 1 … count, in order.
local function other_keys(value, count)
  local keys = {}
  for key in next, value do
    local in_sequence = math.type(key) == "integer" and key >= 1 and key <= count
    if not in_sequence then keys[#keys + 1] = key end
  end
  table.sort(keys, comes_before)
  return keys
end

local function name_of(key)
  if type(key) == "string" and key:find("^[%a_][%w_]*$") and not KEYWORDS[key] then return key end
  return "[" .. scalar(key, MAX_NESTED_STRING) .. "]"
end

-- On one line if it fits there, otherwise one member a line.
local function lay_out(members, indent, width)
  if #members == 0 then return "{}" end
  local line = "{ " .. table.concat(members, ", ") .. " }"
  if utf8.len(line) and utf8.len(line) + #indent <= width and not line:find("\n", 1, true) then return line end
  local inner = indent .. "  "
  return "{\n" .. inner .. table.concat(members, ",\n" .. inner) .. "\n" .. indent .. "}"
end

local render

-- The members as texts, those that are left out counted by the last one.
local function members_of(value, indent, state)
  local members, shown = {}, 0
  local count = rawlen(value)
  local keys = other_keys(value, count)
  local function add(prefix, member)
    shown = shown + 1
    state.total = state.total + 1
    members[shown] = prefix .. render(member, indent .. "  ", state)
  end
  local function is_full() return shown >= MAX_MEMBERS or state.total >= MAX_TOTAL end
  for i = 1, count do
    if is_full() then break end
    add("", rawget(value, i))
  end
  for _, key in ipairs(keys) do
    if is_full() then break end
    add(name_of(key) .. " = ", rawget(value, key))
  end
  if shown < count + #keys then members[shown + 1] = ("… %d more"):format(count + #keys - shown) end
  return members
end

function render(value, indent, state)
  if type(value) ~= "table" then return scalar(value, MAX_NESTED_STRING) end
  if speaks(value) then return speak(value) end
  if state.open[value] then return "<the table around it>" end
  if state.depth >= MAX_DEPTH then return next(value) == nil and "{}" or "{ … }" end
  state.open[value] = true
  state.depth = state.depth + 1
  local members = members_of(value, indent, state)
  state.open[value] = nil
  state.depth = state.depth - 1
  return lay_out(members, indent, state.width)
end

-- inspect(value [, width]) -> text. Never raises, and does not change the value: tables are read raw.
return function(value, width)
  if type(value) ~= "table" then return scalar(value, MAX_STRING) end
  return render(value, "", { width = width or DEFAULT_WIDTH, open = {}, depth = 0, total = 0 })
end
