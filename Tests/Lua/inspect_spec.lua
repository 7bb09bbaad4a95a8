local inspect = require "http.inspect"

return function(t)
  local it, expect = t.it, t.expect

  it("shows what a script would write", function()
    local cases = {
      { "nil", nil }, { "true", true }, { "1", 1 }, { "1.0", 1.0 }, { "\"a b\"", "a b" }, { "{}", {} },
      { "{ 1, 2, 3 }", { 1, 2, 3 } }, { "{ a = 1, b = \"x\" }", { b = "x", a = 1 } },
      { "{ 1, a = 2, [\"b c\"] = 3, [\"end\"] = 4 }", { 1, a = 2, ["b c"] = 3, ["end"] = 4 } },
      { "{ [0] = 1, [2.5] = 2, [true] = 3 }", { [0] = 1, [2.5] = 2, [true] = 3 } },
      { "{ { 1 }, { x = {} } }", { { 1 }, { x = {} } } },
    }
    for _, case in ipairs(cases) do expect(inspect(case[2])):equals(case[1]) end
  end)

  it("escapes what a terminal should not get", function()
    expect(inspect("a\n\t\"\\\0\27[1m\127")):equals([["a\n\t\"\\\x00\x1B[1m\x7F"]])
    expect(inspect("é\xff\xc3 €")):equals([["é\xFF\xC3 €"]])
  end)

  it("bounds strings, where a character ends", function()
    expect(inspect(("é"):rep(5000))):equals("\"" .. ("é"):rep(2000) .. "\" … (10000 bytes)")
    expect(inspect({ ("x"):rep(300) }, 1000)):equals("{ \"" .. ("x"):rep(200) .. "\" … (300 bytes) }")
  end)

  it("bounds tables in width, depth and number", function()
    local long = {}
    for i = 1, 1000 do long[i] = i end
    expect(inspect(long):sub(-16)):equals("  … 900 more\n}")
    local deep = {}
    for _ = 1, 10 do deep = { deep } end
    expect(inspect(deep)):equals("{ { { { { { … } } } } } }")
    local wide = {}
    for i = 1, 100 do
      wide[i] = {}
      for j = 1, 100 do wide[i][j] = {} end
    end
    local _, lines = inspect(wide):gsub("\n", "\n")
    expect(lines < 1500):equals(true)
  end)

  it("names a table inside itself, but not one that is there twice", function()
    local loop = {}
    loop.loop = loop
    expect(inspect(loop)):equals("{ loop = <the table around it> }")
    local twice = { 1 }
    expect(inspect({ twice, twice })):equals("{ { 1 }, { 1 } }")
  end)

  it("breaks lines where a table is too wide", function()
    expect(inspect({ a = { 1, 2 }, b = ("x"):rep(20) }, 30)):equals(
      "{\n  a = { 1, 2 },\n  b = \"xxxxxxxxxxxxxxxxxxxx\"\n}")
  end)

  it("lets objects speak, and survives those that cannot", function()
    local object = setmetatable({}, { __tostring = function() return "an object" end })
    expect(inspect(object)):equals("an object")
    expect(inspect({ object })):equals("{ an object }")
    local broken = setmetatable({}, { __tostring = function() error("no") end })
    expect(inspect(broken)):equals("<table whose __tostring failed>")
    expect(inspect(setmetatable({ 1 }, { __metatable = false, __index = error }))):equals("{ 1 }")
    expect(inspect(setmetatable({ 1 }, { __pairs = error, __len = error }))):equals("{ 1 }")
  end)

  if t.is_host then
    it("knows JSON's null", function()
      local json = require "json"
      expect(inspect(json.null)):equals("json.null")
      expect(inspect(json.decode("[null, {}]"))):equals("{ json.null, {} }")
    end)
  end
end
