import TestSupport
import Testing

/// Faults users of other clients reported about timeouts (B26).
@Suite struct ReportedCasesTimeoutTests {
  static func server() throws -> ScriptedServer {
    try ScriptedServer { connection in
      while let request = try connection.readRequest() {
        switch request.path {
        case "/drip":
          try connection.send("HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\n")
          try connection.send(slices: Array(repeating: [0x64], count: 20), every: 0.3)
        case "/stall":
          try connection.send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n12345")
          connection.waitForClose()
        case "/hdr":
          let head = "HTTP/1.1 200 OK\r\n\r\n"
          try connection.send(slices: head.utf8.map { [$0] }, every: 0.3)
        default:
          try connection.pause(1)
          let hop = Int(request.path.dropFirst(4)) ?? 0
          try connection.send(hop > 0 ? .redirect(to: "/hop\(hop - 1)") : Reply("end"))
        }
      }
    }
  }

  static let cases = [
    ScriptCase(
      "idle 1 s does not end what keeps moving",
      "try('/drip', { timeout = 1 })", prints: "200\t20\ttrue"),
    ScriptCase(
      "total 2 s ends what keeps moving",
      "try('/drip', { timeout = 1, resource_timeout = 2 }, 2)", prints: "nil\ttimed_out\ttrue"),
    ScriptCase(
      "idle 1 s ends a stalled body",
      "try('/stall', { timeout = 1 }, 1)", prints: "nil\ttimed_out\ttrue"),
    ScriptCase(
      "total 2 s ends a slow head",
      "try('/hdr', { resource_timeout = 2 }, 2)", prints: "nil\ttimed_out\ttrue"),
    ScriptCase(
      "total 2 s spans redirects",
      "try('/hop4', { resource_timeout = 2 }, 2)", prints: "nil\ttimed_out\ttrue"),
    ScriptCase(
      "half a second is not rounded to nothing",
      "try('/stall', { timeout = 0.5 }, 0.5)", prints: "nil\ttimed_out\ttrue"),
    ScriptCase(
      "the configuration's times hold for every task",
      """
      local c = http.configuration.ephemeral()
      c.timeout_for_request, c.timeout_for_resource = 1, 2
      local session = http.session(c)
      try('/stall', {}, 1, session)
      try('/hop4', { timeout = 5 }, 2, session)
      """, prints: "nil\ttimed_out\ttrue", "nil\ttimed_out\ttrue"),
  ]

  @Test("B26: idle and total time", arguments: cases)
  func times(_ scriptCase: ScriptCase) async throws {
    let server = try Self.server()
    let helper = """
      local function try(path, options, limit, session)
        local t = http.now()
        local r, err
        if session then r, err = session:get(base .. path, options) else r, err = http.get(base .. path, options) end
        local spent = http.now() - t
        if r then print(r.status, #r.body, spent > 4) else print(nil, err.code, math.abs(spent - limit) < 0.5) end
      end

      """
    try await expectScript(helper + scriptCase.script, [server.url], prints: scriptCase.prints)
  }
}
