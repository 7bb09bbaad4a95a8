import TestSupport
import Testing

/// Jobs, timers and coroutines.
@Suite struct ConcurrencyTests {
  static func server() throws -> ScriptedServer {
    try ScriptedServer { connection in
      while let request = try connection.readRequest() {
        if request.path == "/slow" { try connection.pause(0.3) }
        if request.path == "/silent" { connection.waitForClose() }
        try connection.send(Reply(String(request.target.dropFirst())))
      }
    }
  }

  static let jobs = [
    ScriptCase(
      "a job gives its results",
      """
      local job = http.spawn(function(a, b) http.sleep(0.01) return a + b, nil, "x" end, 1, 2)
      print(job:wait())
      print(job:wait())
      """, prints: "3\tnil\tx", "3\tnil\tx"),
    ScriptCase(
      "jobs run beside each other",
      """
      local t, list = http.now(), {}
      for i = 1, 5 do list[i] = http.spawn(function() return assert(http.get(base .. "/slow")).body end) end
      for _, job in ipairs(list) do assert(job:wait() == "slow") end
      print(http.now() - t < 1.2)
      """, prints: "true"),
    ScriptCase(
      "a failing job that somebody waits for",
      """
      local job = http.spawn(function() http.sleep(0.01) error("broken") end)
      local value, err = job:wait()
      print(value, tostring(err):find("broken", 1, true) ~= nil)
      """, prints: "nil\ttrue"),
    ScriptCase(
      "a cancelled job",
      """
      local job = http.spawn(function() http.get(base .. "/silent") return "never" end)
      http.sleep(0.05)
      local running = job.state
      job:cancel()
      local value, err = job:wait()
      print(running ~= job.state, value, err.code)
      local done = http.spawn(function() return 1 end)
      print(done:wait())
      done:cancel()
      print(done:wait())
      """, prints: "true\tnil\tcancelled", "1", "1"),
    ScriptCase(
      "map keeps order and limit",
      """
      local running, peak = 0, 0
      local results = http.map({ 5, 4, 3, 2, 1, 0 }, 2, function(i)
        running = running + 1
        peak = math.max(peak, running)
        http.sleep(i / 100)
        running = running - 1
        return i * 10
      end)
      print(table.concat(results, " "), peak)
      """, prints: "50 40 30 20 10 0\t2"),
    ScriptCase(
      "map takes an iterator, and nothing at all",
      """
      local n = 0
      local results = http.map(function() n = n + 1 if n <= 3 then return n end end, 8, function(i)
        return assert(http.get(base .. "/" .. i)).body
      end)
      print(table.concat(results, " "), #http.map({}, 4, print))
      """, prints: "1 2 3\t0"),
    ScriptCase(
      "an error inside map reaches the caller",
      """
      local ok, err = pcall(http.map, { 1, 2 }, 2, function(i) if i == 2 then error("two") end return i end)
      local said = ok and select(2, http.map({ 1, 2 }, 2, function(i) if i == 2 then error("two") end return i end)) or err
      print(tostring(said):find("two", 1, true) ~= nil)
      """, prints: "true"),
    ScriptCase(
      "with_timeout ends what takes too long",
      """
      local t = http.now()
      local value, err = http.with_timeout(0.2, function()
        return http.map({ 1, 2 }, 2, function() return http.get(base .. "/silent") end)
      end)
      print(value, err.code, http.now() - t < 1)
      print(http.with_timeout(5, function(a) http.sleep(0.01) return a, 2 end, 1))
      """, prints: "nil\ttimed_out\ttrue", "1\t2"),
    ScriptCase(
      "sleep sleeps, in order, and does not hold others",
      """
      local seen = {}
      local function later(n) return http.spawn(function() http.sleep(n / 20) seen[#seen + 1] = n end) end
      local list = { later(3), later(1), later(2) }
      local t = http.now()
      for _, job in ipairs(list) do job:wait() end
      print(table.concat(seen, " "), http.now() - t >= 0.14)
      http.sleep(0)
      """, prints: "1 2 3\ttrue"),
    ScriptCase(
      "the process waits for what is outstanding",
      """
      http.spawn(function() http.sleep(0.1) print("job") end)
      http.session(http.configuration.ephemeral()):data_task(base .. "/x", function(data) print(data) end):resume()
      print("main")
      """, prints: "main", "x", "job"),
  ]

