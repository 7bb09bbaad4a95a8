-- Runs the Lua specs: lua5.4 Tests/Lua/run.lua [part of a spec's name …], or the same with httpscript, which also runs
-- what needs the executable. Each spec file returns function(t); `t` is below.

local here = arg[0]:match("^(.*)/[^/]*$") or "."
local root = here .. "/../.."
local is_host = pcall(require, "httpscript.core")
package.path = here .. "/?.lua;" .. (is_host and "" or root .. "/stdlib/?.lua;") .. package.path

local SPECS = {
  "auth_spec",
  "charset_spec", "crawl_spec", "css_spec", "dates_spec", "filename_spec", "inspect_spec", "links_spec", "meta_spec",
  "mime_spec", "misuse_spec", "multipart_spec", "progress_spec", "retry_spec", "robots_spec",
  "serializer_spec",
}

-- What these test is native.
local NEED_HOST = {
  auth_spec = true, dates_spec = true, progress_spec = true, retry_spec = true, serializer_spec = true,
}

local passed, failed, skipped = 0, 0, 0
local path = {}

local t = { is_host = is_host, root = root, fixtures = root .. "/Tests/Fixtures/" }

-- A failure carries the line of the expectation, not of this file.
local function fail(message)
  local level = 3
  local info = debug.getinfo(level, "Sl")
  while info and (info.what == "C" or info.short_src:find("run.lua", 1, true)) do
    level = level + 1
    info = debug.getinfo(level, "Sl")
  end
  error(("%s:%d: %s"):format(info.short_src, info.currentline, message), 0)
end

local function show(value)
  if type(value) == "string" then return ("%q"):format(value) end
  if type(value) ~= "table" or getmetatable(value) then return tostring(value) end
  local keys, pieces = {}, {}
  for key in pairs(value) do
    keys[#keys + 1] = key
  end
  table.sort(keys, function(a, b) return tostring(a) < tostring(b) end)
  for _, key in ipairs(keys) do
    pieces[#pieces + 1] = tostring(key) .. " = " .. show(value[key])
  end
  return "{ " .. table.concat(pieces, ", ") .. " }"
end

local function same(a, b)
  if type(a) ~= "table" or type(b) ~= "table" then return a == b end
  for key, value in pairs(a) do
    if not same(value, b[key]) then return false end
  end
  for key in pairs(b) do
    if a[key] == nil then return false end
  end
  return true
end

local Expectation = {}
Expectation.__index = Expectation

function Expectation:equals(wanted)
  if self.value ~= wanted then fail(("%s is not %s"):format(show(self.value), show(wanted))) end
end

function Expectation:same(wanted)
  if not same(self.value, wanted) then fail(("%s is not %s"):format(show(self.value), show(wanted))) end
end

function Expectation:matches(pattern)
  if type(self.value) ~= "string" or not self.value:find(pattern) then
    fail(("%s does not match %s"):format(show(self.value), pattern))
  end
end

function Expectation:contains(text)
  if type(self.value) ~= "string" or not self.value:find(text, 1, true) then
    fail(("%s does not contain %s"):format(show(self.value), show(text)))
  end
end

function Expectation:is_between(low, high)
  if not (self.value and self.value >= low and self.value <= high) then
    fail(("%s is not between %s and %s"):format(show(self.value), low, high))
  end
end

function Expectation:raises(pattern)
  local ok, message = pcall(self.value)
  if ok then fail("nothing was raised") end
  message = tostring(message)
  if not message:find(pattern) then fail(("%s does not match %s"):format(show(message), pattern)) end
end

function t.expect(value) return setmetatable({ value = value }, Expectation) end

function t.describe(name, body)
  path[#path + 1] = name
  body()
  path[#path] = nil
end

function t.it(name, body)
  local ok, message = xpcall(body, function(message)
    return type(message) == "string" and message:find("^[^\n]*:%d+: ") and message or debug.traceback(tostring(message))
  end)
  if ok then
    passed = passed + 1
  else
    failed = failed + 1
    print(("FAILED %s: %s\n  %s"):format(table.concat(path, " "), name, message))
  end
end

-- What only the executable can run.
function t.host_it(name, body)
  if is_host then return t.it(name, body) end
  skipped = skipped + 1
end

-- Runs a public suite: `check(row)` -> whether the row passes. The score is printed; below `floor` it is a failure.
function t.suite(name, rows, floor, check)
  t.it("suite " .. name, function()
    local good = 0
    for _, row in ipairs(rows) do
      if check(row) then good = good + 1 end
    end
    print(("%s: %d of %d"):format(name, good, #rows))
    if good < floor then fail(("%s: only %d of %d, at least %d must pass"):format(name, good, #rows, floor)) end
  end)
end

local function is_wanted(name)
  if #arg == 0 then return true end
  for _, part in ipairs(arg) do
    if name:find(part, 1, true) then return true end
  end
  return false
end

for _, name in ipairs(SPECS) do
  if is_wanted(name) and not is_host and NEED_HOST[name] then
    skipped = skipped + 1
  elseif is_wanted(name) then
    t.describe(name:gsub("_spec$", ""), function() require(name)(t) end)
  end
end

if skipped > 0 then print(("%d skipped: they need httpscript"):format(skipped)) end
print(("%d passed, %d failed"):format(passed, failed))
os.exit(failed == 0 and passed > 0, true)
