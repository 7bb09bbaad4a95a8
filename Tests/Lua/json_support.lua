-- What the specs of `json` share: a list of checks, and words for what is expected.

local json = require "json"

local support = {}
local failures, count = {}, 0

--- Runs a check; its failure is told by `finish`.
function support.it(name, body)
  count = count + 1
  local ok, message = xpcall(body, debug.traceback)
  if not ok then failures[#failures + 1] = name .. ": " .. message end
end

function support.equal(actual, expected)
  if actual ~= expected or math.type(actual) ~= math.type(expected) then
    error(("expected %s, got %s"):format(tostring(expected), tostring(actual)), 2)
  end
end

function support.encoded(value, options) return assert(json.encode(value, options)) end
function support.sorted(value) return support.encoded(value, { sort_keys = true }) end
function support.round(text) return support.encoded(assert(json.decode(text))) end

--- Checks for `nil, err` with this code, and for other fields. Returns the error.
function support.refused(code, value, err, fields)
  support.equal(value, nil)
  support.equal(err.domain, "json")
  support.equal(err.code, code)
  for name, expected in pairs(fields or {}) do support.equal(err[name], expected) end
  assert(not tostring(err):find("\n") and not tostring(err):find("^table:"), tostring(err))
  return err
end

--- Checks that `body` raises a text that has `message` in it. Returns the text.
function support.raises(message, body, ...)
  local ok, raised = pcall(body, ...)
  assert(not ok, "did not raise")
  assert(tostring(raised):find(message, 1, true), tostring(raised))
  return raised
end

--- Checks that `body` needs less processor time than this; ten times as much in a build that checks every access.
function support.quickly(seconds, body)
  if os.getenv("ASAN_OPTIONS") then seconds = seconds * 10 end
  local start = os.clock()
  body()
  local spent = os.clock() - start
  assert(spent < seconds, ("took %.1f s"):format(spent))
end

--- Prints the score; raises when a check has failed.
function support.finish(name)
  print(("%s: %d of %d"):format(name, count - #failures, count))
  if #failures > 0 then error(table.concat(failures, "\n"), 0) end
end

return support
