-- JSON: RFC 8259, RFC 6901 pointers, newline-delimited documents.
--
-- A decoded table keeps whether it was an array or an object, by its metatable. A table without that mark is an array
-- when it has an integer key, and otherwise an object; so the empty table is `{}` unless it is marked.

local errors = require "http.errors"
local native = require "httpscript.json"
local options = require "http.options"

local json = {}

--- Stands for JSON's null. It is true as a condition, as every value but nil and false is: compare with
--- `value == json.null`.
json.null = native.decode("null")

local ARRAY = getmetatable(native.decode("[]"))
local OBJECT = getmetatable(native.decode("{}"))

local DECODE = { big_integers = "string", duplicates = "string" }
local ENCODE = { indent = "integer", sort_keys = "boolean", ascii = "boolean" }

-- Misuse: raised where the script's own code called.

local function one_of(name, value, first, second)
  if value ~= nil and value ~= first and value ~= second then
    options.misuse(("bad option '%s' ('%s' or '%s' is expected, not '%s')"):format(name, first, second, value))
  end
end

local function decode_options(given)
  if given == nil then return {} end
  options.check(given, DECODE, "options")
  one_of("big_integers", given.big_integers, "float", "string")
  one_of("duplicates", given.duplicates, "error", "last")
  return given
end

local function encode_options(given)
  if given == nil then return {} end
  options.check(given, ENCODE, "options")
  if given.indent and (given.indent < 0 or given.indent > 31) then
    options.misuse(("bad option 'indent' (0 to 31 is expected, not %d)"):format(given.indent))
  end
  return given
end

-- Errors

local function failed(failure, line)
  failure.domain = "json"
  if line then failure.line = line end
  if failure.line then
    failure.message = ("line %d, column %d: %s"):format(failure.line, failure.column, failure.message)
  end
  return errors.new(failure)
end

local function decode(text, chosen, line)
  local value, failure = native.decode(text, chosen.duplicates == "last", chosen.big_integers)
  if value == nil then return nil, failed(failure, line) end
  return value
end

--- The value that a JSON text says; or nil and an error with `code`, `line`, `column` and `position`, the 1-based
--- index of the byte where reading stopped.
---
--- Integers are exact over 64 bits; `big_integers = "float"` or `"string"` says what a larger one becomes.
--- `duplicates = "last"` lets the last member of a name count; otherwise a repeated name is an error.
function json.decode(text, given)
  if type(text) ~= "string" then
    options.misuse(("bad argument #1 to 'decode' (string expected, got %s)"):format(type(text)))
  end
  return decode(text, decode_options(given))
end

--- The JSON text of a value; or nil and an error with `code` and `path`, as in `items[3].name`.
---
--- `indent` (0 to 31, default 0: one line) spaces for each level, `sort_keys` by the names' bytes (otherwise in the
--- order of `next`), `ascii` for escapes in place of everything beyond ASCII. Metamethods are not called.
function json.encode(value, given)
  local chosen = encode_options(given)
  local text, failure = native.encode(value, chosen.indent, chosen.sort_keys, chosen.ascii)
  if text == nil then return nil, failed(failure) end
  return text
end

-- Marks

local function mark(value, metatable, called)
  if type(value) ~= "table" then
    options.misuse(("bad argument #1 to '%s' (table expected, got %s)"):format(called, type(value)))
  end
  local present = getmetatable(value)
  if present ~= nil and present ~= ARRAY and present ~= OBJECT then
    options.misuse(("bad argument #1 to '%s' (the table has a metatable of its own)"):format(called))
  end
  return setmetatable(value, metatable)
end

--- Marks a table as an array (a new one when there is none), so that it is one also when empty. Returns the table.
function json.array(value)
  value = mark(value == nil and {} or value, ARRAY, "array")
  return value
end

--- Marks a table as an object (a new one when there is none). Returns the table.
function json.object(value)
  value = mark(value == nil and {} or value, OBJECT, "object")
  return value
end

--- Whether a table is marked as an array; decoded arrays are.
function json.is_array(value) return type(value) == "table" and getmetatable(value) == ARRAY end

