--- Which charset a body is in: its byte order mark, else the Content-Type, else what an HTML or XML document says of
--- itself. The names are those that iconv takes.

local charset = {}

-- Labels of the WHATWG Encoding standard, by the iconv name of the decoder that they stand for. Latin-1 and ASCII are
-- windows-1252 there, and the older subsets of an encoding are the encoding.
local LABELS = {
  ["UTF-8"] = [[utf-8 utf8 unicode-1-1-utf-8 unicode11utf8 unicode20utf8 x-unicode20utf8]],
  ["WINDOWS-1252"] = [[windows-1252 cp1252 x-cp1252 ascii us-ascii ansi_x3.4-1968 iso-8859-1 iso8859-1 iso88591
    iso_8859-1 iso_8859-1:1987 latin1 l1 cp819 ibm819 csisolatin1 iso-ir-100 x-user-defined]],
  ["WINDOWS-1250"] = "windows-1250 cp1250 x-cp1250",
  ["WINDOWS-1251"] = "windows-1251 cp1251 x-cp1251",
  ["WINDOWS-1253"] = "windows-1253 cp1253 x-cp1253",
  ["WINDOWS-1254"] = [[windows-1254 cp1254 x-cp1254 iso-8859-9 iso8859-9 iso88599 iso_8859-9 iso_8859-9:1989 latin5 l5
    csisolatin5 iso-ir-148]],
  ["WINDOWS-1255"] = "windows-1255 cp1255 x-cp1255",
  ["WINDOWS-1256"] = "windows-1256 cp1256 x-cp1256",
  ["WINDOWS-1257"] = "windows-1257 cp1257 x-cp1257",
  ["WINDOWS-1258"] = "windows-1258 cp1258 x-cp1258",
  ["CP874"] = "windows-874 dos-874 iso-8859-11 iso8859-11 iso885911 tis-620",
  ["ISO-8859-2"] = "iso-8859-2 iso8859-2 iso88592 iso_8859-2 iso_8859-2:1987 latin2 l2 csisolatin2 iso-ir-101",
  ["ISO-8859-3"] = "iso-8859-3 iso8859-3 iso88593 iso_8859-3 iso_8859-3:1988 latin3 l3 csisolatin3 iso-ir-109",
  ["ISO-8859-4"] = "iso-8859-4 iso8859-4 iso88594 iso_8859-4 iso_8859-4:1988 latin4 l4 csisolatin4 iso-ir-110",
  ["ISO-8859-5"] = [[iso-8859-5 iso8859-5 iso88595 iso_8859-5 iso_8859-5:1988 cyrillic csisolatincyrillic iso-ir-144]],
  ["ISO-8859-6"] = [[iso-8859-6 iso8859-6 iso88596 iso_8859-6 iso_8859-6:1987 arabic asmo-708 ecma-114 csisolatinarabic
    csiso88596e csiso88596i iso-8859-6-e iso-8859-6-i iso-ir-127]],
  ["ISO-8859-7"] = [[iso-8859-7 iso8859-7 iso88597 iso_8859-7 iso_8859-7:1987 greek greek8 ecma-118 elot_928
    csisolatingreek sun_eu_greek iso-ir-126]],
  ["ISO-8859-8"] = [[iso-8859-8 iso8859-8 iso88598 iso_8859-8 iso_8859-8:1988 hebrew visual logical csisolatinhebrew
    csiso88598e csiso88598i iso-8859-8-e iso-8859-8-i iso-ir-138]],
  ["ISO-8859-10"] = "iso-8859-10 iso8859-10 iso885910 latin6 l6 csisolatin6 iso-ir-157",
  ["ISO-8859-13"] = "iso-8859-13 iso8859-13 iso885913",
  ["ISO-8859-14"] = "iso-8859-14 iso8859-14 iso885914",
  ["ISO-8859-15"] = "iso-8859-15 iso8859-15 iso885915 iso_8859-15 l9 csisolatin9",
  ["ISO-8859-16"] = "iso-8859-16",
  ["IBM866"] = "ibm866 866 cp866 csibm866",
  ["KOI8-R"] = "koi8-r koi8_r koi8 koi cskoi8r",
  ["KOI8-U"] = "koi8-u koi8-ru",
  ["MACINTOSH"] = "macintosh mac x-mac-roman csmacintosh",
  ["MAC-UK"] = "x-mac-cyrillic x-mac-ukrainian",
  ["GB18030"] = [[gb18030 gbk gb2312 gb_2312 gb_2312-80 chinese csgb2312 csiso58gb231280 iso-ir-58 x-gbk cp936
    windows-936]],
  ["BIG5-HKSCS"] = "big5 big5-hkscs cn-big5 csbig5 x-x-big5",
  ["EUC-JP"] = "euc-jp x-euc-jp cseucpkdfmtjapanese",
  ["ISO-2022-JP"] = "iso-2022-jp csiso2022jp",
  ["CP932"] = "shift_jis shift-jis sjis ms_kanji ms932 windows-31j x-sjis csshiftjis",
  ["CP949"] = [[euc-kr cseuckr korean ks_c_5601-1987 ks_c_5601-1989 ksc5601 ksc_5601 csksc56011987 iso-ir-149
    windows-949]],
  ["UTF-16LE"] = "utf-16le utf-16 unicode ucs-2 iso-10646-ucs-2 csunicode unicodefeff",
  ["UTF-16BE"] = "utf-16be unicodefffe",
}

