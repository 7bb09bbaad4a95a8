import TestSupport
import Testing

/// What credentials and challenges must not put into a head, wherever they come from; and users that Basic cannot send.
@Suite struct InjectionTests {
  /// Asks for Digest, as a server and as a proxy. Nothing that it is sent may hold a second line of a user's making.
  static func server(_ challenge: String = #"Digest realm="r", nonce="n1", qop="auth""#) throws -> ScriptedServer {
    try ScriptedServer { request in
      let port = request["Host"]?.split(separator: ":").last ?? ""
      if request.path == "/redirect" {
        return .redirect(to: "http://a%0D%0AX-Evil%20:p@127.0.0.1:\(port)/digest")
      }
      if request["Authorization"]?.hasPrefix("Digest") == true || request["Proxy-Authorization"] != nil {
        return Reply("in")
      }
      guard request.target.hasPrefix("/") else {
        return Reply(status: "407 Proxy Authentication Required", fields: [("Proxy-Authenticate", challenge)])
      }
      return Reply(status: "401 Unauthorized", fields: [("WWW-Authenticate", challenge)])
    }
  }

  private func expectNothingInjected(_ server: ScriptedServer) {
    for request in server.requests {
      #expect(request.all("X-Evil").isEmpty)
      let fields = [request["Authorization"], request["Proxy-Authorization"]].compactMap { $0 }
      #expect(fields.allSatisfy { !$0.contains { $0.isNewline } && !$0.hasPrefix("Digest") }, "\(fields)")
    }
  }

  @Test("a redirect to a URL with a line break in its user sends no Digest with it")
  func location() async throws {
    let server = try Self.server()
    try await expectScript(#"print(assert(http.get(base .. "/redirect")).status)"#, [server.url], prints: ["401"])
    #expect(server.lines == ["GET /redirect", "GET /digest"])
    expectNothingInjected(server)
  }

  @Test("nor does a credential that was changed behind the checks, by a handler or in a storage")
  func changed() async throws {
    let server = try Self.server()
    let script = """
      local evil = http.credential { user = "a", password = "p" }
      evil.user = "a\\r\\nX-Evil: 1"
      local delegate = { did_receive_challenge = function() return "use_credential", evil end }
      print(assert(http.session(http.configuration.ephemeral(), delegate):get(base .. "/x")).status)
      local proxied = http.configuration.ephemeral { connection_proxy = base }
      print(http.session(proxied, delegate):get("http://far.test/").status)
      local storage = http.credential_storage()
      pcall(storage.set, storage, evil, { host = "127.0.0.1" })
      print(http.session(http.configuration.ephemeral { credential_storage = storage }):get(base .. "/x").status)
      """
    try await expectScript(script, [server.url], prints: ["401", "407", "401"])
    expectNothingInjected(server)
  }

  @Test(
    "what a challenge says is not sent back as a second line",
    arguments: [
      "Digest realm=\"a\\\rX-Evil: 1\", nonce=\"n\", qop=\"auth\"",
      "Digest realm=\"r\", nonce=\"n\\\rX-Evil: 1\", qop=\"auth\"",
      "Digest realm=\"r\", nonce=\"n\", opaque=\"o\\\rX-Evil: 1\", qop=\"auth\"",
      "Digest realm=\"r\rX-Evil: 1\", nonce=\"n\"",
    ])
  func challenge(text: String) async throws {
    let server = try Self.server(text)
    let script = """
      for _, scheme in ipairs { "digest", "any" } do
        print(http.get(base .. "/x", { auth = { user = "u", password = "p", scheme = scheme } }) ~= nil)
      end
      """
    _ = try await runScript(script, [server.url])
    let sent = server.requests.compactMap { $0["Authorization"] }
    #expect(sent.allSatisfy { !$0.contains("X-Evil") && !$0.contains("\r") }, "\(sent)")
    #expect(server.requests.allSatisfy { $0.all("X-Evil").isEmpty })
  }

  @Test("a quote in a URL is encoded in Digest's field and in the request alike, so that both are well-formed")
  func quoteInURL() async throws {
    let server = try Self.server()
    let script = """
      local auth = { user = "u", password = "p", scheme = "digest" }
      print(assert(http.get(base .. '/a"b c?x="y", nc=0', { auth = auth })).body)
      """
    try await expectScript(script, [server.url], prints: ["in"])
    let target = "/a%22b%20c?x=%22y%22,%20nc=0"
    #expect(server.lines == ["GET \(target)", "GET \(target)"])
    let field = DigestCheck(field: server.requests.last?["Authorization"] ?? "")
    #expect(field.parameters["uri"] == target && field.parameters["nc"] == "00000001")
  }

  // MARK: A colon in Basic's user (RFC 7617 §2)

  static func basic() throws -> ScriptedServer {
    try ScriptedServer { request in
      if request["Authorization"] != nil || request["Proxy-Authorization"] != nil { return Reply("in") }
      let both = request.path == "/both" ? [#"Digest realm="r", nonce="n1", qop="auth""#] : []
      return Reply(
        status: "401 Unauthorized", fields: (both + [#"Basic realm="r""#]).map { ("WWW-Authenticate", $0) })
    }
  }

  @Test("a user with a colon is not sent by Basic, as another one would arrive; Digest takes it")
  func colon() async throws {
    let server = try Self.basic()
    let script = """
      local place = base:match("//(.*)")
      local function raises(fn, ...) print(select(2, pcall(fn, ...))) end
      raises(function() http.get(base, { auth = { user = "a:b", password = "p" } }) end)
      raises(function() http.session { connection_proxy = { url = base, user = "a:b", password = "p" } } end)
      raises(function() http.session { connection_proxy = "http://a%3ab:p@" .. place } end)
      local function report(r, err) print(r and r.status or err.domain .. " " .. err.code) end
      report(http.get("http://a%3Ab:p@" .. place .. "/x"))
      report(http.get(base .. "/x", { auth = { user = "a:b", password = "p", scheme = "any" } }))
      local credential = http.credential { user = "a:b", password = "p" }
      local session = http.session(http.configuration.ephemeral(), {
        did_receive_challenge = function() return "use_credential", credential end,
      })
      local r, err = session:get(base .. "/x")
      print(r, err.domain, err.code, (err.message:match("^[^\\n]*")))
      local storage = http.credential_storage()
      storage:set(credential, { host = "127.0.0.1" })
      report(http.session(http.configuration.ephemeral { credential_storage = storage }):get(base .. "/x"))
      report(session:get(base .. "/both"))
      report(http.session { connection_proxy = { url = "socks5://127.0.0.1:1", user = "a:b" } } and { status = "socks" })
      """
    let result = try await runScript(script, [server.url])
    let lines = result.lines
    try #require(lines.count == 9, "\(result)")
    let rule = "(RFC 7617 §2)"
    #expect(lines[0].contains(":4: option 'auth.user' must not contain a colon") && lines[0].hasSuffix(rule))
    for line in lines[1...2] {
      #expect(line.contains("'connection_proxy': the user must not contain a colon") && line.hasSuffix(rule), "\(line)")
    }
    #expect(lines[3] == "url bad_url" && lines[4] == "401")
    #expect(lines[5] == "nil\tscript\thandler_error\ta 'basic' challenge takes no user with a colon \(rule)")
    #expect(lines[6...] == ["401", "200", "socks"])
    let sent = server.requests.compactMap { $0["Authorization"] }
    #expect(sent.count == 1 && sent.allSatisfy { $0.hasPrefix("Digest") }, "\(sent)")
  }
}
