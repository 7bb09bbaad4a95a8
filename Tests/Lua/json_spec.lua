-- What `require "json"` promises. Runs under any host that has the module: `httpscript Tests/Lua/json_spec.lua`.

local json = require "json"

local tests = debug.getinfo(1, "S").source:match("^@(.*/)Lua/[^/]*$") or "Tests/"
local support = dofile(tests .. "Lua/json_support.lua")
local it, equal, encoded = support.it, support.equal, support.encoded
local round, refused, raises = support.round, support.refused, support.raises

-- Values

it("decodes each kind of value", function()
  local value = assert(json.decode ' {"a":[1,2.5,"x",true,false,null],"o":{}} ')
  equal(#value.a, 6)
  equal(value.a[1], 1)
  equal(value.a[2], 2.5)
  equal(value.a[3], "x")
  equal(value.a[4], true)
  equal(value.a[5], false)
  assert(value.a[6] == json.null)
  assert(json.is_object(value.o) and not json.is_array(value.o) and json.is_array(value.a))
end)

it("accepts scalars at the top", function()
  equal(json.decode "12", 12)
  equal(json.decode '"x"', "x")
  equal(json.decode "false", false)
  equal(json.decode "null", json.null)
  equal(encoded(json.null), "null")
  equal(encoded(false), "false")
  equal(encoded "x", '"x"')
end)

it("has a null that is true, named and inert", function()
  assert(json.null)
  equal(tostring(json.null), "null")
  equal(type(json.null), "userdata")
  raises("attempt to index", function() return json.null.field end)
end)

it("ignores a byte order mark", function()
  equal(json.decode "\xEF\xBB\xBF1", 1)
  local _, err = json.decode "\xEF\xBB\xBFx"
  equal(err.position, 4)
end)

-- Arrays and objects

it("keeps empty arrays and objects, nulls and members", function()
  equal(round "[]", "[]")
  equal(round "{}", "{}")
  equal(round '[[],{},[1,null,3,null]]', '[[],{},[1,null,3,null]]')
  equal(round '{"z":null}', '{"z":null}')
end)

it("marks tables", function()
  local list, map = {}, {}
  assert(json.array(list) == list and json.object(map) == map)
  equal(encoded { list }, "[[]]")
  equal(encoded { map }, "[{}]")
  equal(encoded(json.object(list)), "{}")
  equal(encoded(json.array()), "[]")
  equal(encoded(json.object()), "{}")
  raises("table expected, got string", json.array, "x")
  raises("a metatable of its own", json.array, setmetatable({}, {}))
end)

it("guesses for tables without a mark", function()
  equal(encoded {}, "{}")
  equal(encoded { 1, 2, 3 }, "[1,2,3]")
  equal(encoded { a = 1 }, '{"a":1}')
end)

it("writes a sequence that lies in the hash part", function()
  local list = {}
  for i = 40, 1, -1 do list[i] = i end
  local expected = {}
  for i = 1, 40 do expected[i] = i end
  equal(encoded(list), "[" .. table.concat(expected, ",") .. "]")
  local nested = {}
  for i = 5, 1, -1 do nested[i] = { list } end
  equal(encoded(nested):sub(1, 12), "[[[1,2,3,4,5")
end)

it("refuses holes, mixed keys and keys that are no strings, and says where", function()
  local function refuse(value, path) refused("invalid_value", value and json.encode(value) or nil,
    select(2, json.encode(value)), { path = path }) end
  refuse({ items = { 1, 2, nil, 4 } }, "items[3]")
  refuse({ items = { 1, 2, x = 3 } }, "items")
  refuse({ { x = 1, [1] = 2 } }, "[1]")
  refuse({ [0] = 1 }, "")
  refuse({ a = { [true] = 1 } }, "a")
  refuse({ [2] = "x" }, "[1]")
  refuse({ [math.maxinteger] = 1, [1] = 1 }, "[2]")
  refuse(json.object { 1 }, "")
  refuse(json.array { a = 1 }, "")
end)

it("names the place of what has no JSON", function()
  local _, err = json.encode { items = { { name = 1 }, { name = 2 }, { name = print } } }
  refused("invalid_value", nil, err, { path = "items[3].name" })
  equal(err.message, "JSON has no way to say a function (at items[3].name)")
  equal(select(2, json.encode { ["a b"] = { io.stdout } }).path, '["a b"][1]')
  equal(select(2, json.encode { ["a b"] = { c = io.stdout } }).path, '["a b"].c')
  equal(refused("invalid_value", json.encode(nil)).message, "JSON has no way to say nil; json.null is its null")
end)

it("does not call metamethods", function()
  local proxy = setmetatable({ 1 }, { __index = error, __pairs = error, __len = error })
  equal(encoded(proxy), "[1]")
end)

-- Numbers

it("keeps integers exact over 64 bits", function()
  for _, text in ipairs { "9007199254740993", "9223372036854775807", "-9223372036854775808", "0", "-1" } do
    local value = assert(json.decode(text))
    equal(math.type(value), "integer")
    equal(encoded(value), text)
  end
end)

it("keeps floats floats, with the fewest digits", function()
  for _, text in ipairs { "1.0", "0.1", "-0.0", "1e+22", "5e-324", "1.7976931348623157e+308", "0.30000000000000004",
    "123456789.125", "100000.0" } do
    equal(round(text), text)
  end
  equal(encoded(1 / 3), "0.3333333333333333")
  equal(encoded(2 ^ 53), "9007199254740992.0")
end)

it("refuses NaN and infinities", function()
  refused("number_out_of_range", nil, select(2, json.encode { x = 0 / 0 }), { path = "x" })
  refused("number_out_of_range", json.encode(math.huge))
  refused("number_out_of_range", json.encode(-math.huge))
  refused("number_out_of_range", json.decode "1e400")
end)

it("does with larger integers what it is told", function()
  local big = "18446744073709551616"
  refused("number_out_of_range", json.decode(big))
  equal(json.decode(big, { big_integers = "float" }), 2.0 ^ 64)
  equal(json.decode(big, { big_integers = "string" }), big)
  equal(json.decode("-" .. big, { big_integers = "string" }), "-" .. big)
  local value = assert(json.decode('{"a":[9223372036854775808,1],"s":"9223372036854775808 \\" 99999999999999999999",'
    .. '"m":-9223372036854775809,"k":-9223372036854775808,"r":1e2,"d":12345678901234567890.5}',
    { big_integers = "string" }))
  equal(value.a[1], "9223372036854775808")
  equal(value.a[2], 1)
  equal(value.s, '9223372036854775808 " 99999999999999999999')
  equal(value.m, "-9223372036854775809")
  equal(value.k, math.mininteger)
  equal(value.r, 100.0)
  equal(value.d, 12345678901234567890.5)
end)

it("makes nothing right by rewriting large integers", function()
  for _, kind in ipairs { "float", "string" } do
    for _, text in ipairs { '{99999999999999999999:1}', '{99999999999999999999 :1}', '[099999999999999999999]',
      '[-099999999999999999999]', '[99999999999999999999 1]', '[99999999999999999999"a"]', '[99999999999999999999.]',
      '[+99999999999999999999]', '[--99999999999999999999]', '["a" 99999999999999999999]', '99999999999999999999,',
      '[99999999999999999999e]', '[99999999999999999999', '"99999999999999999999' } do
      local value, err = json.decode(text, { big_integers = kind })
      assert(value == nil and err.domain == "json", text)
    end
  end
  refused("number_out_of_range", json.decode("1" .. ("0"):rep(400), { big_integers = "float" }))
end)

it("reports places in the text as it was given", function()
  local text = '[99999999999999999999,\n 99999999999999999999, 88888888888888888888, x]'
  for _, kind in ipairs { "float", "string" } do
    refused("syntax", nil, select(2, json.decode(text, { big_integers = kind })),
      { line = 2, column = 46, position = #text - 1 })
  end
end)

-- Strings

it("keeps U+0000 in values and names", function()
  equal(json.decode '"\\u0000x"', "\0x")
  equal(encoded "\0x", '"\\u0000x"')
  local value = assert(json.decode '{"a\\u0000b":"\\u0000","a":{"\\u0000":[{"\\u0000\\u0000":1}]},"\\\\u0000":2}')
  equal(value["a\0b"], "\0")
  equal(value.a["\0"][1]["\0\0"], 1)
  equal(value["\\u0000"], 2)
  equal(encoded { ["\0"] = 1 }, '{"\\u0000":1}')
end)

it("finds a stand-in for U+0000 that the text does not have", function()
  local value = assert(json.decode '{"\\u0000":"\\uFDD0\u{FDD1}\\ufdd2"}')
  equal(value["\0"], "\u{FDD0}\u{FDD1}\u{FDD2}")
  refused("duplicate_key", json.decode '{"\\u0000":1,"\\u0000":2}')
  equal(json.decode('{"\\u0000":99999999999999999999}', { big_integers = "string" })["\0"], "99999999999999999999")
  equal(json.decode('{"b":99999999999999999999,"\\u0000":1}', { big_integers = "string" })["\0"], 1)
end)

it("escapes what JSON wants escaped", function()
  equal(encoded '"\\/\b\f\n\r\t\1\127', [["\"\\/\b\f\n\r\t\u0001]] .. '\127"')
  equal(encoded "äπ€😀", '"äπ€😀"')
  equal(encoded("äπ€😀", { ascii = true }), [["\u00e4\u03c0\u20ac\ud83d\ude00"]])
  equal(json.decode [["\ud83d\ude00"]], "😀")
end)

it("refuses what is not UTF-8, and lone surrogates", function()
  refused("invalid_utf8", nil, select(2, json.decode '["a\xff"]'), { line = 1, position = 4 })
  refused("syntax", json.decode [["\ud800"]])
  refused("syntax", json.decode [["\ude00"]])
  refused("syntax", nil, select(2, json.decode '["a\0b"]'), { position = 4, column = 4 })
  for _, bytes in ipairs {
    "\xff", "\xc0\xaf", "\xe0\x80\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xf8\x88\x80\x80\x80",
    "\xc3", "\xe2\x82", "a\x80", "\xf0\x9f\x98",
  } do
    refused("invalid_utf8", nil, select(2, json.encode { x = bytes }), { path = "x" })
    refused("invalid_utf8", json.encode { [bytes] = 1 })
    refused("invalid_utf8", json.encode(bytes, { ascii = true }))
  end
end)

-- Errors

it("says where a text is wrong", function()
  local err = refused("syntax", nil, select(2, json.decode '[1,\n  tru]'), { line = 2, column = 5, position = 9 })
  equal(err.message, "line 2, column 5: invalid token near 'tru'")
  refused("premature_end", nil, select(2, json.decode "[1,"), { position = 3 })
  refused("premature_end", json.decode "")
  refused("premature_end", json.decode "\xEF\xBB\xBF")
  refused("syntax", json.decode "[1] x")
end)

it("refuses a repeated name unless told to take the last", function()
  refused("duplicate_key", nil, select(2, json.decode '{"a":1,"a":2}'), { line = 1 })
  equal(json.decode('{"a":1,"a":2}', { duplicates = "last" }).a, 2)
  refused("duplicate_key", json.decode('{"a":1,"a":2}', { duplicates = "error" }))
end)

it("raises for misuse at the caller's line", function()
  local here = "json_spec.lua:" .. debug.getinfo(1, "l").currentline + 2
  local raised = raises("unknown option 'sort_key' (did you mean 'sort_keys'?)", function()
    local _ = json.encode({}, { sort_key = true })
  end)
  assert(raised:find(here, 1, true), raised)
  raised = raises("string expected, got nil", function() local _ = json.decode(nil) end)
  assert(raised:find("json_spec.lua", 1, true), raised)
  for _, body in ipairs {
    function() local _ = json.decode("1", { big_integers = "decimal" }) end,
    function() local _ = json.decode("1", { duplicates = "first" }) end,
    function() local _ = json.encode(1, { indent = 32 }) end,
    function() local _ = json.encode(1, { indent = "  " }) end,
    function() local _ = json.lines("1", { big_integer = "float" }) end,
    function() local _ = json.lines(1) end,
    function() local _ = json.pointer({}, 1) end,
    function() local _ = json.object(1) end,
  } do
    raised = raises("", body)
    assert(raised:find("json_spec.lua:%d+: "), raised)
  end
end)

-- Layout

it("indents and sorts", function()
  local value = { b = { 1, { c = json.array {} } }, a = {}, ["a\0"] = 1, aa = 2 }
  equal(encoded(value, { sort_keys = true }), '{"a":{},"a\\u0000":1,"aa":2,"b":[1,{"c":[]}]}')
  equal(encoded({ b = { 1, {} }, a = json.null }, { sort_keys = true, indent = 2 }), [[{
  "a": null,
  "b": [
    1,
    {}
  ]
}]])
  local big = {}
  for i = 1, 1000 do big[("%04d"):format((i * 7919) % 10000)] = i end
  local last = ""
  for name in encoded(big, { sort_keys = true }):gmatch '"(%d+)"' do
    assert(last < name)
    last = name
  end
  refused("invalid_value", json.encode({ [1] = 1, a = 2 }, { sort_keys = true }))
end)

support.finish "json_spec"
