import TestSupport
import Testing

/// Memory, descriptors and temporary files after many tasks, and before a slow consumer.
@Suite struct SteadinessTests {
  /// Lua that reads the process's own figures: resident kilobytes and open descriptors.
  static let gauge = """
    local function gauge()
      collectgarbage() collectgarbage()
      local resident
      for line in io.lines("/proc/self/status") do
        resident = resident or tonumber(line:match("^VmRSS:%s*(%d+)"))
      end
      local list <close> = assert(io.popen("ls /proc/" .. PID .. "/fd | wc -l"))
      return resident, tonumber(list:read("a"))
    end
    local stat <close> = assert(io.open("/proc/self/stat"))
    PID = stat:read("n")

    """

  static let kinds = [
    ScriptCase("verbs", "return assert(http.get(base .. '/-/ok')).status", prints: ""),
    ScriptCase(
      "tasks with a delegate",
      "local task = session:data_task(base .. '/-/ok') task:resume() return assert(task:wait()).status", prints: ""),
    ScriptCase(
      "cancelled tasks",
      """
      local task = session:data_task(base .. '/-/ok')
      task:resume()
      task:cancel()
      return select(2, task:wait()).code
      """, prints: ""),
    ScriptCase(
      "loads of protocol classes and of data: URLs, half of them cancelled",
      """
      local task = mock:data_task(http.now() * 1e6 % 2 < 1 and 'mock://x' or 'data:,x')
      task:resume()
      if http.now() * 1e7 % 2 < 1 then task:cancel() end
      return (task:wait())
      """, prints: ""),
    ScriptCase(
      "failing handlers and abandoned coroutines",
      """
      local co = coroutine.create(function() coroutine.yield(http.now()) end)
      coroutine.resume(co)
      pcall(error, {})
      return select(2, bad:get(base .. '/-/ok', { sink = function() error("no") end })).code
      """, prints: ""),
  ]

  @Test("10,000 of them leave memory and descriptors as they were", arguments: kinds)
  func flat(_ kind: ScriptCase) async throws {
    let nginx = try Nginx.documentation.get()
    let script =
      Self.gauge + """
        local session = http.session(http.configuration.ephemeral(), { did_receive_data = function() end })
        local bad = http.session(http.configuration.ephemeral())
        local mock = http.session{ protocol_classes = { {
          can_init = function(request) return request.url:find("^mock:") ~= nil end,
          start_loading = function(_, client)
            client:receive_response{}
            http.sleep(0)
            client:receive_data("x")
            client:finish()
          end,
          stop_loading = function() end,
        } } }
        local function one() \(kind.script) end
        local function range(n) local i = 0 return function() if i < n then i = i + 1 return i end end end
        local function batch(n) http.map(range(n), 64, function() one() return true end) end
        batch(4000)
        local resident, descriptors = gauge()
        batch(10000)
        local resident2, descriptors2 = gauge()
        io.stderr:write(("%d -> %d kB, %d -> %d descriptors\\n"):format(resident, resident2, descriptors, descriptors2))
        print(resident2 - resident < 3000, descriptors2 <= descriptors + 24)
        for entry in io.popen("ls -A $TMPDIR | grep -v -e script.lua -e '^state$' -e '^cache$'"):lines() do print(entry) end
        """
    try await expectScript(script, [nginx.url], prints: ["true\ttrue"]) {
      $0.deadline = 120
      $0.weight = 2
    }
  }

  @Test("10,000 in flight 512 at a time, and 10,000 in a row")
  func manyAtOnce() async throws {
    let nginx = try Nginx.documentation.get()
    let script =
      Self.gauge + """
        local c = http.configuration.ephemeral { http_maximum_connections_per_host = 512 }
        local session = http.session(c)
        local function range(n) local i = 0 return function() if i < n then i = i + 1 return i end end end
        local good = 0
        local function one() if assert(session:get(base .. "/-/ok")).body == "ok" then good = good + 1 end end
        local function batch(n) http.map(range(n), 512, function() one() return true end) end
        batch(10000)
        local resident, descriptors = gauge()
        batch(10000)
        for _ = 1, 10000 do one() end
        local resident2, descriptors2 = gauge()
        io.stderr:write(("%d -> %d kB, %d -> %d descriptors\\n"):format(resident, resident2, descriptors, descriptors2))
        print(good, resident2 - resident < 6000, descriptors2 <= descriptors + 24)
        """
    try await expectScript(script, [nginx.url], prints: ["30000\ttrue\ttrue"]) {
      $0.deadline = 180
      $0.weight = 2
    }
  }

  @Test("a slow consumer holds the server back, not the memory", arguments: ["delegate", "sink"])
  func backPressure(consumer: String) async throws {
    let size = 64_000_000
    let server = try ScriptedServer { connection in
      guard try connection.readRequest() != nil else { return }
      try connection.send("HTTP/1.1 200 OK\r\nContent-Length: \(size)\r\n\r\n")
      let slice = [UInt8](repeating: 0x7a, count: 1_000_000)
      for _ in 0..<size / slice.count { try connection.send(slice) }
    }
    let script =
      Self.gauge + """
        -- libcurl is loaded with the first request.
        http.get("http://127.0.0.1:\(Listener.deafPort)/")
        local before, total, worst = gauge(), 0, 0
        local slept = false
        local function take(data)
          total = total + #data
          if not slept then slept = true http.sleep(0.7) worst = (gauge()) - before end
        end
        if "\(consumer)" == "sink" then
          assert(http.get(base, { sink = take }))
        else
          local session = http.session(http.configuration.ephemeral(), {
            did_receive_data = function(_, _, data) take(data) end,
          })
          local task = session:data_task(base)
          task:resume()
          assert(task:wait())
        end
        io.stderr:write(worst, " kB\\n")
        print(total, worst < 8000, (gauge()) - before < 16000)
        """
    try await expectScript(script, [server.url], prints: ["\(size)\ttrue\ttrue"])
  }
}