--- Whether a table is marked as an object; decoded objects are.
function json.is_object(value) return type(value) == "table" and getmetatable(value) == OBJECT end

-- Newline-delimited documents

local function chunks_of(reader)
  if type(reader) == "function" then return reader end
  if type(reader) == "string" then
    return function()
      local text = reader
      reader = nil
      return text
    end
  end
  local readable, method = pcall(function() return reader.read end)
  if not readable or method == nil then
    options.misuse(("bad argument #1 to 'lines' (string, function or file expected, got %s)"):format(type(reader)))
  end
  return function() return reader:read(65536) end
end

-- Lines of a stream of chunks, without their ends; at the end nil, or nil and what the stream reported. The pieces of
-- a line are put together only when it is whole, so that a long one costs no more than its length.
local function line_reader(next_chunk)
  local chunk, position, pieces = "", 1, {}
  local function whole(last)
    pieces[#pieces + 1] = last
    local line = table.concat(pieces)
    pieces = {}
    return line
  end
  return function()
    while chunk do
      local stop = chunk:find("\n", position, true)
      if stop then
        local line = whole(chunk:sub(position, stop - 1))
        position = stop + 1
        return line
      end
      pieces[#pieces + 1] = chunk:sub(position)
      local reported
      chunk, reported = next_chunk()
      position = 1
      if chunk == nil then
        if reported ~= nil then return nil, reported end
        return whole("")
      elseif type(chunk) ~= "string" then
        options.misuse(("the reader of json.lines gave a %s in place of a string"):format(type(chunk)))
      end
    end
  end
end

--- Iterates over newline-delimited documents: `for value, err in json.lines(reader) do`.
---
--- `reader` is a string, a function that returns the next chunk or nil, or anything with `:read(count)`. A line that
--- is not JSON gives `false, err`, with `err.line` its number in the stream, and the next line follows. What the
--- reader reports (`nil, err`) comes last, also after `false`. Blank lines are skipped. Options as for `decode`.
function json.lines(reader, given)
  local chosen = decode_options(given)
  local next_line = line_reader(chunks_of(reader))
  local number = 0
  return function()
    while true do
      local line, reported = next_line()
      if line == nil then
        if reported == nil then return nil end
        return false, reported
      end
      number = number + 1
      if line:find("[^ \t\r]") then
        local value, err = decode(line, chosen, number)
        if value == nil then return false, err end
        return value
      end
    end
  end
end

-- Pointers

local function pointer_error(code, message, pointer)
  return nil, errors.new { domain = "json", code = code, message = message, pointer = pointer }
end

local function unescape(token)
  if token:find("~[^01]") or token:find("~$") then return nil end
  return (token:gsub("~1", "/"):gsub("~0", "~"))
end

local function element(list, token)
  if token ~= "0" and not token:find("^[1-9]%d*$") then return nil end
  local index = math.tointeger(tonumber(token))
  return index and rawget(list, index + 1)
end

local function child(value, token)
  if type(value) ~= "table" then return nil end
  local metatable = getmetatable(value)
  if metatable == ARRAY or metatable ~= OBJECT and rawget(value, 1) ~= nil then return element(value, token) end
  return rawget(value, token)
end

--- The value that a JSON pointer (RFC 6901) names: `json.pointer(doc, "/items/0/name")`; or nil and an error. Array
--- indices count from 0, as the RFC has it.
function json.pointer(value, pointer)
  if type(pointer) ~= "string" then
    options.misuse(("bad argument #2 to 'pointer' (string expected, got %s)"):format(type(pointer)))
  end
  if pointer ~= "" and pointer:sub(1, 1) ~= "/" then
    return pointer_error("invalid_pointer", ("'%s' does not begin with '/'"):format(pointer), pointer)
  end
  for escaped in pointer:gmatch("/([^/]*)") do
    local token = unescape(escaped)
    if not token then
      return pointer_error("invalid_pointer", ("'%s' has a '~' that neither 0 nor 1 follows"):format(pointer), pointer)
    end
    value = child(value, token)
    if value == nil then
      return pointer_error("not_found", ("nothing at '%s': no '%s' there"):format(pointer, token), pointer)
    end
  end
  return value
end

return json
