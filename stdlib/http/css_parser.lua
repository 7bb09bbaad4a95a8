-- Parses CSS selectors (Selectors level 3, and of level 4 what a document at rest can answer) into a tree.
--
-- A selector list is a list of complex selectors. A complex selector is a list of compounds, each with the
-- `combinator` that joins it to the one before (" ", ">", "+", "~"; nil on the first, except in the relative
-- selectors of :has()). A compound has an `element` ({ prefix, name }, both optional) and `parts`:
--   { kind = "id" | "class", value }
--   { kind = "attribute", prefix, name, operator, value, flag }
--   { kind = "pseudo", name, position, selectors | a, b, selectors | strings }
--
-- Faults are raised as tables { position, message } and caught by http.css.

local parser = {}

local MAX_DEPTH = 24
local MAX_LENGTH = 65536
local MAX_NUMBER = 1000000000

-- What stands in the parentheses of a functional pseudo-class.
local ARGUMENT = {
  ["not"] = "selectors", is = "selectors", where = "selectors", matches = "selectors", any = "selectors",
  has = "relative",
  ["nth-child"] = "nth", ["nth-last-child"] = "nth", ["nth-of-type"] = "nth", ["nth-last-of-type"] = "nth",
  lang = "strings", contains = "strings",
}

-- The four pseudo-elements that may be written with one colon.
local OLD_PSEUDO_ELEMENT = { before = true, after = true, ["first-line"] = true, ["first-letter"] = true }

local Parser = {}
Parser.__index = Parser

function Parser:fail(message, position)
  error({ position = position or self.position, message = message }, 0)
end

function Parser:peek(count)
  return self.text:sub(self.position, self.position + (count or 1) - 1)
end

-- Matches a Lua pattern here and steps over it.
function Parser:take(pattern)
  local first, last, capture = self.text:find("^" .. pattern, self.position)
  if not first then return nil end
  self.position = last + 1
  return capture or self.text:sub(first, last)
end

-- Steps over white space and comments; true when there was any white space.
function Parser:skip()
  local found = false
  while true do
    if self:take("[ \t\r\n\f]+") then
      found = true
    elseif self:peek(2) == "/*" then
      local _, last = self.text:find("*/", self.position + 2, true)
      if not last then self:fail("a comment is not closed") end
      self.position = last + 1
    else
      return found
    end
  end
end

-- One escape sequence; the backslash is already behind us.
function Parser:escape()
  local digits = self:take("%x%x?%x?%x?%x?%x?")
  if digits then
    if not self:take("\r\n") then self:take("[ \t\r\n\f]") end
    local code = tonumber(digits, 16)
    if code == 0 or code > 0x10FFFF or (code >= 0xD800 and code <= 0xDFFF) then code = 0xFFFD end
    return utf8.char(code)
  end
  local character = self:take(utf8.charpattern)
  if not character or character:find("[\r\n\f]") then
    self:fail("a backslash must be followed by the character that it escapes")
  end
  return character
end

