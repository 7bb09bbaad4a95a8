import TestSupport
import Testing

/// WebSocket tasks against Python's `websockets`.
@Suite struct WebSocketTests {
  /// `task`: a WebSocket task to the server, begun. On one line.
  static let opening =
    "local session = http.session(http.configuration.ephemeral{ ca_file = select(2, ...) }) "
    + "local task = session:web_socket_task(base) task:resume()\n"

  static func run(
    _ script: String, _ server: WebSocketServer, isSecure: Bool = false, prints lines: [String],
    configure: (inout Executable) -> Void = { _ in }
  ) async throws {
    let url = isSecure ? "wss://localhost:\(server.securePort)/" : "ws://127.0.0.1:\(server.port)/"
    try await expectScript(
      opening + script + "\ntask:cancel()", [url, server.authority], prints: lines, configure: configure)
  }

  static let cases = [
    ScriptCase(
      "text and bytes come back, small and large",
      """
      for _, message in ipairs{ "hello", "", "ä€😀", ("0123456789"):rep(100000) } do
        assert(task:send(message))
        local got = assert(task:receive())
        print(got.type, got.data == message)
      end
      assert(task:send{ data = "\\0\\xff\\0" })
      local got = task:receive()
      print(got.type, got.data == "\\0\\xff\\0")
      assert(task:send{ text = "x" })
      print(task:receive().type)
      """, prints: "text\ttrue", "text\ttrue", "text\ttrue", "text\ttrue", "binary\ttrue", "text"),
    ScriptCase(
      "fragments are one message, and pings are answered",
      """
      task:send("fragments") print(task:receive().data)
      task:send("ping") print(task:receive().data)
      print(task:ping())
      """, prints: "one two three", "ponged", "true"),
    ScriptCase(
      "many messages in both directions at once keep their order",
      """
      http.spawn(function() for i = 1, 2000 do assert(task:send("m" .. i)) end end)
      for i = 1, 2000 do assert(task:receive().data == "m" .. i) end
      local jobs = {}
      for i = 1, 100 do jobs[i] = http.spawn(task.send, task, "j" .. i) end
      for i = 1, 100 do assert(task:receive().data == "j" .. i) end
      print("done")
      """, prints: "done"),
    ScriptCase(
      "closed by us",
      """
      task:send("last") print(task:receive().data)
      task:cancel(1000, "done")
      print(task.state, task:wait().status)
      print(task.state, task.close_code, task.close_reason)
      print(task:receive()) print(task:send("x"))
      """,
      prints: "last", "canceling\t101", "completed\t1000\tdone",
      "nil\tnetwork_connection_lost: the WebSocket is closed", "nil\tnetwork_connection_lost: the WebSocket is closed"),
    ScriptCase(
      "closed by the server",
      """
      local job = http.spawn(task.receive, task)
      task:send("close")
      print(select(2, job:wait()).code)
      print(task:wait().status, task.close_code, task.close_reason)
      """, prints: "network_connection_lost", "101\t4001\tas asked"),
    ScriptCase(
      "lost without a close frame",
      """
      task:send("drop")
      print(select(2, task:receive()).code, select(2, task:wait()).code, task.close_code)
      """, prints: "network_connection_lost\tnetwork_connection_lost\t0"),
    ScriptCase(
      "cancelled without a code",
      "task:send('x') task:receive() task:cancel() print(select(2, task:wait()).code, select(2, task:receive()).code)",
      prints: "cancelled\tcancelled"),
    ScriptCase(
      "a receive that is given up loses nothing",
      """
      print(http.with_timeout(0.1, function() return task:receive() end))
      task:send("kept")
      print(task:receive().data)
      """, prints: "nil\ttimed_out: not done after 0.1 s", "kept"),
    ScriptCase(
      "a message that is too long",
      """
      task:cancel()
      task = session:web_socket_task(base)
      task.maximum_message_size = 1000
      task:resume()
      task:send(("x"):rep(1000)) print(#task:receive().data)
      task:send(("x"):rep(1001)) print(select(2, task:receive()).code)
      print(select(2, task:wait()).code)
      """, prints: "1000", "data_length_exceeds_maximum", "data_length_exceeds_maximum"),
    ScriptCase(
      "misuse",
      """
      local function misuse(fn, ...) print((select(2, pcall(fn, ...)):gsub("^.-: ", ""))) end
      misuse(task.send, task, "\\xff") misuse(task.send, task, 5) misuse(task.send, task, {})
      misuse(task.cancel, task, 1005) misuse(task.cancel, task, 1000, ("x"):rep(124))
      misuse(session.web_socket_task, session, base, "a b")
      """,
      prints: "a text message must be UTF-8; other bytes are sent as { data = ... }",
      "argument #1 of send (the message) must be table, not number", "a message needs 'data' or 'text'",
      "1005 is no close code that may be sent", "the reason must be UTF-8 of at most 123 bytes",
      "a WebSocket protocol must be a token, not a b"),
  ]

  @Test("Against websockets", arguments: cases)
  func plain(_ one: ScriptCase) async throws {
    let server = try WebSocketFrameTests.server.get()
    try await Self.run(one.script, server, prints: one.prints)
    if one.name != "misuse" { try await Self.run(one.script, server, isSecure: true, prints: one.prints) }
  }

  @Test("Delegates hear of the opening, the close frame and the completion, and a protocol is chosen")
  func delegate() async throws {
    let server = try WebSocketFrameTests.server.get()
    let script = """
      local session = http.session(http.configuration.ephemeral(), {
        did_create_task = function(_, task) print("create", task.kind) end,
        did_open = function(_, task, protocol) print("open", protocol, task.response.status) end,
        did_close = function(_, task, code, reason) print("close", code, reason) end,
        did_complete = function(_, task, err) print("complete", err) end,
      })
      local task = session:web_socket_task(base, { "unheard-of", "chat" })
      task:send("x")
      """
    let rest = """
      task:resume()
      print(task:receive().data)
      task:cancel(3000)
      task:wait()
      print(task.protocol)
      """
    try await expectScript(
      script.replacingOccurrences(of: "task:send(\"x\")", with: "http.spawn(task.send, task, 'x')") + "\n" + rest,
      ["ws://127.0.0.1:\(server.port)/"],
      prints: ["create\tweb_socket", "open\tchat\t101", "x", "close\t3000\t", "complete\tnil", "chat"])
  }

  @Test("1,000 of them leave memory and descriptors as they were")
  func flat() async throws {
    let server = try WebSocketFrameTests.server.get()
    let script =
      SteadinessTests.gauge + """
        local function one(i)
          local task = session:web_socket_task(base)
          task:resume()
          assert(task:send("x"))
          assert(task:receive().data == "x")
          if i % 2 == 0 then task:cancel() else task:cancel(1000) assert(task:wait()) end
          return true
        end
        local function range(n) local i = 0 return function() if i < n then i = i + 1 return i end end end
        http.map(range(300), 8, one)
        local memory, descriptors = gauge()
        http.map(range(1000), 8, one)
        local memory2, descriptors2 = gauge()
        print(memory2 - memory < 3000, descriptors2 <= descriptors + 8)
        """
    try await Self.run(script, server, prints: ["true\ttrue"]) { $0.deadline = 120 }
  }

  @Test("Through a proxy, which is asked for a tunnel")
  func proxy() async throws {
    let server = try WebSocketFrameTests.server.get()
    let proxy = try Proxy()
    try await Self.run("task:send('far') print(task:receive().data)", server, prints: ["far"]) {
      $0.environment = ["http_proxy": proxy.url]
    }
  }
}
