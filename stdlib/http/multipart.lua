--- multipart/form-data bodies (RFC 7578), written as browsers write them.

local mime = require "http.mime"
local options = require "http.options"

local multipart = {}

local PART_OPTIONS = {
  name = "string", data = "string|number|boolean", file = "string", filename = "string|boolean", type = "string",
  headers = "table",
}

-- WHATWG HTML, "multipart/form-data": only these three are escaped, and a name's line ends become CR LF first.
local ESCAPE = { ['"'] = "%22", ["\r"] = "%0D", ["\n"] = "%0A" }

local function escape(text) return (text:gsub('["\r\n]', ESCAPE)) end

local function escape_name(name) return escape(name:gsub("\r\n?", "\n"):gsub("\n", "\r\n")) end

-- Hexadecimal digits that nobody can foresee, or as good as the system allows.
local function random_digits()
  local file = io.open("/dev/urandom", "rb")
  local bytes = file and file:read(16)
  if file then file:close() end
  if not bytes or #bytes < 16 then
    bytes = string.pack("<I4I4d", os.time() & 0xFFFFFFFF, math.random(0, 0xFFFFFFFF), os.clock())
  end
  return (bytes:gsub(".", function(byte) return ("%02x"):format(byte:byte()) end))
end

local function occurs(pieces, boundary)
  for _, piece in ipairs(pieces) do
    if type(piece) == "string" and piece:find(boundary, 1, true) then return true end
  end
  return false
end

-- Names the offending part in every message.
local function checker(level)
  return function(index, field, message)
    error(("bad part %d of 'multipart': %s%s"):format(index, field and "'" .. field .. "' " or "", message), level + 2)
  end
end

local function check_line(index, field, text, fail)
  if text:find("[\r\n%z]") then fail(index, field, "contains a line break or NUL") end
end

local function check_part(index, part, fail)
  if type(part) ~= "table" then fail(index, nil, "a table { name, data or file } is expected, not " .. type(part)) end
  local ok, message = pcall(options.check, part, PART_OPTIONS, "part", 0)
  if not ok then fail(index, nil, message) end
  if not part.name then fail(index, "name", "is missing") end
  if (part.data == nil) == (part.file == nil) then fail(index, nil, "exactly one of 'data' and 'file' is needed") end
  if part.filename == true then fail(index, "filename", "is a name, or false for none") end
  if part.type then check_line(index, "type", part.type, fail) end
  for name, value in pairs(part.headers or {}) do
    if type(name) ~= "string" or not name:find("^[%w!#$%%&'*+.^_`|~-]+$") then
      fail(index, "headers", ("has no valid field name: '%s'"):format(tostring(name)))
    end
    if type(value) ~= "string" and type(value) ~= "number" then
      fail(index, "headers." .. name, "must be a string")
    end
    check_line(index, "headers." .. name, tostring(value), fail)
    if name:lower() == "content-disposition" then
      fail(index, "headers." .. name, "is made from 'name' and 'filename'")
    end
  end
end

-- The field lines of one part, in a fixed order so that equal parts make equal bytes.
local function head(part)
  local file_name = part.filename
  if file_name == nil and part.file then file_name = part.file:match("[^/]*$") end
  local disposition = ('Content-Disposition: form-data; name="%s"'):format(escape_name(part.name))
  if file_name then disposition = ('%s; filename="%s"'):format(disposition, escape(file_name)) end
  local lines, names, typed = { disposition }, {}, false
  for name in pairs(part.headers or {}) do
    names[#names + 1] = name
    typed = typed or name:lower() == "content-type"
  end
  local media_type = part.type or (file_name and not typed and mime.type_of(file_name))
  if media_type then lines[2] = "Content-Type: " .. media_type end
  table.sort(names)
  for _, name in ipairs(names) do
    if not (part.type and name:lower() == "content-type") then
      lines[#lines + 1] = ("%s: %s"):format(name, part.headers[name])
    end
  end
  return table.concat(lines, "\r\n")
end

local function assemble(parts, boundary)
  local pieces, text = {}, {}
  for _, part in ipairs(parts) do
    text[#text + 1] = ("--%s\r\n%s\r\n\r\n"):format(boundary, head(part))
    if part.file then
      pieces[#pieces + 1] = table.concat(text)
      pieces[#pieces + 1] = { file = part.file }
      text = { "\r\n" }
    else
      text[#text + 1] = tostring(part.data)
      text[#text + 1] = "\r\n"
    end
  end
  text[#text + 1] = ("--%s--\r\n"):format(boundary)
  pieces[#pieces + 1] = table.concat(text)
  return pieces
end

--- Builds a body.
-- `parts`: a list of { name, data = text | file = path, filename, type, headers }. A file's name is the last part of
-- its path unless `filename` says otherwise (false: none); its type is guessed from the name unless given.
-- Returns the body as a list of pieces, each a string or { file = path }, and the Content-Type with the boundary.
-- A wrong part raises at the caller's `level` (default 1: whoever called `encode`).
function multipart.encode(parts, level)
  level = level or 1
  if type(parts) ~= "table" then
    error(("bad argument 'multipart' (a list of parts is expected, not %s)"):format(type(parts)), level + 1)
  end
  local fail = checker(level + 1)
  for index, part in ipairs(parts) do
    check_part(index, part, fail)
  end
  if #parts == 0 and next(parts) ~= nil then
    error("bad argument 'multipart' (a list of parts is expected, not a table of names)", level + 1)
  end
  local contents = {}
  for _, part in ipairs(parts) do
    contents[#contents + 1] = part.data ~= nil and tostring(part.data) or head(part)
  end
  local boundary
  repeat
    boundary = "httpscript-" .. random_digits()
  until not occurs(contents, boundary)
  return assemble(parts, boundary), "multipart/form-data; boundary=" .. boundary
end

return multipart
