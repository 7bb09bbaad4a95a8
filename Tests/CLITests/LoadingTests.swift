import TestSupport
import Testing

/// Libraries are loaded when something of theirs is first used.
@Suite struct LoadingTests {
  /// Prints which of the libraries that may come late are loaded.
  static let listing = """
    local loaded = {}
    for line in io.lines("/proc/self/maps") do
      local name = line:match("/lib(%w+)%.so")
      if name then loaded[name] = true end
    end
    for _, name in ipairs { "curl", "xml2", "jansson", "z", "brotlidec", "zstd", "ssl", "crypto", "psl", "sqlite3" } do
      if loaded[name] then print(name) end
    end
    """

  @Test("a script that uses no network loads no network library, nor any other it does not use")
  func nothing() async throws {
    for use in ["", "require 'http'", "require 'http.html'", "require 'http.crawl'"] {
      let result = try await Executable(.file(use + " " + Self.listing)).run()
      #expect(result.lines == [] && result.ending == .exited(0), "\(use): \(result)")
    }
  }

  @Test("what is used is loaded")
  func used() async throws {
    let result = try await Executable(.file("require('json').decode('[]') " + Self.listing)).run()
    #expect(result.lines == ["jansson"], "\(result)")
  }

  @Test("a library that is missing is said to be, with status 1")
  func missing() async throws {
    let directory = try TemporaryDirectory()
    try directory.write("libxml2.so.2", "no library")
    var run = Executable(.file("print('begun') require('http.html').parse('<p>')"))
    run.environment["LD_LIBRARY_PATH"] = directory.path
    let result = try await run.run()
    #expect(result.ending == .exited(1) && result.lines == ["begun"], "\(result)")
    #expect(result.stderr.contains("a library is missing") && result.stderr.contains("libxml2"), "\(result)")
  }

  @Test("without SQLite cookies are kept in memory, with a warning; without libwslay a WebSocket is an error")
  func optional() async throws {
    let directory = try TemporaryDirectory()
    try directory.write("libsqlite3.so.0", "no library")
    try directory.write("libwslay.so.1", "no library")
    let server = try ScriptedServer { Reply(fields: [("Set-Cookie", "a=1; Max-Age=60")], $0["Cookie"] ?? "none") }
    let sockets = try WebSocketFrameTests.server.get()
    let script = """
      print(http.get(base).body, http.get(base).body)
      local task = http.shared:web_socket_task("ws://127.0.0.1:\(sockets.port)/")
      task:resume()
      print(select(2, task:wait()).code)
      """
    let result = try await runScript(script, [server.url]) { $0.environment["LD_LIBRARY_PATH"] = directory.path }
    #expect(result.lines == ["none\ta=1", "resource_unavailable"], "\(result)")
    #expect(result.stderr.contains("libsqlite3 cannot be loaded"), "\(result)")
    #expect(result.ending == .exited(0), "\(result)")
  }
}
