--- Link header fields (RFC 8288).

local ext_value = require "http.ext_value"

local links = {}

-- A cursor over one field value.
local Reader = {}
Reader.__index = Reader

function Reader:take(pattern)
  local first, last, capture = self.text:find("^" .. pattern, self.position)
  if not first then return nil end
  self.position = last + 1
  return capture or self.text:sub(first, last)
end

function Reader:skip() self:take("[ \t\r\n]+") end

-- A quoted string without its quotes; nil where it is not closed.
function Reader:quoted()
  local pieces = {}
  self.position = self.position + 1
  while true do
    pieces[#pieces + 1] = self:take('[^"\\]+')
    if self:take('"') then return table.concat(pieces) end
    if not self:take("\\") then return nil end
    pieces[#pieces + 1] = self:take(".")
  end
end

-- `; name = value`, the semicolon already behind us. -> name, value | nil where it is malformed. An empty
-- parameter (";;") has the name "".
function Reader:parameter()
  self:skip()
  local name = self:take("[^%s=;,\"<>]+")
  self:skip()
  if not name then return self.text:find("^[;,]", self.position) and "" or self.position > #self.text and "" or nil end
  if not self:take("=") then
    -- A name alone is a parameter; anything else after it is not.
    if self.position > #self.text or self.text:find("^[;,]", self.position) then return name:lower(), "" end
    return nil
  end
  self:skip()
  if self.text:sub(self.position, self.position) ~= '"' then
    return name:lower(), (self:take("[^;,]*"):gsub("%s+$", ""))
  end
  local value = self:quoted()
  self:skip()
  if not value then return nil end
  return name:lower(), value
end

local function parameters(reader)
  local plain, extended = {}, {}
  while reader:take(";") do
    local name, value = reader:parameter()
    if not name then return nil end
    if name:sub(-1) == "*" then
      name = name:sub(1, -2)
      extended[name] = extended[name] or ext_value.decode(value)
    elseif name ~= "" then
      -- RFC 8288 3.3: only the first rel counts; the others are treated alike.
      plain[name] = plain[name] or value
    end
    reader:skip()
  end
  for name, value in pairs(extended) do
    plain[name] = value
  end
  return plain
end

-- `<target>; …` -> target, parameters | nil where it is malformed.
local function link_value(reader)
  local target = reader:take("<([^>]*)>")
  if not target then return nil end
  reader:skip()
  local params = parameters(reader)
  if not params then return nil end
  reader:skip()
  if reader.position <= #reader.text and reader.text:sub(reader.position, reader.position) ~= "," then return nil end
  return target:gsub("^%s+", ""):gsub("%s+$", ""), params
end

-- Goes on behind a malformed value: at the next comma that stands in neither quotes nor angle brackets.
local function resume(reader)
  while reader.position <= #reader.text do
    local sign = reader.text:sub(reader.position, reader.position)
    if sign == "," then return end
    if sign == '"' then
      if not reader:quoted() then reader.position = #reader.text + 1 end
    elseif not (sign == "<" and reader:take("<[^>]*>")) then
      reader.position = reader.position + 1
    end
  end
end

local function words(text)
  local list = {}
  for word in text:gmatch("%S+") do
    list[#list + 1] = word
  end
  return list
end

local function parse_field(text, resolve, list)
  -- A folded line goes on where it was cut.
  local reader = setmetatable({ text = text:gsub("\r\n[ \t]+", ""), position = 1 }, Reader)
  while reader.position <= #reader.text do
    if not reader:take("[%s,]+") then
      local start = reader.position
      local target, params = link_value(reader)
      if target then
        list[#list + 1] = {
          url = resolve and resolve(target) or target,
          rel = params.rel,
          rels = words(params.rel or ""),
          params = params,
        }
      else
        reader.position = start
        resume(reader)
      end
    end
  end
end

--- Parses Link fields.
-- `fields`: the value of one field, or a list of such values.
-- `resolve`: function(reference) -> absolute URL | nil; without it (or where it gives nil) `url` is the reference.
-- Returns a list of { url, rel, rels, params }: `rel` is the text of the relation, `rels` its words, `params` all
-- parameters by lower-case name, with `title*` and the like decoded in place of `title`. Malformed links are left out.
function links.parse(fields, resolve)
  if type(fields) == "string" then fields = { fields } end
  if type(fields) ~= "table" then
    error(("bad argument 'fields' (a string or a list is expected, not %s)"):format(type(fields)), 2)
  end
  local list = {}
  for _, text in ipairs(fields) do
    parse_field(text, resolve, list)
  end
  return list
end

return links
