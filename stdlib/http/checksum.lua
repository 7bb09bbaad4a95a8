-- The option `checksum`: what a file's digest must be, said at once or by a file of checksums.

local errors = require "http.errors"
local options = require "http.options"

local checksum = {}

-- Digits of a digest in hexadecimal.
local SIZES = { md5 = 32, sha1 = 40, sha256 = 64, sha512 = 128 }

local BY_SIZE = {}
for name, size in pairs(SIZES) do BY_SIZE[size] = name end

-- "sha256:…" in lower case; nil for what has another form. Raises for what is nearly that.
local function literal(text)
  local name, digits = text:match("^%s*([%w-]+):%s*(.-)%s*$")
  if not name then return nil end
  name = name:lower():gsub("-", "")
  if digits == "" or digits:find("%X") then
    if not SIZES[name] then return nil end
    options.misuse("option 'checksum': after '%s:' there must be %d hexadecimal digits", name, SIZES[name])
  end
  options.expect_word(name, SIZES, "checksum")
  if #digits ~= SIZES[name] then
    options.misuse("option 'checksum': a %s has %d hexadecimal digits, not %d", name, SIZES[name], #digits)
  end
  return name .. ":" .. digits:lower()
end

-- Whether these are the digits of such a digest.
function checksum.is_valid(algorithm, digits)
  return SIZES[algorithm] == #digits and not digits:find("%X")
end

-- One line of a file of checksums -> digits, name of the file (nil where it has none).
local function read_line(line)
  local digits, name = line:match("^\\?(%x+)%s+%*?(.-)%s*$")
  if digits then return digits, name ~= "" and name or nil end
  name, digits = line:match("^%w[%w-]*%s*%((.-)%)%s*=%s*(%x+)%s*$")
  if digits then return digits, name end
  return line:match("^%s*(%x+)%s*$"), nil
end

local function base_name(path) return path:gsub("^.*/", "") end

-- The digest of the file `name` in the text of a file of checksums (as sha256sum writes it, or BSD, or the digits
-- alone). Where it has only one line, the name does not matter. -> "sha256:…" | nil
function checksum.find(text, name)
  local only, count
  for line in text:gmatch("[^\r\n]+") do
    local digits, of = read_line(line)
    local algorithm = digits and BY_SIZE[#digits]
    if algorithm then
      local found = algorithm .. ":" .. digits:lower()
      if of and base_name(of) == name then return found end
      only, count = found, (count or 0) + 1
    end
  end
  return count == 1 and only or nil
end

local function read_file(path)
  local file, message, number = io.open(path, "rb")
  if not file then
    return nil, errors.new {
      domain = "file", code = number == 2 and "file_does_not_exist" or "cannot_open_file",
      message = "cannot read the checksums: " .. message,
    }
  end
  local text = file:read("a")
  file:close()
  return text or ""
end

local function fetch(session, url)
  local response, err = session:get(url, { max_body = 1 << 20 })
  if response then response, err = response:validate() end
  if not response then return nil, err end
  return response.body
end

-- The last part of a URL's path.
local function name_of(url)
  local path = url:gsub("[?#].*$", "")
  return (base_name(path):gsub("%%(%x%x)", function(digits) return string.char(tonumber(digits, 16)) end))
end

-- What the option says -> "sha256:…" | nil, err. `url`: of the file that is to be fetched. *Yields* for a URL.
function checksum.resolve(session, given, url)
  local known = literal(given)
  if known then return known end
  local text, err
  if given:find("^%a[%w+.-]*://") then
    text, err = fetch(session, given)
  else
    text, err = read_file(options.path(given, "option 'checksum'"))
  end
  if not text then return nil, err end
  local found = checksum.find(text, name_of(url))
  if found then return found end
  return nil, errors.new {
    domain = "url", code = "resource_unavailable", message = ("%s has no checksum for %s"):format(given, name_of(url)),
    url = url,
  }
end

return checksum
