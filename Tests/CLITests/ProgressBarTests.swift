import TestSupport
import Testing

/// `progress = "bar"` of a call: bars on a terminal, lines in a log, nothing when quiet.
@Suite struct ProgressBarTests {
  static func server() throws -> ScriptedServer {
    try ScriptedServer { connection in
      while let request = try connection.readRequest() {
        switch request.path {
        case "/cut":
          try connection.send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nten bytes.")
          return
        case "/missing": try connection.send(Reply(status: "404 Not Found", "no such page"))
        case "/private" where request["Authorization"] == nil:
          try connection.send(Reply(status: "401 Unauthorized", fields: [("WWW-Authenticate", "Basic realm=\"r\"")]))
        default: try SegmentTests.answer(request, connection)
        }
      }
    }
  }

  @Test("lines in a log, errors in their place, nothing when quiet")
  func log() async throws {
    let server = try Self.server()
    let script = """
      for _, path in ipairs { "/file", "/cut", "/missing" } do
        http.get(base .. path, { sink = "out" .. path:gsub("/", "-"), progress = "bar" })
      end
      http.get(base .. "/whole?q=1", { progress = "bar" })
      require("http.progress").quiet(true)
      http.get(base .. "/file", { sink = "quiet.bin", progress = "bar" })
      """
    let result = try await runScript(script, [server.url])
    #expect(result.ending == .exited(0) && result.stdout.isEmpty, "\(result)")
    let lines = result.stderr.split(separator: "\n")
    #expect(lines.count == 4, "\(result)")
    let beginnings = [
      "out-file: 3.00 MB in 0:", "out-cut: failed: ", "out-missing: failed: 404", "whole: 3.00 MB in 0:",
    ]
    for (line, beginning) in zip(lines, beginnings) { #expect(line.hasPrefix(beginning), "\(result)") }
  }

  @Test("the other options of the call hold, in parts too")
  func options() async throws {
    let server = try Self.server()
    let directory = try TemporaryDirectory()
    let script = """
      local auth = { user = "u", password = "p" }
      print(assert(http.get(base .. "/private", { sink = arg[2], progress = "bar", auth = auth })).status)
      print(assert(http.get(base .. "/private", { sink = arg[2], progress = "bar", auth = auth, segments = 3 })).status)
      """
    let result = try await runScript(script, [server.url, directory.path + "/out"])
    #expect(result.lines == ["200", "200"], "\(result)")
    #expect(directory.read("out") == SegmentTests.content)
    #expect(server.requests.count > 4)
  }

  @Test("bars on a terminal, one below the other")
  func terminal() async throws {
    let server = try Self.server()
    let script = """
      http.map({ "/one", "/two", "/three" }, 3, function(path)
        assert(http.get(base .. path, { sink = path:sub(2), progress = "bar" }))
      end)
      """
    var run = Executable(.file(prelude + script), arguments: [server.url])
    run.environment["TERM"] = "xterm"
    let (output, ending) = try await run.onTerminal { terminal, _ in terminal.finish() }
    #expect(ending == .exited(0), "\(output)")
    #expect(output.contains("["), "\(output)")
    for name in ["one", "two", "three"] { #expect(output.contains("\(name)  3.00 MB  0:"), "\(output)") }
  }
}