  static let coroutines = [
    ScriptCase(
      "a generator that fetches",
      """
      local function pages(n)
        return coroutine.wrap(function()
          for i = 1, n do coroutine.yield(assert(http.get(base .. "/" .. i)).body) end
        end)
      end
      for body in pages(3) do io.write(body, " ") end
      print()
      """, prints: "1 2 3 "),
    ScriptCase(
      "coroutines three deep, in several jobs at once",
      """
      local function nest(depth, n)
        if depth == 0 then return assert(http.get(base .. "/" .. n)).body end
        local co = coroutine.wrap(function()
          coroutine.yield("step")
          return nest(depth - 1, n)
        end)
        assert(co() == "step")
        return co()
      end
      print(table.concat(http.map({ 1, 2, 3, 4 }, 4, function(n) return nest(3, n) end), " "))
      local co = coroutine.create(function() http.sleep(0.01) return "a", "b" end)
      print(coroutine.resume(co))
      print(coroutine.status(co), coroutine.resume(co))
      """, prints: "1 2 3 4", "true\ta\tb", "dead\tfalse\tcannot resume dead coroutine"),
    ScriptCase(
      "pcall and xpcall across a yield",
      """
      print(pcall(function() http.sleep(0.01) error("inside", 0) end))
      print(xpcall(function() http.sleep(0.01) error("handled", 0) end, function(m) return "<" .. m .. ">" end))
      print(pcall(function() return assert(http.get(base .. "/x")).body end))
      """, prints: "false\tinside", "false\t<handled>", "true\tx"),
    ScriptCase(
      "metamethods and iterators that fetch",
      """
      local t = setmetatable({}, {
        __index = function(_, key) return assert(http.get(base .. "/" .. key)).body end,
        __call = function(_, a) http.sleep(0.01) return a end,
        __lt = function() http.sleep(0.01) return true end,
        __close = function() http.sleep(0.01) io.write("closed ") end,
      })
      print(t.name, t(7), t < t)
      do local _ <close> = t end
      for i in function(_, i) http.sleep(0.01) if i < 2 then return i + 1 end end, nil, 0 do io.write(i, " ") end
      print()
      """, prints: "name\t7\ttrue", "closed 1 2 "),
    ScriptCase(
      "where Lua cannot yield, a clean error",
      """
      local ok, err = pcall(table.sort, { 3, 1, 2 }, function(a, b) http.sleep(0.01) return a < b end)
      print(ok, tostring(err):find("yield", 1, true) ~= nil)
      print((pcall(string.gsub, "a", "a", function() return assert(http.get(base)).body end)))
      print(assert(http.get(base .. "/after")).body)
      """, prints: "false\ttrue", "false", "after"),
    ScriptCase(
      "a coroutine closed while it waits",
      """
      local co = coroutine.create(function() local _ <close> = setmetatable({}, { __close = function() print("closed") end })
        coroutine.yield(1) end)
      coroutine.resume(co)
      print(coroutine.close(co), coroutine.status(co))
      print(coroutine.isyieldable(), coroutine.running() ~= nil)
      """, prints: "closed", "true\tdead", "true\ttrue"),
  ]

  @Test(arguments: jobs + coroutines)
  func behaviour(_ scriptCase: ScriptCase) async throws {
    let server = try Self.server()
    try await check(scriptCase, server.url)
  }

  /// A script that fails, and what standard error must hold.
  static let failures: [(script: String, said: [String])] = [
    (
      "local function f() error('main broke') end\nf()",
      ["script.lua:2: main broke", "stack traceback", "script.lua:3:"]
    ),
    ("http.sleep(0)\nerror('after a yield')", ["script.lua:3: after a yield", "stack traceback"]),
    (
      "http.spawn(function() error('lonely job') end)\nhttp.sleep(0.1)",
      ["script.lua:2: lonely job", "stack traceback"]
    ),
    ("assert(http.get('nonsense url'))", ["nonsense url"]),
    ("assert(nil, 'plain')", ["plain"]),
    ("error({ code = 5 })", ["table"]),
    ("error(setmetatable({}, { __tostring = function() return 'own text' end }))", ["own text"]),
    ("local x = = 1", ["script.lua:2:", "'='"]),
    (
      """
      local s = http.session(http.configuration.ephemeral(), { did_receive_data = function() error("in handler") end })
      s:data_task(base .. "/data"):resume()
      """, ["in handler", "script.lua:2:"]
    ),
  ]

  @Test("an uncaught error: text and traceback on stderr, status 1", arguments: 0..<failures.count)
  func uncaught(index: Int) async throws {
    let server = try Self.server()
    let failure = Self.failures[index]
    let result = try await runScript("" + failure.script, [server.url])
    #expect(result.ending == .exited(1), "\(result)")
    #expect(result.stdout.isEmpty)
    for text in failure.said { #expect(result.stderr.contains(text), "\(result)") }
    #expect(!result.stderr.contains("0x") || failure.said == ["table"], "\(result)")
  }

  @Test("os.exit flushes and carries its status", arguments: ["0", "3", "true", "false"])
  func exit(argument: String) async throws {
    let script = "io.write('unflushed') http.spawn(function() http.sleep(30) end) os.exit(\(argument))"
    let result = try await runScript(script)
    #expect(result.stdout == "unflushed")
    #expect(result.ending == .exited(["0": 0, "3": 3, "true": 0, "false": 1][argument] ?? -1), "\(result)")
    #expect(result.seconds < 5)
  }
}
