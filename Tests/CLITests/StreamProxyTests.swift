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

  @Test("A proxy that is spoken to in TLS is refused in words")
  func secureProxy() async throws {
    try await expectScript(
      Self.script, ["https://127.0.0.1:1", "far.test", "25"], prints: ["cannot_connect_to_host"])
  }
}
