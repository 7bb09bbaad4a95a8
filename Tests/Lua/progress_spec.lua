local progress = require "http.progress"
local text = require "http.progress_text"

return function(t)
  local it, expect = t.it, t.expect

  -- A display with a clock of its own, and what it wrote.
  local function display(given)
    local written, clock = {}, { now = 100 }
    given.output = function(piece) written[#written + 1] = piece end
    given.clock = function() return clock.now end
    local made = progress.display(given)
    return made, clock, function()
      local all = table.concat(written)
      written = {}
      return all
    end
  end

  it("writes sizes in three figures and times as clocks do", function()
    local sizes = {
      { 0, "0 B" }, { 999, "999 B" }, { 1000, "1.00 kB" }, { 9994, "9.99 kB" }, { 9995, "10.0 kB" },
      { 99949, "99.9 kB" }, { 99950, "100 kB" },
      { 999499, "999 kB" }, { 999500, "1.00 MB" }, { 27e6, "27.0 MB" }, { 5e15, "5.00 PB" },
      { 5e18, "5000 PB" }, { 12.5, "12 B" }, { 0.25, "0 B" }, { 999.4, "999 B" }, { 999.5, "1.00 kB" },
    }
    for _, case in ipairs(sizes) do expect(text.size(case[1])):equals(case[2]) end
    local times = { { 0, "0:00" }, { 7.4, "0:07" }, { 59.6, "1:00" }, { 3599, "59:59" }, { 3600, "1:00:00" } }
    for _, case in ipairs(times) do expect(text.duration(case[1])):equals(case[2]) end
  end)

  it("draws a bar that fits the terminal, again and again in its place", function()
    local shown, clock, written = display { terminal = true, columns = 66 }
    local bar = shown:bar { label = "file.bin", total = 1000 }
    expect(written()):equals("file.bin  [                        ]    0 %  0 B of 1.00 kB  0:00\n")
    clock.now = 101
    bar:update(500, 1000)
    expect(written()):equals("\27[1F\27[Jfile.bin  [===>     ]   50 %  500 B of 1.00 kB  500 B/s  ETA 0:01\n")
    clock.now = 102
    bar:update(1000, 1000)
    bar:finish()
    written()
    expect(tostring(bar)):equals("http.progress.bar: file.bin: 1.00 kB in 0:02, 500 B/s")
  end)

  it("shows a transfer that is slow or stands still", function()
    for _, is_terminal in ipairs { true, false } do
      local shown, clock, written = display { terminal = is_terminal, columns = 66, interval = 0, log_interval = 0 }
      local bar = shown:bar { label = "slow", total = 1000 }
      clock.now = 102
      bar:update(25, 1000)
      expect(written()):contains("12 B/s")
      for _ = 1, 40 do
        clock.now = clock.now + 30
        bar:update(25, 1000)
      end
      expect(written()):contains("0 B/s")
      bar:finish()
      expect(written()):contains("25 B")
    end
  end)

  it("leaves out what does not fit", function()
    for width = 1, 120 do
      local shown, clock, written = display { terminal = true, columns = width }
      local bar = shown:bar { label = "a-rather-long-näme.tar.gz", total = 1000000000 }
      clock.now = clock.now + 3
      bar:update(123456789)
      for line in written():gsub("\27%[%d*%a", ""):gmatch("[^\n]*") do
        expect((utf8.len(line) or 0) <= math.max(width - 1, 0)):equals(true)
      end
    end
  end)

  it("keeps one line for each transfer, and those that are done above", function()
    local shown, clock, written = display { terminal = true, columns = 80, interval = 0 }
    local one, two = shown:bar { label = "one" }, shown:bar { label = "two" }
    written()
    clock.now = 102
    one:update(10, -1)
    expect(written()):equals("\27[2F\27[Jone  10 B  5 B/s  0:02\ntwo  0 B  0:02\n")
    one:finish()
    expect(written()):equals("\27[2F\27[Jone  10 B  0:02  5 B/s\ntwo  0 B  0:02\n")
    two:fail { message = "the connection was lost" }
    expect(written()):equals("\27[1F\27[Jtwo: failed: the connection was lost\n")
    one:update(20)
    one:finish()
    expect(written()):equals("")
  end)

  it("counts the bars there is no room for", function()
    local shown, _, written = display { terminal = true, columns = 80, interval = 0 }
    for index = 1, 15 do shown:bar { label = tostring(index) } end
    local last = written():match(".*\27%[%d+F\27%[J(.*)$")
    local _, lines = last:gsub("\n", "")
    expect(lines):equals(13)
    expect(last:match("and 3 more\n$")):equals("and 3 more\n")
  end)

  it("writes plain lines at intervals where nobody watches", function()
    local shown, clock, written = display { terminal = false, log_interval = 10 }
    local bar = shown:bar { label = "file.bin", total = 1000000 }
    for second = 1, 25 do
      clock.now = 100 + second
      bar:update(second * 10000, 1000000)
    end
    bar:finish()
    expect(written()):equals("file.bin: 10 %, 100 kB of 1.00 MB, 10.0 kB/s, 1:30 left\n"
      .. "file.bin: 20 %, 200 kB of 1.00 MB, 10.0 kB/s, 1:20 left\n" .. "file.bin: 250 kB in 0:25, 10.0 kB/s\n")
  end)

  it("is silent when quiet", function()
    for _, terminal in ipairs { true, false } do
      local shown, _, written = display { terminal = terminal, columns = 80, quiet = true }
      local bar = shown:bar { label = "x", total = 10 }
      bar:update(5)
      bar:finish()
      shown:print("line")
      shown:close()
      expect(written()):equals("")
    end
  end)

  it("begins its rate anew when a transfer is repeated", function()
    local shown, clock = display { terminal = false, log_interval = 1000 }
    local bar = shown:bar { total = 100 }
    clock.now = 101
    bar:update(90)
    clock.now = 102
    bar:update(1)
    expect(bar.rate):equals(nil)
    clock.now = 103
    bar(11, 100)
    expect(bar.rate):equals(10)
  end)

  it("prints lines above the bars and takes bars away", function()
    local shown, _, written = display { terminal = true, columns = 40, interval = 0 }
    shown:bar { label = "x" }
    written()
    shown:print("hello")
    expect(written()):equals("\27[1F\27[Jhello\nx  0 B  0:00\n")
    shown:close()
    expect(written()):equals("\27[1F\27[J")
  end)

  it("does not let a label move the cursor", function()
    local shown, _, written = display { terminal = true, columns = 40 }
    shown:bar { label = "a\27[2J\nb" }
    expect(written()):equals("a?[2J?b  0 B  0:00\n")
  end)
end
