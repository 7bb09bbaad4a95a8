import Foundation
import TestSupport
import Testing

/// Stream tasks through proxies.
@Suite struct StreamProxyTests {
  static let script = """
    local task = http.session{ connection_proxy = { url = (...) } }
      :stream_task(select(2, ...), math.tointeger(select(3, ...)))
    task:resume()
    local ok, err = task:write("through")
    print(ok or err.code)
    if ok then
      print(task:read())
      print(task.wait ~= nil, task.metrics)
      task:close_write()
      print(task:wait(), task.metrics.transaction_metrics[1].is_proxy_connection)
    end
    """

  static let through = ["true", "through\tfalse", "true\tnil", "true\ttrue"]

  @Test("Through tinyproxy, with and without a password")
  func connect() async throws {
    let server = try StreamTaskTests.echo()
    let open = try Proxy()
    let closed = try Proxy(password: "secret")
    let target = ["127.0.0.1", "\(server.port)"]
    try await expectScript(Self.script, [open.url] + target, prints: Self.through)
    let url = closed.url.replacingOccurrences(of: "http://", with: "http://user:secret@")
    try await expectScript(Self.script, [url] + target, prints: Self.through)
    try await expectScript(Self.script, [closed.url] + target, prints: ["cannot_connect_to_host"])
  }

  @Test("Through a SOCKS5 proxy, which is given the name")
  func socks() async throws {
    let proxy = try ScriptedServer { connection in
      let greeting = try connection.read(count: 2)
      _ = try connection.read(count: Int(greeting[1]))
      try connection.send([5, 0])
      let head = try connection.read(count: 5)
      let name = try connection.read(count: Int(head[4]))
      let port = try connection.read(count: 2)
      guard head[0...3] == [5, 1, 0, 3], name == Array("far.test".utf8), port == [0, 25] else {
        return try connection.send([5, 4, 0, 1, 0, 0, 0, 0, 0, 0])
      }
      try connection.send([5, 0, 0, 1, 127, 0, 0, 1, 0, 25])
      while let bytes = try connection.readSome() { try connection.send(bytes) }
    }
    let url = "socks5h://127.0.0.1:\(proxy.port)"
    try await expectScript(Self.script, [url, "far.test", "25"], prints: Self.through)
    try await expectScript(Self.script, [url, "far.test", "26"], prints: ["cannot_connect_to_host"])
  }

  @Test("Through a proxy that is spoken to in TLS, plain, with TLS inside, and for much")
  func secureProxy() async throws {
    let server = try StreamServer(.lines)
    let proxy = try TLSProxy()
    let script = """
      local proxy, authorities, port = (...), select(2, ...), math.tointeger(select(3, ...))
      local session = http.session{ ca_file = authorities, connection_proxy = { url = proxy } }
      local task = session:stream_task("localhost", port)
      task:resume()
      \(StreamSecurityTests.talk)
      say "one" say "STARTTLS"
      task:start_secure_connection()
      say "two"
      local text = (("0123456789abcdef"):rep(255) .. "\\n"):rep(64)
      http.spawn(task.write, task, text)
      print(task:read{ min = #text, max = #text } == text)
      say "STOPTLS"
      task:stop_secure_connection()
      print(line()) say "three"
      http.spawn(task.write, task, text)
      print(task:read{ min = #text, max = #text } == text)
      task:close_write()
      print(task:read())
      local ok, err = task:wait()
      print(ok, err, task.metrics.transaction_metrics[1].is_proxy_connection)
      """
    let authorities = try TemporaryDirectory()
    let both = try authorities.write(
      "both.pem", try Self.text(server.authority) + Self.text(proxy.authority))
    try await expectScript(
      script, [proxy.url, both, "\(server.port)"],
      prints: ["one", "OK", "two", "true", "OK", "PLAIN", "three", "true", "\ttrue", "true\tnil\ttrue"])
    // Whom it is does matter.
    try await expectScript(
      Self.script, [proxy.url, "localhost", "\(server.port)"], prints: ["server_certificate_has_unknown_root"])
    try await expectScript(
      Self.script, ["https://127.0.0.1:1", "far.test", "25"], prints: ["cannot_connect_to_host"])
  }

  private static func text(_ path: String) throws -> String {
    String(decoding: try Data(contentsOf: URL(fileURLWithPath: path)), as: UTF8.self)
  }

  @Test("A data task becomes a stream through a proxy that is spoken to in TLS")
  func becoming() async throws {
    let server = try ScriptedServer { connection in
      guard try connection.readRequest() != nil else { return }
      try connection.send(
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: echo\r\nConnection: Upgrade\r\n\r\nearly")
      while let bytes = try connection.readSome() { try connection.send(bytes) }
    }
    let proxy = try TLSProxy()
    let script = """
      local delegate = { did_receive_response = function() return "become_stream" end }
      local session = http.session({ ca_file = select(2, ...), connection_proxy = { url = (...) } }, delegate)
      local task = session:data_task{ url = select(3, ...), headers = { Upgrade = "echo", Connection = "Upgrade" } }
      task:resume()
      local stream = assert(task:wait())
      assert(stream:write("hello"))
      print(stream:read{ min = 10, max = 10 })
      stream:close_write()
      print(stream:wait())
      """
    try await expectScript(
      script, [proxy.url, proxy.authority, server.url], prints: ["earlyhello\tfalse", "true"])
  }
}
