-- The values of parameters such as `filename*` and `title*` (RFC 8187): charset'language'percent-encoded.

local ext_value = {}

--- Latin-1 bytes as UTF-8.
function ext_value.from_latin1(text)
  return (text:gsub("[\128-\255]", function(byte) return utf8.char(byte:byte()) end))
end

--- The decoded text in UTF-8, or nil where the value is malformed or in a charset other than the two that matter.
function ext_value.decode(text)
  local charset, encoded = text:match("^([%w!#$%%&+^_`{}~-]+)'[%w-]*'([^%s\"'();,]*)$")
  if not charset then return nil end
  -- After the good encodings are gone, no percent sign may be left.
  if encoded:gsub("%%%x%x", ""):find("%", 1, true) then return nil end
  local decoded = encoded:gsub("%%(%x%x)", function(digits) return string.char(tonumber(digits, 16)) end)
  charset = charset:lower()
  if charset == "utf-8" then return utf8.len(decoded) and decoded or nil end
  if charset == "iso-8859-1" then return ext_value.from_latin1(decoded) end
  return nil
end

return ext_value
