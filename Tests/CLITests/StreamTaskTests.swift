import TestSupport
import Testing

/// Stream tasks against servers of raw bytes.
@Suite struct StreamTaskTests {
  /// Sends back what comes, and closes when the client has closed.
  static func echo(_ place: Listener.Place = .ipv4) throws -> ScriptedServer {
    try ScriptedServer(place) { connection in
      while let bytes = try connection.readSome() { try connection.send(bytes) }
    }
  }

  /// `task`: a stream task to host and port, begun. On one line, so that a script's own lines count from 3.
  static let opening =
    "local host, port = (...), math.tointeger(select(2, ...)) local session = http.session(http.configuration.ephemeral"
    + "{ ca_file = select(3, ...) }) local task = session:stream_task(host, port) task:resume()\n"

  static func run(
    _ script: String, port: Int, host: String = "127.0.0.1", authority: String? = nil, more: [String] = [],
    prints lines: [String], status: Int32 = 0, configure: (inout Executable) -> Void = { _ in }
  ) async throws {
    let arguments = [host, "\(port)"] + (authority.map { [$0] } ?? []) + more
    try await expectScript(
      opening + script + "\ntask:cancel()", arguments, prints: lines, status: status, configure: configure)
  }

  static let echoCases = [
    ScriptCase(
      "bytes go both ways, and a half close ends it",
      """
      print(task.kind, task.state, task.original_request)
      assert(task:write("hello, "))
      assert(task:write("world\\0"))
      print(task:read{ min = 13, max = 13 })
      print(task.count_of_bytes_sent, task.count_of_bytes_received)
      task:close_write()
      print(task:read())
      print(task:wait())
      print(task.state, task:read())
      print(task:write("x"))
      """,
      prints: "stream\trunning\tnil", "hello, world\0\tfalse", "13\t13", "\ttrue", "true", "completed\t\ttrue",
      "nil\tnetwork_connection_lost: the stream is closed for writing"),
    ScriptCase(
      "reads take no more than their maximum, and wait for their minimum",
      """
      task:write("abcdefgh")
      print(task:read{ min = 3, max = 3 })
      print(task:read{ min = 0, max = 2 } ~= nil)
      local got = ""
      repeat got = got .. task:read{ max = 1 } until #got == 3
      local function misuse(options) print((select(2, pcall(task.read, task, options)):gsub("^.*script.lua", ""))) end
      misuse{ min = 5, max = 2 }
      misuse{ maxx = 2 }
      task:cancel()
      print(task:read())
      """,
      prints: "abc\tfalse", "true",
      ":8: option 'max' must be at least 1 and not less than 'min'",
      ":8: unknown option 'maxx' (did you mean 'max'?)", "nil\tcancelled: cancelled (HOST)"),
    ScriptCase(
      "a read that waits too long gives up, and nothing is lost",
      """
      task:write("ab")
      print(task:read{ min = 3, timeout = 0.1 })
      print(task:read{ min = 2, max = 2 })
      """,
      prints: "nil\ttimed_out: the read's time has passed (HOST)", "ab\tfalse"),
    ScriptCase(
      "a read that is given up by its job loses nothing",
      """
      print(http.with_timeout(0.1, function() return task:read{ min = 3 } end))
      task:write("abc")
      print(task:read{ min = 3 })
      """, prints: "nil\ttimed_out: not done after 0.1 s", "abc\tfalse"),
    ScriptCase(
      "what is asked for before resume is done after it, in order",
      """
      task:cancel()
      task = session:stream_task(host, port)
      local job = http.spawn(function() return task:read{ min = 6 } end)
      local writes = { http.spawn(task.write, task, "abc"), http.spawn(task.write, task, "def") }
      http.sleep(0.01)
      task:resume()
      print(job:wait())
      task:close_write() task:close_read()
      print(task:wait())
      """, prints: "abcdef\tfalse", "true"),
    ScriptCase(
      "suspend holds everything back",
      """
      task:write("a") task:read()
      task:suspend()
      local job = http.spawn(task.read, task)
      http.spawn(task.write, task, "b")
      http.sleep(0.1)
      print(job.state)
      task:resume()
      print(job:wait())
      """, prints: "running", "b\tfalse"),
    ScriptCase(
      "captured streams go on without the task",
      """
      local captured = http.session(http.configuration.ephemeral(), {
        did_become_streams = function(session, task, input, output)
          print("streams", task.state)
          http.spawn(function()
            assert(output:write("one\\r\\ntwo\\nthree"))
            output:close()
            for line in input:lines() do print(line) end
            print(output:write("x"))
          end)
        end,
        did_complete = function() print("complete") end,
      }):stream_task(host, port)
      captured:resume()
      captured:capture_streams()
      local input, output = captured:wait()
      print(getmetatable(input).__name, getmetatable(output).__name)
      """,
      prints: "streams\tcompleted", "http.stream_input\thttp.stream_output", "one", "two", "three",
      "nil\tnetwork_connection_lost: the stream is closed for writing"),
    ScriptCase(
      "captured streams that nobody uses do not keep the process",
      "task:capture_streams() print(select('#', task:wait()))", prints: "2"),
    ScriptCase(
      "a copy goes to the same place",
      "local copy = task:copy() print(copy.state) copy:resume() copy:write('x') print(copy:read()) copy:cancel()",
      prints: "suspended", "x\tfalse"),
  ]

