import TestSupport
import Testing

/// Data tasks that become a download or a stream when their response has come.
@Suite struct BecomeTests {
  /// Answers with 101, or with what the path says, and then sends back what it gets.
  static func upgrading() throws -> ScriptedServer {
    try ScriptedServer { connection in
      guard let request = try connection.readRequest() else { return }
      switch request.path {
      case "/late":
        try connection.send("HTTP/1.1 101 Switching Protocols\r\nUpgrade: echo\r\nConnection: Upgrade\r\n\r\n")
        try connection.send("early")
      case "/raw": try connection.send("HTTP/1.1 200 OK\r\nContent-Type: application/raw\r\n\r\nearly")
      case "/length":
        try connection.send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nearly")
      case "/closed":
        try connection.send("HTTP/1.1 101 Switching Protocols\r\nUpgrade: echo\r\nConnection: Upgrade\r\n\r\nearly")
        return
      default:
        try connection.send(
          "HTTP/1.1 101 Switching Protocols\r\nUpgrade: echo\r\nConnection: Upgrade\r\n\r\nearly")
      }
      while let bytes = try connection.readSome() { try connection.send(bytes) }
    }
  }

  static let script = """
    local disposition, method = select(2, ...)
    local session = http.session(http.configuration.ephemeral{ ca_file = select(4, ...) }, {
      did_receive_response = function(_, task, response) print("response", response.status) return disposition end,
      did_become_stream_task = function(_, old, new)
        print("become", old.kind, new.kind, new.state, old ~= new, new.response.status)
        assert(new:write("first "))
      end,
      read_closed = function(_, task) print("read_closed", task.kind) end,
      did_complete = function(_, task, err) print("complete", task.kind, err and err.code) end,
    })
    local data_task = session:data_task{
      url = base, method = method or "GET", headers = { Connection = "Upgrade", Upgrade = "echo" },
    }
    data_task:resume()
    local task, err = data_task:wait()
    print(data_task.state, err and err.code, task == data_task.became)

    """

  static let life = """
    print(task:read{ min = 11, max = 11 })
    local text = ("0123456789abcdef"):rep(20000)
    http.spawn(task.write, task, text)
    print(task:read{ min = #text, max = #text } == text)
    task:close_write()
    print(task:read())
    print(task:wait(), task.state)
    """

  static let lived = [
    "response\t101", "become\tdata\tstream\trunning\ttrue\t101", "completed\tnil\ttrue", "earlyfirst \tfalse", "true",
    "\ttrue", "read_closed\tstream", "complete\tstream\tnil", "true\tcompleted",
  ]

  @Test("A stream in both directions after 101", arguments: ["/", "/late"])
  func stream(_ path: String) async throws {
    let server = try Self.upgrading()
    try await expectScript(Self.script + Self.life, [server.url + path, "become_stream"], prints: Self.lived)
  }

  @Test("The same through TLS")
  func secureStream() async throws {
    let server = try StreamServer(.upgrade)
    try await expectScript(
      Self.script + Self.life, ["https://localhost:\(server.port)/", "become_stream", "GET", server.authority],
      prints: Self.lived)
  }

  @Test("Through a proxy, which is asked for a tunnel")
  func proxy() async throws {
    let server = try Self.upgrading()
    let proxy = try Proxy()
    try await expectScript(Self.script + Self.life, [server.url, "become_stream"], prints: Self.lived) {
      $0.environment = ["http_proxy": proxy.url]
    }
  }

  @Test("After other answers without an end of their own", arguments: ["POST", "CONNECT"])
  func likeIt(_ method: String) async throws {
    let server = try Self.upgrading()
    let lines = Self.lived.map { $0.replacingOccurrences(of: "101", with: "200") }
    try await expectScript(Self.script + Self.life, [server.url + "/raw", "become_stream", method], prints: lines)
  }

  @Test("A response with an end cannot become a stream")
  func withLength() async throws {
    let server = try Self.upgrading()
    let script =
      Self.script.replacingOccurrences(of: "assert(new:write(\"first \"))", with: "") + """
        print(select(2, task:wait()).code)
        """
    try await expectScript(
      script, [server.url + "/length", "become_stream"],
      prints: [
        "response\t200", "become\tdata\tstream\trunning\ttrue\t200", "completed\tnil\ttrue",
        "complete\tstream\tbad_server_response", "bad_server_response",
      ])
  }