-- The characters of a name, escapes resolved; nil when there are none.
function Parser:name()
  local pieces = {}
  while true do
    local run = self:take("[%w_\128-\255-]+")
    if run then
      pieces[#pieces + 1] = run
    elseif self:peek() == "\\" then
      self.position = self.position + 1
      pieces[#pieces + 1] = self:escape()
    else
      break
    end
  end
  if #pieces == 0 then return nil end
  return table.concat(pieces)
end

-- An identifier: a name that does not begin with a digit, or with a hyphen and a digit, unless escaped.
function Parser:identifier()
  if self.text:find("^%-?%d", self.position) then return nil end
  if self.text:find("^%-[^%w_\\\128-\255-]", self.position) or self.text:find("^%-$", self.position) then return nil end
  return self:name()
end

function Parser:need_identifier(what)
  return self:identifier() or self:fail(("%s is missing here"):format(what))
end

-- A quoted string; nil when there is none.
function Parser:string()
  local start = self.position
  local quote = self:take("[\"']")
  if not quote then return nil end
  local pieces = {}
  while true do
    local run = self:take("[^\"'\\\r\n\f]+")
    local next_one = self:peek()
    if run then
      pieces[#pieces + 1] = run
    elseif next_one == quote then
      self.position = self.position + 1
      return table.concat(pieces)
    elseif next_one == "\\" then
      self.position = self.position + 1
      -- An escaped end of line continues the string.
      if not (self:take("\r\n") or self:take("[\r\n\f]")) then pieces[#pieces + 1] = self:escape() end
    elseif next_one == '"' or next_one == "'" then
      pieces[#pieces + 1] = next_one
      self.position = self.position + 1
    else
      self:fail("a string is not closed", start)
    end
  end
end

function Parser:close(bracket, start)
  self:skip()
  if self:peek() ~= bracket then
    if self.position > #self.text then self:fail(("'%s' is missing at the end"):format(bracket), start) end
    self:fail(("unexpected '%s' before '%s'"):format(self:take(utf8.charpattern), bracket))
  end
  self.position = self.position + 1
end

-- `name`, `*`, `ns|name`, `*|*`, `|name`: -> { prefix, name } | nil. prefix "" means "in no namespace".
function Parser:qualified_name(allow_star)
  local start = self.position
  local function word() return self:take("%*") or self:identifier() end
  local first = word()
  if self:peek() == "|" and self:peek(2) ~= "|=" and self:peek(2) ~= "||" then
    self.position = self.position + 1
    local name = word()
    if not name then self:fail("a name is missing after '|'") end
    if name == "*" and not allow_star then self:fail("an attribute's name is missing", start) end
    return { prefix = first or "", name = name, position = start }
  end
  if not first then return nil end
  if first == "*" and not allow_star then self:fail("an attribute's name is missing", start) end
  return { name = first, position = start }
end

function Parser:attribute()
  local start = self.position
  self.position = start + 1
  self:skip()
  local name = self:qualified_name(false) or self:fail("an attribute's name is missing")
  local part = { kind = "attribute", prefix = name.prefix, name = name.name, position = name.position }
  self:skip()
  part.operator = self:take("[~|^$*]?=")
  if part.operator then
    self:skip()
    part.value = self:string() or self:identifier()
    if not part.value then self:fail("a value (a name, or a text in quotes) is missing") end
    self:skip()
    part.flag = self:take("[iIsS]")
    if part.flag then part.flag = part.flag:lower() end
  end
  self:close("]", start)
  return part
end

-- an+b, `odd`, `even`. -> a, b
function Parser:nth_formula()
  if self:take("[oO][dD][dD]") then return 2, 1 end
  if self:take("[eE][vV][eE][nN]") then return 2, 0 end
  local function number(sign, digits)
    local value = digits == "" and 1 or math.tointeger(math.min(tonumber(digits), MAX_NUMBER))
    return sign == "-" and -value or value
  end
  local _, last, sign, digits = self.text:find("^([+-]?)(%d*)[nN]", self.position)
  if not last then
    _, last, sign, digits = self.text:find("^([+-]?)(%d+)", self.position)
    if not last then self:fail("a position such as '2', 'odd' or '2n+1' is missing") end
    self.position = last + 1
    return 0, number(sign, digits)
  end
  self.position = last + 1
  local a = number(sign, digits)
  _, last, sign, digits = self.text:find("^[ \t\r\n\f]*([+-])[ \t\r\n\f]*(%d+)", self.position)
  if not last then return a, 0 end
  self.position = last + 1
  return a, number(sign, digits)
end

function Parser:strings()
  local list = {}
  repeat
    self:skip()
    list[#list + 1] = self:string() or self:identifier() or self:fail("a text in quotes is missing")
    self:skip()
  until not self:take(",")
  return list
end

function Parser:nth_argument(part)
  self:skip()
  part.a, part.b = self:nth_formula()
  self:skip()
  if part.name:find("child$") and self:take("[oO][fF]%f[^%w_-]") then
    part.selectors = self:selector_list(false)
  end
end

function Parser:pseudo()
  local start = self.position
  self.position = start + 1
  if self:peek() == ":" then
    self.position = self.position + 1
    local element = self:need_identifier("the name of a pseudo-element")
    local hint = ({ text = " (use a node's 'text')", attr = " (use 'node:attr(name)')" })[element] or ""
    self:fail(("pseudo-elements such as '::%s' select no element of a document%s"):format(element, hint), start)
  end
  local name = self:need_identifier("the name of a pseudo-class"):lower()
  local part = { kind = "pseudo", name = name, position = start }
  local open = self.position
  if not self:take("%(") then
    if OLD_PSEUDO_ELEMENT[name] then
      self:fail(("pseudo-elements such as ':%s' select no element of a document"):format(name), start)
    end
    if ARGUMENT[name] then self:fail((":%s needs an argument in parentheses"):format(name), start) end
    return part
  end
  local argument = ARGUMENT[name]
  if argument == "selectors" or argument == "relative" then
    part.selectors = self:selector_list(argument == "relative")
  elseif argument == "nth" then
    self:nth_argument(part)
  elseif argument == "strings" then
    part.strings = self:strings()
  else
    self:fail(("unknown pseudo-class ':%s()'"):format(name), start)
  end
  self:close(")", open)
  return part
end

-- One simple selector that is not an element's name; nil when there is none.
function Parser:simple()
  local character = self:peek()
  if character == "#" then
    self.position = self.position + 1
    return { kind = "id", value = self:need_identifier("an id") }
  elseif character == "." then
    self.position = self.position + 1
    return { kind = "class", value = self:need_identifier("a class name") }
  elseif character == "[" then
    return self:attribute()
  elseif character == ":" then
    return self:pseudo()
  end
  return nil
end

function Parser:compound()
  local start = self.position
  local compound = { element = self:qualified_name(true), parts = {}, position = start }
  while true do
    local part = self:simple()
    if not part then break end
    compound.parts[#compound.parts + 1] = part
  end
  if compound.element or #compound.parts > 0 then return compound end
  if start > #self.text then self:fail("a selector is missing at the end") end
  if self.text:find("^[>+~]", start) then
    self:fail(("a selector is missing before '%s'"):format(self:peek())
      .. (self.depth == 1 and " (write ':scope > …' to begin at the node)" or ""))
  end
  self:fail(("unexpected '%s'"):format(self.text:match("^" .. utf8.charpattern, start)))
end

function Parser:combinator()
  local space = self:skip()
  local sign = self:take("[>+~]")
  if sign then
    self:skip()
    return sign
  end
  -- White space before the end, a comma or a closing parenthesis joins nothing.
  if space and not self.text:find("^[,)]", self.position) and self.position <= #self.text then return " " end
  return nil
end

function Parser:complex(relative)
  local complex = {}
  local combinator
  if relative then combinator = self:take("[>+~]") or " " end
  self:skip()
  repeat
    local compound = self:compound()
    compound.combinator = combinator
    complex[#complex + 1] = compound
    combinator = self:combinator()
  until not combinator
  return complex
end

function Parser:selector_list(relative)
  self.depth = self.depth + 1
  if self.depth > MAX_DEPTH then self:fail("selectors are nested too deeply") end
  local list = {}
  self:skip()
  repeat
    self:skip()
    list[#list + 1] = self:complex(relative)
  until not self:take(",")
  self.depth = self.depth - 1
  return list
end

--- Parses a selector list. Raises { position, message } for a fault.
function parser.parse(text)
  local self = setmetatable({ text = text, position = 1, depth = 0 }, Parser)
  if #text > MAX_LENGTH then self:fail("the selector is longer than 64 KiB", 1) end
  local _, bad = utf8.len(text)
  if bad then self:fail("the selector is not valid UTF-8", bad) end
  local list = self:selector_list(false)
  if self.position <= #text then
    self:fail(("unexpected '%s'"):format(text:match("^" .. utf8.charpattern, self.position)))
  end
  return list
end

return parser