  @Test("Against an echo server", arguments: echoCases)
  func echoing(_ one: ScriptCase) async throws {
    let server = try Self.echo()
    let prints = one.prints.map { $0.replacingOccurrences(of: "HOST", with: "127.0.0.1:\(server.port)") }
    try await Self.run(one.script, port: server.port, prints: prints)
  }

  @Test("10,000 round trips and 100 MiB both ways, in bounded memory")
  func volume() async throws {
    let server = try Self.echo()
    let script =
      SteadinessTests.gauge + """
        for _ = 1, 10000 do
          assert(task:write("ping"))
          assert(task:read{ min = 4 } == "ping")
        end
        local before = gauge()
        local megabyte, sent, received = ("0123456789abcdef"):rep(65536), 0, 0
        http.spawn(function()
          for _ = 1, 100 do assert(task:write(megabyte)) sent = sent + #megabyte end
          task:close_write()
        end)
        -- A slow reader: the writer must wait for it, once the system's own buffers are full.
        http.sleep(0.3)
        print(sent < 100 * #megabyte)
        local at_end
        repeat
          local data
          data, at_end = task:read{ max = 1 << 20 }
          received = received + #data
        until at_end
        print(sent, received)
        print(gauge() - before < 16000)
        """
    try await Self.run(
      script, port: server.port, prints: ["true", "104857600\t104857600", "true"], configure: { $0.deadline = 120 })
  }

  @Test("2,000 tasks leave memory and descriptors as they were")
  func flat() async throws {
    let server = try Self.echo()
    let script =
      SteadinessTests.gauge + """
        local function one(i)
          local task = session:stream_task(host, port)
          task:resume()
          assert(task:write("x"))
          assert(task:read() == "x")
          if i % 2 == 0 then task:cancel() else task:close_write() assert(task:wait()) end
          return true
        end
        local function range(n) local i = 0 return function() if i < n then i = i + 1 return i end end end
        http.map(range(500), 16, one)
        local memory, descriptors = gauge()
        http.map(range(2000), 16, one)
        local memory2, descriptors2 = gauge()
        print(memory2 - memory < 3000, descriptors2 <= descriptors + 24)
        """
    try await Self.run(script, port: server.port, prints: ["true\ttrue"], configure: { $0.deadline = 120 })
  }

  @Test("IPv6 and a Unix socket")
  func otherPlaces() async throws {
    let server = try Self.echo(.ipv6)
    let directory = try TemporaryDirectory()
    let local = try Self.echo(.unix(directory.path + "/socket"))
    try await Self.run("task:write('six') print(task:read())", port: server.port, host: "::1", prints: ["six\tfalse"])
    let script = """
      local task = http.session{ unix_socket = base }:stream_task("anything", 1)
      task:resume()
      task:write("local")
      print(task:read())
      task:cancel()
      """
    try await expectScript(script, [directory.path + "/socket"], prints: ["local\tfalse"])
    #expect(local.connectionCount == 1)
  }

  @Test("Names are resolved as the configuration says")
  func resolve() async throws {
    let server = try Self.echo()
    let script = """
      local task = http.session{ resolve = { ["there.test:" .. base] = "127.0.0.1" } }
        :stream_task("there.test", math.tointeger(base))
      task:resume()
      task:write("found")
      print(task:read())
      task:cancel()
      """
    try await expectScript(script, ["\(server.port)"], prints: ["found\tfalse"])
  }

  static let failures = [
    ScriptCase("nobody listens", "task('127.0.0.1', DEAF)", prints: "cannot_connect_to_host"),
    ScriptCase("no such host", "task('nowhere.invalid', 1)", prints: "cannot_find_host"),
    ScriptCase("no host at all", "task('a b/c', 1)", prints: "bad_url"),
    ScriptCase("a user in the host", "task('u@127.0.0.1', 1)", prints: "bad_url"),
    ScriptCase(
      "an unknown service", "task{ service = { name = 'x', type = '_x._tcp', domain = 'invalid.' } }",
      prints: "cannot_find_host"),
    ScriptCase("cancelled before resume", "cancelled('127.0.0.1', 1)", prints: "cancelled"),
  ]

