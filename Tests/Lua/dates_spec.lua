local dates = require "http.dates"
local reader = require "json_reader"

return function(t)
  local it, expect = t.it, t.expect

  local rows = { cookies = {}, curl = {} }
  for _, row in ipairs(reader.read(t.fixtures .. "dates.json")) do
    table.insert(row.suite == "curl-getdate-lib517" and rows.curl or rows.cookies, row)
  end
  local function passes(row)
    local wanted = row.epoch
    if wanted == reader.null then wanted = nil end
    return dates.parse(row.input) == wanted
  end
  t.suite("dates, cookies (Chromium) and HTTP", rows.cookies, #rows.cookies, passes)
  -- curl also takes what no rule of HTTP allows: dates without a time, days that do not exist, zones other than GMT.
  t.suite("dates, curl", rows.curl, 77, passes)

  it("reads the three forms of HTTP", function()
    expect(dates.parse("Sun, 06 Nov 1994 08:49:37 GMT")):equals(784111777)
    expect(dates.parse("Sunday, 06-Nov-94 08:49:37 GMT")):equals(784111777)
    expect(dates.parse("Sun Nov  6 08:49:37 1994")):equals(784111777)
  end)

  it("refuses what is no date", function()
    for _, text in ipairs {
      "", "0", "soon", "Sun, 31 Feb 2021 00:00:00 GMT", "Sun, 06 Nov 1994 24:00:00 GMT", "06 Nov 1994", "\0",
      "Sun, 06 Nov 1994 08:61:37 GMT", "Sun, 00 Nov 1994 08:49:37 GMT", ("1"):rep(100000),
    } do
      expect(dates.parse(text)):equals(nil)
    end
  end)

  it("knows leap years and leap seconds", function()
    expect(dates.parse("Thu, 29 Feb 2024 00:00:00 GMT")):equals(1709164800)
    expect(dates.parse("Mon, 29 Feb 2100 00:00:00 GMT")):equals(nil)
    expect(dates.parse("Sat, 31 Dec 2016 23:59:60 GMT")):equals(1483228800)
  end)

  it("writes what it reads", function()
    expect(dates.format(784111777)):equals("Sun, 06 Nov 1994 08:49:37 GMT")
    for _, seconds in ipairs { 0, 951782400, 4102444799, -1 } do
      expect(dates.parse(dates.format(seconds))):equals(seconds)
    end
    expect(dates.format(784111777.9)):equals("Sun, 06 Nov 1994 08:49:37 GMT")
  end)
end
