-- `json` and hostile, long, streamed and public input.

local json = require "json"

local tests = debug.getinfo(1, "S").source:match("^@(.*/)Lua/[^/]*$") or "Tests/"
local support = dofile(tests .. "Lua/json_support.lua")
local it, equal, encoded, sorted = support.it, support.equal, support.encoded, support.sorted
local round, refused, raises, quickly = support.round, support.refused, support.raises, support.quickly

-- Hostile input

it("answers deep nesting with an error", function()
  quickly(1, function()
    refused("depth", json.decode(("["):rep(100000)))
    refused("depth", json.decode(('{"a":'):rep(100000)))
    local deep = {}
    for _ = 1, 100000 do deep = { deep } end
    local err = refused("depth", json.encode(deep))
    assert(#err.path < 256)
  end)
  local text = ("["):rep(2048) .. ("]"):rep(2048)
  equal(round(text), text)
  refused("depth", json.decode("[" .. text .. "]"))
end)

it("answers cycles with an error that names the shortest", function()
  quickly(1, function()
    local cycle = { name = "x" }
    cycle.self = cycle
    refused("cycle", nil, select(2, json.encode(cycle)), { path = "self" })
    local long = { a = { b = { {} } } }
    long.a.b[2] = long.a
    refused("cycle", nil, select(2, json.encode(long)), { path = "a.b[2]" })
    local wide = {}
    for i = 1, 20 do wide[i] = wide end
    refused("cycle", nil, select(2, json.encode(wide)), { path = "[1]" })
  end)
  local shared = { 1 }
  equal(encoded { shared, shared }, "[[1],[1]]")
end)

it("is not slowed down by long numbers, strings and many errors", function()
  quickly(10, function()
    local digits = ("7"):rep(1000000)
    refused("number_out_of_range", json.decode(digits))
    equal(#json.decode(digits, { big_integers = "string" }), 1000000)
    refused("number_out_of_range", json.decode(digits, { big_integers = "float" }))
    refused("premature_end", json.decode('"' .. digits))
  end)
end)

-- Lines

local function collect(reader, options)
  local seen = {}
  for value, err in json.lines(reader, options) do
    seen[#seen + 1] = err and ("%s@%s"):format(err.code or err, err.line or "") or encoded(value)
  end
  return table.concat(seen, " ")
end

it("reads newline-delimited documents from a string", function()
  equal(collect '{"a":1}\n[]\r\n\n  \r\n"x"\nnull\nfalse', '{"a":1} [] "x" null false')
  equal(collect "", "")
  equal(collect "\n", "")
  equal(collect "1\n2\n", "1 2")
end)

it("goes on after a line that is wrong", function()
  equal(collect '1\n{oops\n3\n\n[\n4', "1 syntax@2 3 premature_end@5 4")
end)

it("reads chunks that end anywhere", function()
  local text = '{"a":"äöü"}\r\n[1,2]\n\n"last"'
  for size = 1, #text do
    local at = 1
    equal(collect(function()
      if at > #text then return nil end
      local chunk = text:sub(at, at + size - 1)
      at = at + size
      return chunk
    end), '{"a":"äöü"} [1,2] "last"')
  end
end)

it("reads files, and passes on what a reader reports", function()
  local file = assert(io.tmpfile())
  file:write('1\n2\n')
  file:seek("set")
  equal(collect(file), "1 2")
  file:close()
  local chunks = { "1\n2", n = 0 }
  equal(collect(function()
    chunks.n = chunks.n + 1
    if chunks.n == 1 then return chunks[1] end
    return nil, "broken"
  end), "1 broken@")
  raises("gave a number in place of a string", collect, function() return 1 end)
end)

it("hands decoding options to each line", function()
  equal(collect("99999999999999999999", { big_integers = "string" }), '"99999999999999999999"')
end)

it("puts long lines together in linear time", function()
  quickly(2, function()
    local left = 100000
    local value = json.lines(function()
      left = left - 1
      if left == 99999 or left == 0 then return '"' end
      return left > 0 and "0123456789" or nil
    end)()
    equal(#value, 999980)
  end)
end)

-- Public suites

local function read(path)
  local file = io.open(tests .. "Fixtures/" .. path, "rb")
  local text = file and file:read("a")
  if file then file:close() end
  return text
end

it("passes JSONTestSuite", function()
  local passed, mandatory, free, accepted, wrong = 0, 0, 0, 0, {}
  for _, row in ipairs(assert(json.decode(assert(read "json_parsing/INDEX.json")))) do
    local text = read("json_parsing/" .. row.file)
    if text then
      local value = json.decode(text, { duplicates = "last" })
      if row.expect == "either" then
        free, accepted = free + 1, accepted + (value ~= nil and 1 or 0)
      else
        mandatory = mandatory + 1
        if (value ~= nil) == (row.expect == "accept") then passed = passed + 1 else wrong[#wrong + 1] = row.file end
      end
      if value ~= nil then
        equal(sorted(json.decode(encoded(value))), sorted(value))
      end
    end
  end
  print(("json_parsing: %d of %d mandatory, %d of %d free accepted"):format(passed, mandatory, accepted, free))
  assert(mandatory >= 200, "the fixtures are missing")
  assert(#wrong == 0, table.concat(wrong, ", "))
end)

it("passes the pointer cases", function()
  local passed, total, wrong = 0, 0, {}
  for _, row in ipairs(assert(json.decode(assert(read "json_pointer.json")))) do
    local pointer = row.pointer
    -- RFC 6901 §6: the fragment form is percent-encoded; taking that off is the URL module's part.
    if row.suite:find "fragment" then
      pointer = pointer:sub(2):gsub("%%(%x%x)", function(hex) return string.char(tonumber(hex, 16)) end)
    end
    local value, err = json.pointer(row.doc, pointer)
    total = total + 1
    local right
    if row.error then right = value == nil and err.domain == "json"
    else right = value ~= nil and sorted(value) == sorted(row.expected) end
    if right then passed = passed + 1 else wrong[#wrong + 1] = row.pointer end
  end
  print(("json_pointer: %d of %d"):format(passed, total))
  assert(total >= 28 and #wrong == 0, table.concat(wrong, ", "))
end)

it("follows pointers through hand-made tables too", function()
  equal(json.pointer({ items = { { name = "x" } } }, "/items/0/name"), "x")
  equal(json.pointer({ ["0"] = 1 }, "/0"), 1)
  local whole = {}
  equal(json.pointer(whole, ""), whole)
  equal(json.pointer({ a = false }, "/a"), false)
  refused("not_found", json.pointer({ a = json.null }, "/a/b"))
  refused("invalid_pointer", json.pointer({}, "a"))
end)

support.finish "json_input_spec"