  @Test("Connections that cannot be made", arguments: failures)
  func failing(_ one: ScriptCase) async throws {
    let script = """
      local session = http.session(http.configuration.ephemeral(), {
        did_complete = function(_, task, err) print(task.state, err.code) end,
      })
      local function ended(task, begin)
        local job = http.spawn(task.read, task)
        begin(task)
        print(select(2, job:wait()).code, select(2, task:wait()).code, select(2, task:write("x")).code)
      end
      local function task(...) ended(session:stream_task(...), function(t) t:resume() end) end
      local function cancelled(...) ended(session:stream_task(...), function(t) t:cancel() end) end
      \(one.script.replacingOccurrences(of: "DEAF", with: "\(Listener.deafPort)"))
      """
    let code = one.prints[0]
    try await expectScript(script, prints: ["completed\t\(code)", "\(code)\t\(code)\t\(code)"])
  }

  @Test("curl's own tests of a bare connection (1326, 1548): a request by hand, and a server that is silent")
  func curlSuite() async throws {
    let tests = try Fixture.json("curl_http_tests.json")["tests"].array
    for number in [1326, 1548] {
      let test = try #require(tests.first { $0["num"].integer == number })
      let input = try #require(test["stdin"].string).replacingOccurrences(of: "%TESTNUMBER", with: "\(number)")
      let reply = test["reply"]["data"]["content"].string ?? ""
      let server = try ScriptedServer { connection in
        let request = try connection.readSome() ?? []
        #expect(request == Array(input.utf8))
        if reply.isEmpty { return connection.waitForClose() }
        try connection.send(reply)
      }
      let script = """
        task:write(io.read("a"))
        local reply, err = task:read{ min = 1000, timeout = 1 }
        io.write(reply or err.code)
        """
      let lines =
        reply.isEmpty ? ["timed_out"] : reply.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
      try await Self.run(script, port: server.port, prints: lines.last == "" ? lines.dropLast() : lines) {
        $0.input = Array(input.utf8)
      }
    }
  }

  @Test("A connection that is reset")
  func reset() async throws {
    let server = try ScriptedServer { connection in
      _ = try connection.readSome()
      connection.reset()
    }
    try await Self.run(
      "task:write('x') print((select(2, task:read())).code) print((select(2, task:wait())).underlying.source)",
      port: server.port, prints: ["network_connection_lost", "errno"])
  }

  @Test("Delegates hear of both directions' ends, and of the completion last")
  func delegate() async throws {
    let server = try ScriptedServer { connection in
      try connection.send("bye")
      connection.finishSending()
      _ = try connection.readToEnd()
    }
    let script = """
      local function note(name) return function(_, task) print(name, task.state) end end
      local session = http.session(http.configuration.ephemeral(), {
        did_create_task = note "create", read_closed = note "read_closed", write_closed = note "write_closed",
        did_finish_collecting_metrics = note "metrics", did_complete = note "complete",
      })
      local task = session:stream_task("127.0.0.1", math.tointeger(base))
      task:resume()
      print(task:read{ min = 10 })
      http.sleep(0)
      task:close_write()
      print(task:wait())
      local t = task.metrics.transaction_metrics[1]
      print(t.remote_address, t.remote_port == math.tointeger(base), t.connect_end >= t.connect_start)
      """
    try await expectScript(
      script, ["\(server.port)"],
      prints: [
        "create\tsuspended", "bye\ttrue", "read_closed\trunning", "write_closed\tcompleted", "metrics\tcompleted",
        "complete\tcompleted", "true", "127.0.0.1\ttrue\ttrue",
      ])
  }

  @Test("Cancelled at any point, a task ends as cancelled and keeps nothing waiting", arguments: 0..<8)
  func cancelling(_ steps: Int) async throws {
    let server = try Self.echo()
    let script = """
      local operations = {
        function() task:write("abc") end, function() task:read{ max = 1 } end, function() task:suspend() end,
        function() http.spawn(task.read, task, { min = 9 }) end, function() task:start_secure_connection() end,
        function() task:close_read() end, function() task:close_write() end,
      }
      for i = 1, \(steps) do operations[i]() end
      task:cancel()
      print(task.state, select(2, task:wait()).code, task.state)
      """
    try await Self.run(script, port: server.port, prints: ["canceling\tcancelled\tcompleted"])
  }
}
