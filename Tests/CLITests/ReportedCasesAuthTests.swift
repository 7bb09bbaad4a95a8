import TestSupport
import Testing

/// Faults users of other clients reported about authentication, as far as `auth` options go.
@Suite struct ReportedCasesAuthTests {
  @Test("B06: Digest over a query, out of a list of qualities", arguments: ["digest", "any"])
  func digest(scheme: String) async throws {
    let server = try ScriptedServer { request in
      if let field = request["Authorization"], DigestCheck(field: field).accepts(request) { return Reply("in") }
      let challenge = #"Digest realm="r", nonce="n1", qop="auth,auth-int", opaque="o""#
      return Reply(status: "401 Unauthorized", fields: [("WWW-Authenticate", challenge)])
    }
    let script = """
      local auth = { user = "user", password = "pw", scheme = "\(scheme)" }
      print(assert(http.get(base .. "/d?a=1&b=%20", { auth = auth })).status)
      """
    try await expectScript(script, [server.url], prints: ["200"])
    #expect(server.lines == ["GET /d?a=1&b=%20", "GET /d?a=1&b=%20"])
    let check = DigestCheck(field: server.requests.last?["Authorization"] ?? "")
    #expect(check.parameters["uri"] == "/d?a=1&b=%20")
    #expect(check.parameters["nc"] == "00000001")
    #expect(check.parameters["opaque"] == "o")
    #expect(["auth", "auth-int"].contains(check.parameters["qop"]))
  }

  static let challenges: [[(String, String)]] = [
    [
      (
        "WWW-Authenticate",
        #"Newauth realm="apps, inner", type=1, title="Login to \"apps\"", Basic realm="simple""#
      )
    ],
    [("WWW-Authenticate", "Negotiate"), ("WWW-Authenticate", #"Basic realm="x""#)],
    [("WWW-Authenticate", #"basic realm="x""#)],
  ]

  @Test("B08: Basic is found among other challenges", arguments: 0..<3)
  func basicAmongOthers(variant: Int) async throws {
    let server = try ScriptedServer { request in
      request["Authorization"] == "Basic dXNlcjpwdw=="
        ? Reply("in") : Reply(status: "401 Unauthorized", fields: Self.challenges[variant])
    }
    let script = """
      local auth = { user = "user", password = "pw", scheme = "any" }
      print(assert(http.get(base .. "/", { auth = auth })).status)
      """
    try await expectScript(script, [server.url], prints: ["200"])
    #expect(server.requests.count == 2)
  }

  @Test("B45: handlers that yield, fetch and collect, from a coroutine of the script's own")
  func handlersInCoroutine() async throws {
    let server = try ScriptedServer { request in
      switch request.path {
      case "/go": return .redirect(to: "/end")
      case "/token": return Reply("pw")
      case "/sec":
        return request["Authorization"] == "Basic dXNlcjpwdw=="
          ? Reply("in") : Reply(status: "401 Unauthorized", fields: [("WWW-Authenticate", #"Basic realm="r""#)])
      default: return Reply("ok")
      }
    }
    let script = """
      local session
      session = http.session(http.configuration.ephemeral(), {
        will_perform_redirection = function(_, _, _, request)
          collectgarbage()
          coroutine.yield()
          return request
        end,
        did_receive_challenge = function()
          collectgarbage()
          coroutine.yield()
          return "use_credential", http.credential { user = "user", password = session:get(base .. "/token").body }
        end,
        did_receive_data = function() collectgarbage() assert(session:get(base .. "/end")) end,
      })
      local run = coroutine.wrap(function()
        print(assert(session:get(base .. "/go")).body, assert(session:get(base .. "/sec")).body)
        local task = session:data_task(base .. "/sec")
        task:resume()
        print(assert(task:wait()).status)
        coroutine.yield("half")
        print(assert(session:get(base .. "/end")).body)
      end)
      print(run())
      run()
      """
    try await expectScript(script, [server.url], prints: ["ok\tin", "200", "half", "ok"])
  }
}
