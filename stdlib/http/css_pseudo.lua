-- Pseudo-classes as XPath conditions about the context element.

local pseudo = {}

-- XPath 1.0 cannot say "of the same name as the element that we started from", so `:first-of-type` and the like
-- without a name are spelled out for each of HTML's element names.
local HTML_NAMES = {}
for name in ([[div span a p li td tr th ul ol dl dt dd img table thead tbody tfoot section article header footer nav
  main aside h1 h2 h3 h4 h5 h6 strong em b i u s small code pre br hr form input button select option optgroup textarea
  label fieldset legend output datalist progress meter figure figcaption picture source video audio track iframe
  script style link meta title base head body html noscript template blockquote q cite abbr dfn time data var samp kbd
  sub sup mark ruby rb rt rtc rp bdi bdo wbr ins del address details summary dialog menu search hgroup caption colgroup
  col object param embed map area canvas slot svg math acronym applet basefont bgsound big blink center dir font frame
  frameset image isindex keygen listing marquee menuitem nobr noembed noframes plaintext spacer strike tt xmp]])
  :gmatch("%S+") do
  HTML_NAMES[#HTML_NAMES + 1] = name
end

-- `before` counts the siblings on one side; the element's own position among them is one more.
local function nth(a, b, before)
  if a == 0 then
    if b < 1 then return "false()" end
    if b == 1 then return ("not(%s)"):format(before) end
    return ("count(%s) = %d"):format(before, b - 1)
  end
  local offset = b - 1
  local count = ("count(%s)"):format(before)
  if a == 1 then
    return offset <= 0 and "true()" or ("%s >= %d"):format(count, offset)
  elseif a == -1 then
    return offset < 0 and "false()" or ("%s <= %d"):format(count, offset)
  elseif a > 0 then
    -- XPath's mod keeps the sign of what is divided, so a start before the first element is moved into range.
    local first = offset < 0 and offset % a or offset
    if first == 0 then return ("%s mod %d = 0"):format(count, a) end
    return ("(%s >= %d and (%s - %d) mod %d = 0)"):format(count, first, count, first, a)
  end
  if offset < 0 then return "false()" end
  return ("(%s <= %d and (%d - %s) mod %d = 0)"):format(count, offset, offset, count, -a)
end

-- `:nth-of-type` and its relatives; `condition(axis_test)` builds the test from the siblings of the same name.
local function of_type(emitter, part, compound, condition)
  local function siblings(test, extra, from_end)
    local axis = from_end and "following-sibling::" or "preceding-sibling::"
    return axis .. test .. (extra and "[" .. extra .. "]" or "")
  end
  local element = compound.element
  if element and element.name ~= "*" then
    local test, extra = emitter:element_test(element)
    return condition(function(from_end) return siblings(test, extra, from_end) end)
  end
  if not emitter.html then
    emitter:fail((":%s needs an element's name before it in XML"):format(part.name), part.position)
  end
  local alternatives = {}
  for _, name in ipairs(HTML_NAMES) do
    local own = condition(function(from_end) return siblings(name, nil, from_end) end)
    alternatives[#alternatives + 1] = ("self::%s and %s"):format(name, own)
  end
  return "(" .. table.concat(alternatives, " or ") .. ")"
end

local function nth_child(from_end)
  local axis = from_end and "following-sibling::*" or "preceding-sibling::*"
  return function(emitter, part)
    if not part.selectors then return nth(part.a, part.b, axis) end
    local own = emitter:list_condition(part.selectors)
    return ("(%s and %s)"):format(own, nth(part.a, part.b, axis .. "[" .. own .. "]"))
  end
end

local function nth_of_type(from_end)
  return function(emitter, part, compound)
    return of_type(emitter, part, compound, function(siblings) return nth(part.a, part.b, siblings(from_end)) end)
  end
end

-- A document at rest has no pointer, focus or history, and no URL whose fragment could point into it.
local function never() return "false()" end

-- HTML standard, "disabled": the control's own attribute, a disabled fieldset around it (but not for what stands in
-- that fieldset's first legend), or for an option its group's.
local LISTED = "(self::button or self::input or self::select or self::textarea or self::fieldset)"
local IN_DISABLED_FIELDSET = "ancestor-or-self::*[parent::fieldset[@disabled]]"
  .. "[not(self::legend) or preceding-sibling::legend]"
local DISABLED = ("((%s and (@disabled or %s)) or (self::optgroup and @disabled) "
  .. "or (self::option and (@disabled or parent::optgroup[@disabled])))"):format(LISTED, IN_DISABLED_FIELDSET)

local CONTROL = ("(%s or self::optgroup or self::option)"):format(LISTED)

local function link() return "(self::a or self::area) and @href" end

local function language(emitter, range)
  local attribute = emitter.html and "@lang" or "@*[name() = 'xml:lang' or name() = 'lang']"
  local nearest = ("ancestor-or-self::*[%s][1]"):format(attribute)
  range = range:lower()
  if range == "*" then return ("%s[string-length(%s) > 0]"):format(nearest, attribute) end
  local value = emitter:lowered(attribute)
  if range:find("^%*%-") then
    local subtag = emitter:literal(range:sub(2) .. "-")
    return ("%s[contains(concat(%s, '-'), %s)]"):format(nearest, value, subtag)
  end
  return ("%s[starts-with(concat(%s, '-'), %s)]"):format(nearest, value, emitter:literal(range .. "-"))
end

local function any_string(condition)
  return function(emitter, part)
    local alternatives = {}
    for _, text in ipairs(part.strings) do
      alternatives[#alternatives + 1] = condition(emitter, text)
    end
    return "(" .. table.concat(alternatives, " or ") .. ")"
  end
end

local function any_selector(emitter, part) return emitter:list_condition(part.selectors) end

local function has(emitter, part)
  local paths = {}
  for _, complex in ipairs(part.selectors) do
    paths[#paths + 1] = emitter:forward(complex, 1)
  end
  return "(" .. table.concat(paths, " or ") .. ")"
end

local function scope(emitter, part)
  if emitter.scope then
    emitter:fail("':scope' is possible only once, outside parentheses", part.position)
  end
  return "not(parent::*)"
end

local CONDITION = {
  root = function() return "not(parent::*)" end,
  scope = scope,
  empty = function() return "not(* or text())" end,
  ["first-child"] = function() return "not(preceding-sibling::*)" end,
  ["last-child"] = function() return "not(following-sibling::*)" end,
  ["only-child"] = function() return "not(preceding-sibling::* or following-sibling::*)" end,
  ["first-of-type"] = function(emitter, part, compound)
    return of_type(emitter, part, compound, function(siblings) return ("not(%s)"):format(siblings(false)) end)
  end,
  ["last-of-type"] = function(emitter, part, compound)
    return of_type(emitter, part, compound, function(siblings) return ("not(%s)"):format(siblings(true)) end)
  end,
  ["only-of-type"] = function(emitter, part, compound)
    return of_type(emitter, part, compound, function(siblings)
      return ("not(%s or %s)"):format(siblings(false), siblings(true))
    end)
  end,
  ["nth-child"] = nth_child(false),
  ["nth-last-child"] = nth_child(true),
  ["nth-of-type"] = nth_of_type(false),
  ["nth-last-of-type"] = nth_of_type(true),
  link = link,
  ["any-link"] = link,
  visited = never, target = never, hover = never, active = never, focus = never,
  ["focus-within"] = never, ["focus-visible"] = never,
  checked = function(emitter)
    local kind = emitter:lowered("@type")
    return ("((self::input and @checked and (%s = 'checkbox' or %s = 'radio')) or (self::option and @selected))")
      :format(kind, kind)
  end,
  disabled = function() return DISABLED end,
  enabled = function() return ("(%s and not(%s))"):format(CONTROL, DISABLED) end,
  required = function() return "((self::input or self::select or self::textarea) and @required)" end,
  optional = function() return "((self::input or self::select or self::textarea) and not(@required))" end,
  lang = any_string(language),
  contains = any_string(function(emitter, text) return ("contains(string(.), %s)"):format(emitter:literal(text)) end),
  ["not"] = function(emitter, part) return ("not(%s)"):format(emitter:list_condition(part.selectors)) end,
  is = any_selector, where = any_selector, matches = any_selector, any = any_selector,
  has = has,
}

--- The condition of one pseudo-class; `compound` is the compound that it stands in.
function pseudo.condition(emitter, part, compound)
  local make = CONDITION[part.name]
  if not make then emitter:fail(("unknown pseudo-class ':%s'"):format(part.name), part.position) end
  return make(emitter, part, compound)
end

return pseudo
