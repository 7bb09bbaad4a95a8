-- Reads LuaCATS definition files: what they say of modules, classes, functions and fields.

local reader = {}

-- Splits "type description": the type ends at the first space outside brackets, strings, and `fun(...): ...`.
local function split_type(text)
  local depth, position = 0, 1
  while position <= #text do
    local character = text:sub(position, position)
    if character == '"' then
      position = text:find('"', position + 1, true) or #text
    elseif character:find("[%[{(<]") then
      depth = depth + 1
    elseif character:find("[%]})>]") then
      depth = depth - 1
    elseif character == " " and depth == 0 then
      -- The result types of a function stand behind ": " and are joined by ", ".
      if not text:find("^[:,] ", position - 1) then break end
    end
    position = position + 1
  end
  return text:sub(1, position - 1), text:sub(position + 1):gsub("^# *", "")
end

local function described(name, rest)
  local type, text = split_type(rest)
  return { name = name:gsub("%?$", ""), optional = name:sub(-1) == "?", type = type, text = text }
end

-- What the comment lines above a declaration have said.
local function new_notes() return { text = {}, parameters = {}, results = {}, fields = {} } end

local function join(lines)
  return (table.concat(lines, "\n"):gsub("^\n+", ""):gsub("\n+$", ""))
end

local TAGS = {}

function TAGS.param(notes, rest)
  local name, more = rest:match("^(%S+)%s+(.*)$")
  notes.parameters[#notes.parameters + 1] = described(name, more)
end

TAGS["return"] = function(notes, rest)
  local type, more = split_type(rest)
  local name, text = more:match("^([%w_.]+)%s*(.*)$")
  -- A description begins with a capital or a back quote, a name does not.
  if name and name:find("^[%u`]") then name, text = nil, more end
  notes.results[#notes.results + 1] = { type = type, name = name, text = text or more }
end

function TAGS.field(notes, rest)
  local name, more = rest:match("^(%[%S+%])%s+(.*)$")
  if not name then name, more = rest:match("^(%S+)%s+(.*)$") end
  notes.fields[#notes.fields + 1] = described(name, more)
end

function TAGS.type(notes, rest) notes.type = split_type(rest) end

function TAGS.class(notes, rest)
  notes.class, notes.parent = rest:match("^([^:%s]+):?%s*(%S*)")
end

function TAGS.alias(notes, rest)
  local name, more = rest:match("^(%S+)%s+(.*)$")
  notes.alias = { name = name, type = more }
end

function TAGS.meta(notes, rest) notes.meta = rest end
function TAGS.async(notes) notes.async = true end
function TAGS.overload() end

local function read_comment(notes, line)
  local tag, rest = line:match("^%-%-%-@(%a+)%s*(.*)$")
  if tag then
    local handler = TAGS[tag] or error("unknown tag @" .. tag, 0)
    handler(notes, rest)
  else
    notes.text[#notes.text + 1] = line:sub(4)
  end
end

local function function_of(notes, name, arguments)
  local fn = { name = name, text = join(notes.text), parameters = notes.parameters, results = notes.results }
  local count = 0
  for argument in arguments:gmatch("[^%s,]+") do
    count = count + 1
    local parameter = fn.parameters[count]
    if not parameter or parameter.name ~= argument then
      error(("%s: argument '%s' is not described"):format(name, argument), 0)
    end
  end
  if count ~= #fn.parameters then error(name .. ": more arguments are described than there are", 0) end
  return fn
end

-- Takes the notes to what they are about: `line` is the code below them, or "" for an empty line.
local function attach(file, notes, line)
  if notes.meta then
    file.name = notes.meta
  end
  local variable = line:match("^local ([%w_]+) = {}$")
  local owner, separator, name, arguments = line:match("^function ([%w_]+)([.:])([%w_]+)%((.*)%) end$")
  local value_owner, value_name = line:match("^([%w_]+)%.([%w_]+) = ")
  if notes.class then
    local class = {
      name = notes.class, parent = notes.parent ~= "" and notes.parent or nil, text = join(notes.text),
      fields = notes.fields, functions = {},
    }
    file.classes[#file.classes + 1] = class
    if variable then file.owners[variable] = class end
  elseif notes.alias then
    notes.alias.text = join(notes.text)
    file.aliases[#file.aliases + 1] = notes.alias
  elseif owner then
    local target = file.owners[owner] or error(("%s: nothing is called '%s'"):format(line, owner), 0)
    local fn = function_of(notes, owner .. separator .. name, arguments)
    fn.key = name
    target.functions[#target.functions + 1] = fn
  elseif value_owner then
    file.values[#file.values + 1] = {
      name = value_owner .. "." .. value_name, key = value_name, type = notes.type, text = join(notes.text),
    }
  elseif variable then
    file.module, file.text = variable, join(notes.text)
    file.owners[variable] = file
  end
end

--- Reads one definition file: { name, module, text, functions, values, classes, aliases }. A function has name, key,
--- text, parameters and results; a class name, parent, text, fields and functions.
function reader.read(path)
  local file = { text = "", functions = {}, values = {}, classes = {}, aliases = {}, owners = {} }
  local notes = new_notes()
  local function read_line(line)
    if line:find("^%-%-%-") then return read_comment(notes, line) end
    local has_notes = notes.meta or notes.class or notes.alias or #notes.text > 0
    if has_notes or line:find("^function") then attach(file, notes, line) end
    notes = new_notes()
  end
  local function checked(line)
    local ok, message = pcall(read_line, line)
    if not ok then error(path .. ": " .. message, 0) end
  end
  for line in io.lines(path) do checked(line) end
  -- A class may stand at the very end.
  checked("")
  return file
end

return reader
