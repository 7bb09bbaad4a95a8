--- robots.txt as RFC 9309 says, with what Google's parser forgives where the RFC leaves it open.
--
-- The longest matching rule wins, Allow wins a tie, groups for the same agent are one group, and an agent without
-- a group of its own uses `*`. Crawl-delay and Sitemap are no part of the RFC but are read.

local robots = {}

-- RFC 9309 2.5: at least 500 KiB must be read; what comes after is not looked at.
local MAX_SIZE = 500 * 1024
-- As in Google's parser: the longest URL that browsers of its time took (2083 bytes), eight times over.
local MAX_LINE = 2083 * 8 - 1

-- Spellings that Google's parser takes for the real thing.
local KEY = {
  ["user-agent"] = "agent", useragent = "agent", ["user agent"] = "agent",
  allow = "allow",
  disallow = "disallow", dissallow = "disallow", dissalow = "disallow", disalow = "disallow",
  diasllow = "disallow", disallaw = "disallow",
  sitemap = "sitemap", ["site-map"] = "sitemap",
  ["crawl-delay"] = "delay", crawldelay = "delay", ["crawl delay"] = "delay",
}

local function trim(text) return (text:gsub("^[%s%z]+", ""):gsub("[%s%z]+$", "")) end

-- Makes texts that name the same path equal byte by byte (RFC 9309 2.2.2): what no URI may hold as it is becomes
-- percent-encoded, an encoded unreserved character is decoded, the digits of the other encodings are capitals.
local function normalized(path)
  path = path:gsub("[^%w._~:/?#%[%]@!$&'()*+,;=%%-]", function(byte) return ("%%%02X"):format(byte:byte()) end)
  return (path:gsub("%%(%x%x)", function(digits)
    local character = string.char(tonumber(digits, 16))
    if character:find("[%w._~-]") then return character end
    return "%" .. digits:upper()
  end))
end

-- The path and query that rules are compared with. `*` and `$` are encoded, so that only the signs that a rule
-- itself encodes (%2A, %24) can mean them.
local function path_of(url)
  local rest = url:match("^%a[%w+.-]*://[^/?#;]*(.*)$") or url:match("^//[^/?#;]*(.*)$") or url
  rest = rest:gsub("#.*$", "")
  if rest:sub(1, 1) ~= "/" then rest = "/" .. rest end
  return (normalized(rest):gsub("%*", "%%2A"):gsub("%$", "%%24"))
end

