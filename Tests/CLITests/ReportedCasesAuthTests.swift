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
}
