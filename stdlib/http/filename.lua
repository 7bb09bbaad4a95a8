--- File names for downloads: from Content-Disposition (RFC 6266), else from the URL; always safe to create.

local ext_value = require "http.ext_value"
local mime = require "http.mime"

local filename = {}

-- Room is left for a temporary suffix within the 255 bytes that file systems allow.
local MAX_LENGTH = 200

local DEVICE = {}
for name in ("con prn aux nul clock$ conin$ conout$"):gmatch("%S+") do
  DEVICE[name] = true
end
for number = 0, 9 do
  DEVICE["com" .. number], DEVICE["lpt" .. number] = true, true
end

-- Reads one `; name = value` at a position. -> name, value, quoted, next position | nil at the end
local function parameter(text, position)
  local name, after = text:match("^%s*([^=;]-)%s*=%s*()", position)
  if not name then
    local nothing = text:match("^[^;]*;()", position)
    if nothing then return "", "", false, nothing end
    return nil
  end
  if text:sub(after, after) ~= '"' then
    local value, stop = text:match("^([^;]*)();?", after)
    return name, (value:gsub("%s+$", "")), false, stop + 1
  end
  local pieces = {}
  local at = after + 1
  while at <= #text do
    local character = text:sub(at, at)
    if character == '"' then break end
    if character == "\\" and at < #text then
      at = at + 1
      character = text:sub(at, at)
    end
    pieces[#pieces + 1] = character
    at = at + 1
  end
  local stop = text:find(";", at, true) or #text
  return name, table.concat(pieces), true, stop + 1
end

-- Bytes that are not UTF-8 are what browsers took them for before: Latin-1.
local function as_utf8(text) return utf8.len(text) and text or ext_value.from_latin1(text) end

--- Parses a Content-Disposition field.
-- Returns { type, parameters, filename }: `filename` is as sent (not safe), from `filename*` where that is good, else
-- from `filename`; nil where there is none.
function filename.parse(header)
  local disposition = { parameters = {} }
  local first, position = header:match("^%s*([^;]*)();?")
  if first:find("=", 1, true) and not first:find("^\"") then
    -- "filename=x" without a type, which browsers read.
    position = 1
  else
    disposition.type = first:gsub("%s+$", ""):lower()
    position = position + 1
  end
  local extended
  while position <= #header do
    local name, value, quoted, following = parameter(header, position)
    if not name then break end
    name, position = name:lower(), following
    if name:find("^[^%s]+%*$") then
      local decoded = not quoted and ext_value.decode(value) or nil
      if name == "filename*" then extended = extended or decoded end
    elseif name ~= "" and not disposition.parameters[name] then
      disposition.parameters[name] = value
    end
  end
  local plain = disposition.parameters.filename
  -- Encoded words of e-mail (RFC 2047) name nothing that a person would recognise.
  if plain and (plain == "" or plain:find("^=%?.*%?=?$")) then plain = nil end
  disposition.filename = extended or (plain and as_utf8(plain))
  return disposition
end

-- The longest beginning of `text` that is at most `limit` bytes and ends between characters.
local function cut(text, limit)
  if #text <= limit then return text end
  while limit > 0 and text:find("^[\128-\191]", limit + 1) do
    limit = limit - 1
  end
  return text:sub(1, limit)
end

--- A name that can be created in any directory and means nothing else: no directory part, no control or direction
-- characters, nothing that Windows refuses, no leading dots, at most 200 bytes. Returns nil when nothing is left.
function filename.safe(name)
  name = as_utf8(name):gsub("^.*[/\\]", "")
  name = name:gsub('[%c<>:"|?*]', "_")
  -- C1 controls, and the marks that turn the direction of text ("gpj.exe" shown as "exe.jpg").
  name = name:gsub("\194[\128-\159]", "_"):gsub("\226\128[\142\143\168-\174]", "_"):gsub("\226\129[\166-\169]", "_")
  name = name:gsub("^[%s.]+", ""):gsub("[%s.]+$", "")
  if name == "" then return nil end
  if #name > MAX_LENGTH then
    local extension = name:match("%.%w+$") or ""
    if #extension > 16 then extension = "" end
    name = cut(name:sub(1, #name - #extension), MAX_LENGTH - #extension) .. extension
  end
  if DEVICE[name:match("^[^.]*"):gsub("%s+$", ""):lower()] then name = "_" .. name end
  return name
end

local function percent_decoded(text)
  return (text:gsub("%%(%x%x)", function(digits) return string.char(tonumber(digits, 16)) end))
end

local function from_url(url)
  local scheme, rest = url:match("^(%a[%w+.-]*)://(.*)$")
  if not scheme then return nil end
  local host, path = rest:match("^([^/?#]*)([^?#]*)")
  local segment = path:match("([^/]+)/*$")
  local name = segment and filename.safe(percent_decoded(segment))
  if name then return name, true end
  host = host:gsub("^.*@", ""):gsub(":%d*$", "")
  return host ~= "" and filename.safe(host) or nil
end

--- Apple's suggestedFilename: the name in Content-Disposition, else the last part of the URL's path (with an extension
-- for the media type where it has none), else the host, else "unknown". Any argument may be nil.
function filename.suggested(disposition, url, media_type)
  local name = disposition and filename.parse(disposition).filename
  name = name and filename.safe(name)
  if name then return name end
  local is_path
  if url then name, is_path = from_url(url) end
  if not name then return "unknown" end
  local extension = is_path and media_type and not name:find("%.%w+$") and mime.extension_of(media_type)
  return extension and name .. "." .. extension or name
end

return filename
