--- CSS selectors as XPath 1.0.
--
-- A selector becomes one expression that starts at the candidate and looks outward, as browsers match: `a > b c`
-- is `descendant::c[ancestor::b[parent::a]]`. So a search below a node sees the whole document around it, as
-- querySelectorAll does, and no candidate is visited twice. Where a selector has several ways to hold (a chain of
-- ancestors or of earlier siblings), only the nearest candidate of each link is followed: any other has no more
-- around it than that one, so a hostile chain of selectors cannot make the search exponential.

local parser = require "http.css_parser"
local pseudo = require "http.css_pseudo"

local css = {}

local MAX_XPATH = 1048576
local CACHE_SIZE = 256

-- Attributes whose values HTML compares without regard to ASCII case (HTML standard, "Case-sensitivity of
-- selectors").
local CASELESS_VALUE = {}
for name in ([[accept accept-charset align alink axis bgcolor charset checked clear codetype color compact declare
  defer dir direction disabled enctype face frame hreflang http-equiv lang language link media method multiple nohref
  noresize noshade nowrap readonly rel rev rules scope scrolling selected shape target text type valign valuetype
  vlink]]):gmatch("%S+") do
  CASELESS_VALUE[name] = true
end

local UPPER, LOWER = "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "abcdefghijklmnopqrstuvwxyz"

local Emitter = {}
Emitter.__index = Emitter

function Emitter.fail(_, message, position)
  error({ position = position or 1, message = message }, 0)
end

-- A text as an XPath literal; a literal cannot hold both kinds of quotes, so concat() may be needed.
function Emitter:literal(text)
  if text:find("[%z\1-\8\11\12\14-\31]") then self:fail("control characters cannot be matched") end
  if not text:find("'", 1, true) then return "'" .. text .. "'" end
  if not text:find('"', 1, true) then return '"' .. text .. '"' end
  local pieces = {}
  for run, quotes in text:gmatch("([^']*)('*)") do
    if run ~= "" then pieces[#pieces + 1] = "'" .. run .. "'" end
    if quotes ~= "" then pieces[#pieces + 1] = '"' .. quotes .. '"' end
  end
  return "concat(" .. table.concat(pieces, ", ") .. ")"
end

--- An XPath text in which ASCII capitals are small.
function Emitter.lowered(_, expression)
  return ("translate(%s, '%s', '%s')"):format(expression, UPPER, LOWER)
end

local function is_xpath_name(name)
  return not name:find("[^%w_.\128-\255-]") and not name:find("^[%d.-]")
end

function Emitter:namespace(prefix, position)
  local uri = self.namespaces[prefix]
  if not uri then self:fail(("the namespace prefix '%s' is not declared"):format(prefix), position) end
  return uri
end

-- How an element's name is tested: -> the node test of a step, a further condition | nil.
function Emitter:element_test(element)
  if not element then return "*" end
  local prefix, name = element.prefix, element.name
  if self.html then name = name:lower() end
  local plain = name ~= "*" and is_xpath_name(name)
  if prefix == nil and not self.html then prefix = self.namespaces[""] and "" or "*" end
  if prefix == nil or (prefix == "" and not self.namespaces[""]) then
    if name == "*" then return "*", prefix and "namespace-uri() = ''" or nil end
    if plain then return name end
    return "*", "name() = " .. self:literal(name)
  end
  local conditions = {}
  if prefix ~= "*" then
    conditions[1] = "namespace-uri() = " .. self:literal(self:namespace(prefix, element.position))
  end
  if name ~= "*" then conditions[#conditions + 1] = "local-name() = " .. self:literal(name) end
  return "*", conditions[1] and table.concat(conditions, " and ") or nil
end

-- The attribute as an XPath node set.
function Emitter:attribute_node(part)
  local prefix, name = part.prefix, part.name
  if self.html then name = name:lower() end
  if prefix == nil or prefix == "" then
    return is_xpath_name(name) and "@" .. name or ("@*[name() = %s]"):format(self:literal(name))
  end
  local condition = "local-name() = " .. self:literal(name)
  if prefix ~= "*" then
    condition = condition .. " and namespace-uri() = " .. self:literal(self:namespace(prefix, part.position))
  end
  return "@*[" .. condition .. "]"
end

local ATTRIBUTE_TEST = {}
ATTRIBUTE_TEST["="] = function(self, subject, value) return ("%s = %s"):format(subject, self:literal(value)) end
ATTRIBUTE_TEST["~="] = function(self, subject, value)
  if value == "" or value:find("[ \t\r\n\f]") then return "false()" end
  return ("contains(concat(' ', normalize-space(%s), ' '), %s)"):format(subject, self:literal(" " .. value .. " "))
end
ATTRIBUTE_TEST["|="] = function(self, subject, value)
  return ("(%s = %s or starts-with(%s, %s))"):format(subject, self:literal(value), subject, self:literal(value .. "-"))
end
ATTRIBUTE_TEST["^="] = function(self, subject, value)
  if value == "" then return "false()" end
  return ("starts-with(%s, %s)"):format(subject, self:literal(value))
end
ATTRIBUTE_TEST["$="] = function(self, subject, value)
  if value == "" then return "false()" end
  local before_last = utf8.len(value) - 1
  return ("substring(%s, string-length(%s) - %d) = %s"):format(subject, subject, before_last, self:literal(value))
end
ATTRIBUTE_TEST["*="] = function(self, subject, value)
  if value == "" then return "false()" end
  return ("contains(%s, %s)"):format(subject, self:literal(value))
end

function Emitter:attribute(part)
  local node = self:attribute_node(part)
  if not part.operator then return node end
  local subject, value = node, part.value
  local caseless = part.flag == "i" or (part.flag ~= "s" and self.html and CASELESS_VALUE[part.name:lower()])
  if caseless then
    value = value:lower()
    subject = self:lowered(node)
  end
  local test = ATTRIBUTE_TEST[part.operator](self, subject, value)
  -- As a text, an absent attribute is the empty one, and must not match `[a="" i]`.
  return caseless and value == "" and node .. " and " .. test or test
end

function Emitter:part(part, compound)
  if part.kind == "id" then return "@id = " .. self:literal(part.value) end
  if part.kind == "class" then return ATTRIBUTE_TEST["~="](self, "@class", part.value) end
  if part.kind == "attribute" then return self:attribute(part) end
  return pseudo.condition(self, part, compound)
end

-- A compound as a node test and its conditions, left-hand context excluded.
function Emitter:compound(compound)
  local test, condition = self:element_test(compound.element)
  local conditions = { condition }
  for _, part in ipairs(compound.parts) do
    if not (part.kind == "pseudo" and part.name == "scope" and compound.is_scope) then
      conditions[#conditions + 1] = self:part(part, compound)
    end
  end
  return test, conditions
end

local function predicate(conditions)
  return #conditions > 0 and "[" .. table.concat(conditions, " and ") .. "]" or ""
end

-- A step to the element that a compound describes, with `context` as one more condition.
function Emitter:step(axis, compound, context)
  local test, conditions = self:compound(compound)
  if axis == "preceding-sibling::*[1]/self::" and test == "*" and #conditions == 0 and not context then
    return "preceding-sibling::*"
  end
  conditions[#conditions + 1] = context
  local step = axis .. test .. predicate(conditions)
  if #step > MAX_XPATH then self:fail("the selector is too complex", compound.position) end
  return step
end

-- What the compounds to the left of number `index` demand of it; nil when nothing. `stop` ends the walk before a
-- combinator: everything beyond it is shared by the candidates of one choice, or only grows with distance.
function Emitter:context(complex, index, stop)
  local combinator = complex[index].combinator
  if index == 1 or stop:find(combinator, 1, true) then return nil end
  local left = complex[index - 1]
  if combinator == ">" then
    return self:step("parent::", left, self:context(complex, index - 1, stop))
  elseif combinator == "+" then
    return self:step("preceding-sibling::*[1]/self::", left, self:context(complex, index - 1, stop))
  end
  local axis = combinator == " " and "ancestor::" or "preceding-sibling::"
  local own = self:context(complex, index - 1, combinator == " " and " " or " >~")
  local all = self:context(complex, index - 1, stop)
  if own == all then return self:step(axis, left, own) end
  return self:step(axis, left, own) .. "[1][" .. all .. "]"
end

-- Steps from the element of `complex[first - 1]` forward to the last compound.
local FORWARD = {
  [" "] = "descendant::", [">"] = "child::", ["+"] = "following-sibling::*[1]/self::", ["~"] = "following-sibling::",
}

function Emitter:forward(complex, first)
  local steps = {}
  for index = first, #complex do
    steps[#steps + 1] = self:step(FORWARD[complex[index].combinator], complex[index])
  end
  return table.concat(steps, "/")
end

--- A selector list as one boolean expression about the context element.
function Emitter:list_condition(list)
  local alternatives = {}
  for _, complex in ipairs(list) do
    alternatives[#alternatives + 1] = self:step("self::", complex[#complex], self:context(complex, #complex, ""))
  end
  if #alternatives == 1 then return alternatives[1] end
  return "(" .. table.concat(alternatives, " or ") .. ")"
end

local function scope_index(complex)
  for index, compound in ipairs(complex) do
    for _, part in ipairs(compound.parts) do
      if part.kind == "pseudo" and part.name == "scope" then return index end
    end
  end
  return nil
end

-- One complex selector as a path: from the document's root, or from the context node.
function Emitter:path(complex)
  local from = self.scope and "descendant::" or "/descendant::"
  local index = self.scope and scope_index(complex)
  if not index then return self:step(from, complex[#complex], self:context(complex, #complex, "")) end
  complex[index].is_scope = true
  local here = self:step("self::", complex[index], self:context(complex, index, ""))
  if index == #complex then return here end
  return here .. "/" .. self:forward(complex, index + 1)
end

local function translate(selector, options)
  local emitter = setmetatable({
    html = options.html ~= false, scope = options.scope or false, namespaces = options.namespaces or {},
  }, Emitter)
  local paths = {}
  for _, complex in ipairs(parser.parse(selector)) do
    paths[#paths + 1] = emitter:path(complex)
  end
  local xpath = table.concat(paths, " | ")
  if #xpath > MAX_XPATH then emitter:fail("the selector is too complex") end
  return xpath
end

-- Translations by mode and selector. A full cache is emptied: scripts use few selectors, and a loop that makes new
-- ones for ever must not keep them all.
local cache, cached = {}, 0

local function remember(key, xpath)
  if cached >= CACHE_SIZE then cache, cached = {}, 0 end
  cache[key], cached = xpath, cached + 1
end

--- Translates a selector list into XPath 1.0.
-- options.html: names are HTML's, that is, case does not count (default true).
-- options.scope: the search is below the context node, which `:scope` means; otherwise it is the whole document and
--   `:scope` is the root element.
-- options.namespaces: prefix -> URI, for `prefix|name`; the key "" is the default namespace.
-- Returns the expression, or nil and a message with the position of the fault.
function css.to_xpath(selector, options)
  if type(selector) ~= "string" then
    error(("bad argument 'selector' (a string is expected, not %s)"):format(type(selector)), 2)
  end
  options = options or {}
  local key = not options.namespaces
    and (options.scope and "s" or "d") .. (options.html ~= false and "h" or "x") .. selector
  if key and cache[key] then return cache[key] end
  local ok, result = pcall(translate, selector, options)
  if ok then
    if key then remember(key, result) end
    return result
  end
  if type(result) ~= "table" then error(result, 0) end
  local shown = #selector > 80 and selector:sub(1, 77) .. "..." or selector
  return nil, ("selector '%s', position %d: %s"):format(shown, result.position, result.message)
end

return css