local NAME_OF = {}
for name, labels in pairs(LABELS) do
  for label in labels:gmatch("%S+") do
    NAME_OF[label] = name
  end
end

-- WHATWG: a document is searched this far for what it says of its encoding.
local PRESCAN = 1024

--- The iconv name for a label as headers and documents write it; nil for an unknown one.
function charset.canonical(label)
  return NAME_OF[label:match("^%s*(.-)%s*$"):lower()]
end

--- The charset parameter of a Content-Type (or nil), as written; nil where there is none.
function charset.from_content_type(content_type)
  local parameters = content_type and content_type:match(";.*$")
  if not parameters then return nil end
  for name, value in parameters:gmatch(";%s*([^%s=;]+)%s*=%s*([^;]*)") do
    if name:lower() == "charset" then
      return (value:match('^"(.-)"') or value:match("^'(.-)'") or value):match("^%s*(.-)%s*$")
    end
  end
  return nil
end

local MARKS = { { "\239\187\191", "UTF-8" }, { "\254\255", "UTF-16BE" }, { "\255\254", "UTF-16LE" } }

-- The attributes of a tag, from a position behind its name. -> table, position behind the tag
local function attributes(text, position)
  local found = {}
  while true do
    position = text:match("^[%s/]*()", position)
    if position > #text then return found, position end
    if text:sub(position, position) == ">" then return found, position + 1 end
    local name, after = text:match("^([^%s/>=][^%s/>=]*)%s*()", position)
    if not name then
      position = position + 1
    else
      local value, behind = "", text:match("^=%s*()", after)
      if behind then
        local quote = text:match("^[\"']", behind)
        if quote then
          value, behind = text:match("^([^" .. quote .. "]*)" .. quote .. "?()", behind + 1)
        else
          value, behind = text:match("^([^%s>]*)()", behind)
        end
      end
      name = name:lower()
      if not found[name] then found[name] = value end
      position = behind or after
    end
  end
end

-- A document that can be read well enough to say "UTF-16" is not in UTF-16.
local function readable(name)
  return name and name:find("^UTF%-16") and "UTF-8" or name
end

local function from_meta(found)
  if found.charset then return charset.canonical(found.charset) end
  if (found["http-equiv"] or ""):lower() ~= "content-type" then return nil end
  local label = (found.content or ""):lower():match("charset%s*=%s*[\"']?([^\"'%s;]+)")
  return label and charset.canonical(label)
end

--- What the first 1024 bytes of an HTML or XML document say; nil when nothing.
function charset.prescan(data)
  local text = data:sub(1, PRESCAN)
  local declared = text:match("^%s*<%?xml%s[^>]-encoding%s*=%s*[\"']([^\"'>]+)[\"']")
  if declared then
    local name = charset.canonical(declared)
    if name then return readable(name) end
  end
  local position = 1
  while true do
    position = text:find("<", position, true)
    if not position then return nil end
    local tag = text:match("^</?(%a[^%s/>]*)", position)
    if text:sub(position, position + 3) == "<!--" then
      local _, last = text:find("-->", position + 2, true)
      if not last then return nil end
      position = last + 1
    elseif tag then
      local found
      found, position = attributes(text, text:match("^</?%a[^%s/>]*()", position))
      local name = tag:lower() == "meta" and from_meta(found)
      if name then return readable(name) end
    elseif text:find("^<[!/?]", position) then
      position = (text:find(">", position, true) or #text) + 1
    else
      position = position + 1
    end
  end
end

local function is_markup(content_type, data)
  if not content_type or content_type == "" then return data:find("^%s*<") ~= nil end
  local lower = content_type:lower()
  return lower:find("html", 1, true) ~= nil or lower:find("xml", 1, true) ~= nil
end

--- The charset of a body.
-- `content_type`: the field's value, or nil. Returns the iconv name, the length of the byte order mark (which is not
-- part of the text), and where the name was found: "mark", "header", "document" or "guess" (UTF-8 where the bytes are
-- valid UTF-8, else windows-1252).
function charset.detect(data, content_type)
  for _, mark in ipairs(MARKS) do
    if data:sub(1, #mark[1]) == mark[1] then return mark[2], #mark[1], "mark" end
  end
  local label = charset.from_content_type(content_type)
  local name = label and charset.canonical(label)
  if name then return name, 0, "header" end
  if is_markup(content_type, data) then
    name = charset.prescan(data)
    if name then return name, 0, "document" end
  end
  return utf8.len(data) and "UTF-8" or "WINDOWS-1252", 0, "guess"
end

return charset
