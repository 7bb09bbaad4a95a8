--- multipart/form-data bodies (RFC 7578), written as browsers write them.

local mime = require "http.mime"
local options = require "http.options"

local multipart = {}

local PART_FIELDS = {
  name = "string", data = "string|number|boolean", file = "string", filename = "string|false", type = "string",
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

local function occurs(contents, boundary)
  for _, content in ipairs(contents) do
    if content:find(boundary, 1, true) then return true end
  end
  return false
end

local function has_break(text) return tostring(text):find("[\r\n%z]") ~= nil end

-- What is wrong with one field of a part's `headers`; nil when nothing.
local function header_problem(name, value)
  if type(name) ~= "string" or not name:find("^[%w!#$%%&'*+.^_`|~-]+$") then
    return ("'headers' has a name that is no token: %q"):format(tostring(name))
  end
  if type(value) ~= "string" and type(value) ~= "number" then
    return ("header '%s' must be a string, not %s"):format(name, type(value))
  end
  if has_break(value) then return ("header '%s' has a line break or NUL in its value"):format(name) end
  if name:lower() == "content-disposition" then
    return "header 'Content-Disposition' is made from 'name' and 'filename'"
  end
  return nil
end

-- What is wrong with a part; nil when nothing.
local function problem_of(part)
  if type(part) ~= "table" then return "a table { name, data or file } is expected, not " .. type(part) end
  for name, value in pairs(part) do
    local types = PART_FIELDS[name]
    if not types then
      local near = options.nearest(tostring(name), PART_FIELDS)
      return ("unknown option '%s'%s"):format(tostring(name), near and (" (did you mean '%s'?)"):format(near) or "")
    end
    local fits = ("|" .. types .. "|"):find("|" .. (value == false and "false" or type(value)) .. "|", 1, true)
    if not (fits or (value == false and name == "data")) then
      return ("option '%s' must be %s, not %s"):format(name, types:gsub("|", " or "), type(value))
    end
  end
  if not part.name then return "'name' is missing" end
  if (part.data == nil) == (part.file == nil) then return "exactly one of 'data' and 'file' is needed" end
  if part.file and (part.file:find("\0", 1, true) or not utf8.len(part.file)) then
    return "option 'file' must be UTF-8 without NUL"
  end
  if part.type and has_break(part.type) then return "'type' has a line break or NUL in it" end
  for name, value in pairs(part.headers or {}) do
    local problem = header_problem(name, value)
    if problem then return problem end
  end
  return nil
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
-- Returns the body as a list of pieces, each a string or { file = path }, and the Content-Type with the boundary; or
-- nil and a message that names the part.
function multipart.build(parts)
  if type(parts) ~= "table" then return nil, "a list of parts is expected, not " .. type(parts) end
  local contents = {}
  for index, part in ipairs(parts) do
    local problem = problem_of(part)
    if problem then return nil, ("part %d: %s"):format(index, problem) end
    contents[#contents + 1] = part.data ~= nil and tostring(part.data) or part.name
  end
  if #parts == 0 and next(parts) ~= nil then return nil, "a list of parts is expected, not a table of names" end
  local boundary
  repeat
    boundary = "httpscript-" .. random_digits()
  until not occurs(contents, boundary)
  return assemble(parts, boundary), "multipart/form-data; boundary=" .. boundary
end

return multipart