-- A rule as the literal texts between its wildcards.
local function compile(text, allow)
  local pattern = normalized(text)
  local rule = { allow = allow, length = #pattern, pieces = {} }
  if pattern:sub(-1) == "$" then
    rule.anchored = true
    pattern = pattern:sub(1, -2)
  end
  pattern = pattern:gsub("%$", "%%24")
  for piece in (pattern .. "*"):gmatch("([^*]*)%*") do
    rule.pieces[#rule.pieces + 1] = piece
  end
  return rule
end

-- Each piece is looked for once, after the one before it: taking the first place where it fits never spoils a
-- later piece, so no pattern can make this slow.
local function matches(rule, path)
  local pieces = rule.pieces
  local first = pieces[1]
  if path:sub(1, #first) ~= first then return false end
  local position = #first + 1
  local last = #pieces
  for index = 2, rule.anchored and last - 1 or last do
    local _, found = path:find(pieces[index], position, true)
    if not found then return false end
    position = found + 1
  end
  if not rule.anchored then return true end
  if last == 1 then return position == #path + 1 end
  local tail = pieces[last]
  return #path - #tail + 1 >= position and path:sub(#path - #tail + 1) == tail
end

-- `key: value`, comments gone; also `key value`, which Google's parser forgives. -> key, value | nil
local function split_line(line)
  line = trim(line:sub(1, MAX_LINE):gsub("#.*$", ""))
  local key, value = line:match("^([^:]*):(.*)$")
  if not key then key, value = line:match("^(%S+)[ \t]+(%S+)$") end
  if not key then return nil end
  return KEY[trim(key):lower()], trim(value)
end

-- The name in a User-agent line: the RFC's characters, and the digits and other letters that real names have.
local function token(text)
  if text == "*" or text:find("^%*%s") then return "*" end
  return (text:match("^[%w_\128-\255-]+") or ""):lower()
end

-- A crawler's own name, from the User-Agent that it sends: "Name", "Name/1.0 …", "Name (…)", or
-- "Mozilla/5.0 (compatible; Name/1.0 …)".
local function product(user_agent)
  local name = user_agent:match("^Mozilla/.-compatible; *([%w_\128-\255-]+)")
    or user_agent:match("^([%w_\128-\255-]+)$")
    or user_agent:match("^([%w_\128-\255-]+)/")
    or user_agent:match("^([%w_\128-\255-]+) %(")
  return (name or user_agent):lower()
end

local Robots = {}
Robots.__index = Robots
Robots.__name = "robots"

function Robots:_group(user_agent)
  return self._groups[product(user_agent)] or self._groups["*"]
end

local function check(argument, name, expected)
  if type(argument) ~= expected then
    error(("bad argument '%s' (a %s is expected, not %s)"):format(name, expected, type(argument)), 3)
  end
end

--- Whether the crawler may fetch the URL. `user_agent` is its name or the whole User-Agent field.
function Robots:allowed(user_agent, url)
  check(user_agent, "user_agent", "string")
  local path = path_of(tostring(url))
  if path == "/robots.txt" then return true end
  local group = self:_group(user_agent)
  local best
  for _, rule in ipairs(group and group.rules or {}) do
    local better = not best or rule.length > best.length or (rule.length == best.length and rule.allow)
    if better and matches(rule, path) then best = rule end
  end
  return not best or best.allow
end

--- Seconds to leave between two requests, or nil where the file does not say.
function Robots:crawl_delay(user_agent)
  check(user_agent, "user_agent", "string")
  local group = self:_group(user_agent)
  return group and group.delay
end

-- Collects lines into groups.
local Builder = {}
Builder.__index = Builder

function Builder:agent(value)
  if self.in_rules then self.current, self.in_rules = {}, false end
  local name = token(value)
  local group = self.groups[name] or { rules = {} }
  self.groups[name] = group
  self.current[#self.current + 1] = group
end

function Builder:rule(value, allow)
  self.in_rules = true
  if value == "" then return end
  local rule = compile(value, allow)
  for _, group in ipairs(self.current) do
    group.rules[#group.rules + 1] = rule
  end
end

function Builder:delay(value)
  self.in_rules = true
  local seconds = tonumber(value)
  if not seconds or not (seconds >= 0 and seconds < math.huge) then return end
  for _, group in ipairs(self.current) do
    group.delay = group.delay or seconds
  end
end

--- Parses a robots.txt. Anything is accepted: lines that mean nothing are ignored.
function robots.parse(text)
  check(text, "text", "string")
  text = text:gsub("^\239\187\191", "")
  if #text > MAX_SIZE then text = text:sub(1, MAX_SIZE):gsub("[^\r\n]*$", "") end
  local builder = setmetatable({ groups = {}, current = {}, in_rules = false }, Builder)
  local sitemaps = {}
  for line in text:gmatch("[^\r\n]+") do
    local key, value = split_line(line)
    if key == "agent" then
      builder:agent(value)
    elseif key == "allow" or key == "disallow" then
      builder:rule(value, key == "allow")
    elseif key == "delay" then
      builder:delay(value)
    elseif key == "sitemap" and value ~= "" then
      sitemaps[#sitemaps + 1] = value
    end
  end
  return setmetatable({ sitemaps = sitemaps, _groups = builder.groups }, Robots)
end

return robots