  @Test("A 101 that is allowed stays a body, with what came with its head")
  func allowed() async throws {
    let server = try Self.upgrading()
    try await expectScript(
      Self.script + "print(task.body)", [server.url + "/closed", "allow"],
      prints: ["response\t101", "complete\tdata\tnil", "completed\tnil\tfalse", "early"])
  }

  @Test("What came before the connection was closed can be read, and then its end", arguments: [0, 0.2])
  func closed(_ seconds: Double) async throws {
    let server = try Self.upgrading()
    let script = """
      local session = http.session(http.configuration.ephemeral(), {
        did_receive_response = function()
          http.sleep(tonumber(arg[2]))
          return "become_stream"
        end,
      })
      for i = 1, 5 do
        local task = session:data_task{ url = base .. "/closed", headers = { Upgrade = "echo" } }
        task:resume()
        local stream = assert(task:wait())
        print((stream:read{ min = 5 }))
        print(stream:read())
        stream:close_write()
        print(stream:wait(), stream.state)
      end
      """
    let once = ["early", "\ttrue", "true\tcompleted"]
    try await expectScript(script, [server.url, "\(seconds)"], prints: Array(repeatElement(once, count: 5).joined()))
  }

  @Test("A long stream does not take one of its host's places, and cancelling ends it")
  func places() async throws {
    let server = try Self.upgrading()
    let script = """
      local session = http.session(http.configuration.ephemeral{ http_maximum_connections_per_host = 1 }, {
        did_receive_response = function() return "become_stream" end,
      })
      local streams = {}
      for i = 1, 5 do
        local task = session:data_task{ url = base, headers = { Upgrade = "echo" } }
        task:resume()
        streams[i] = assert(task:wait())
      end
      for i = 1, 5 do
        streams[i]:write(tostring(i))
        print(streams[i]:read{ min = 6 })
        streams[i]:cancel()
        print(select(2, streams[i]:wait()).code)
      end
      """
    try await expectScript(
      script, [server.url], prints: (1...5).flatMap { ["early\($0)\tfalse", "cancelled"] })
  }

  @Test("A data task becomes a download: all of its body is in the file")
  func download() async throws {
    let body = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }
    let server = try ScriptedServer { _ in Reply(body: body) }
    let script = """
      local session = http.session(http.configuration.ephemeral(), {
        did_create_task = function(_, task) print("create", task.kind) end,
        did_receive_response = function(_, task, response) return "become_download" end,
        did_become_download_task = function(_, old, new)
          print("become", old.kind, new.kind, old.identifier, new.identifier, new.state)
        end,
        did_receive_data = function() print("data") end,
        did_write_data = function(_, task, written, total, expected) TOTAL, EXPECTED = total, expected end,
        did_finish_downloading = function(_, task, location)
          local file = assert(io.open(location, "rb"))
          print("finished", task.kind, #file:read("a"))
          file:close()
        end,
        did_complete = function(_, task, err) print("complete", task.kind, err, TOTAL, EXPECTED) end,
      })
      local task = session:data_task(base)
      task:resume()
      local download = assert(task:wait())
      print(task.state, task.became == download)
      local response = assert(download:wait())
      print(response.status, response.location ~= nil, response.body)
      """
    try await expectScript(
      script, [server.url],
      prints: [
        "create\tdata", "create\tdownload", "become\tdata\tdownload\t1\t2\trunning", "completed\ttrue",
        "finished\tdownload\t300000", "complete\tdownload\tnil\t300000\t300000", "200\tfalse\tnil",
      ])
  }

  @Test("A handler that raises while a task becomes another ends both")
  func raising() async throws {
    let server = try Self.upgrading()
    let script = """
      local session = http.session(http.configuration.ephemeral(), {
        did_receive_response = function() return DISPOSITION end,
        did_become_stream_task = function() error("no stream") end,
        did_become_download_task = function() error("no download") end,
        did_complete = function(_, task, err) print("complete", task.kind, err.code) end,
      })
      for _, word in ipairs{ "become_stream", "become_download" } do
        DISPOSITION = word
        local task = session:data_task{ url = base, headers = { Upgrade = "echo" } }
        task:resume()
        local became, err = task:wait()
        print(became, err.code, err.value)
        task.became:wait()
      end
      """
    let result = try await runScript(script, [server.url])
    #expect(
      result.lines.count == 4 && result.lines.filter { $0.hasPrefix("nil\thandler_error\t") }.count == 2, "\(result)")
    #expect(result.lines.filter { $0.hasSuffix("cancelled") }.count == 2 && result.ending == .exited(0), "\(result)")
  }
}
