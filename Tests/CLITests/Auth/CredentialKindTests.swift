import TestSupport
import Testing

/// What credentials may be: of the challenge's kind, of any bytes but control characters.
@Suite struct CredentialKindTests {
  // MARK: Kinds

  static func server() throws -> ScriptedServer {
    try ScriptedServer { request in
      if request["Authorization"] == "Basic dTpw" { return Reply("in") }
      let challenges =
        switch request.path {
        case "/digest": [#"Digest realm="r", nonce="n1", qop="auth""#]
        case "/bearer": [#"Bearer realm="r""#]
        case "/vendor": ["Vendor"]
        case "/several": [#"Basic realm="r", Bearer realm="r", Vendor"#]
        default: [#"Basic realm="r""#]
        }
      return Reply(status: "401 Unauthorized", fields: challenges.map { ("WWW-Authenticate", $0) })
    }
  }

  static let kinds = [
    ScriptCase(
      "credentials of another kind than the challenge takes are the handler's error, which says so",
      """
      local trust
      http.session(http.configuration.ephemeral(), {
        session_did_receive_challenge = function(_, challenge) trust = challenge.protection_space.server_trust end,
      }):get(select(2, ...))
      local user, token = http.credential { user = "u", password = "p" }, http.credential { token = "t" }
      local certificate, trusted = http.credential { certificate = "/no/file" }, http.credential { trust = trust }
      local function try(path, credential)
        local session = http.session(http.configuration.ephemeral(), {
          did_receive_challenge = function() return "use_credential", credential end,
        })
        local r, err = session:get(base .. path)
        print(r, err.domain, err.code, (err.message:match("a '%w+' challenge takes[^\\n]*")))
      end
      try("/basic", token) try("/basic", certificate) try("/basic", trusted) try("/digest", token)
      try("/bearer", user) try("/bearer", trusted) try("/vendor", user)
      """,
      prints: [
        ("basic", "user", "token"), ("basic", "user", "certificate"), ("basic", "user", "trust"),
        ("digest", "user", "token"), ("bearer", "token", "user"), ("bearer", "token", "trust"),
        ("vendor", "token", "user"),
      ].map { method, wanted, given in
        "nil\tscript\thandler_error\ta '\(method)' challenge takes a credential with a '\(wanted)', "
          + "not one with a '\(given)'"
      }),
    ScriptCase(
      "where another challenge of the response takes them, that is asked about next",
      """
      local asked = {}
      local session = http.session(http.configuration.ephemeral(), {
        did_receive_challenge = function(_, _, challenge)
          asked[#asked + 1] = challenge.protection_space.authentication_method
          return "use_credential", http.credential { user = "u", password = "p" }
        end,
      })
      print(assert(session:get(base .. "/several")).body, table.concat(asked, " "))
      local operation = require "http.operation"
      local one = operation(base .. "/several", {
        credential = http.credential { user = "u", password = "p" }, configuration = http.configuration.ephemeral(),
      })
      one:start()
      one:wait()
      print(one.response_string)
      """, prints: "in\tbearer vendor basic", "in"),
    ScriptCase(
      "what is stored for a host is proposed where it is of the right kind",
      """
      local storage = http.credential_storage()
      storage:set_default(http.credential { token = "t" }, { host = "127.0.0.1" })
      storage:set(http.credential { user = "u", password = "p" }, { host = "127.0.0.1" })
      for _, path in ipairs { "/basic", "/bearer" } do
        http.session(http.configuration.ephemeral { credential_storage = storage }, {
          did_receive_challenge = function(_, _, challenge) print(challenge.proposed_credential) end,
        }):get(base .. path)
      end
      """,
      // The last is asked about once it has been refused.
      prints: "http.credential: user u (for_session)", "http.credential: token *** (for_session)", "nil"),
  ]

  @Test(arguments: kinds)
  func kind(_ one: ScriptCase) async throws {
    let server = try Self.server()
    let secure = try TLSServer()
    try await expectScript(one.script, [server.url, secure.url], prints: one.prints)
  }

  // MARK: Bytes

  @Test("realms, users, passwords and tokens are bytes, and go as they are (RFC 7617 2)")
  func bytes() async throws {
    let server = try ScriptedServer { request in
      if (request["Authorization"] ?? request["Proxy-Authorization"]) != nil { return Reply("in") }
      let challenge =
        request.path == "/digest" ? "Digest realm=\"caf\u{E9}\", nonce=\"n1\"" : "Basic realm=\"caf\u{E9}\""
      return Reply(status: "401 Unauthorized", fields: [("WWW-Authenticate", challenge)])
    }
    let script = """
      local credential = http.credential { user = "us\\xe9r", password = "p\\xfc" }
      local function handler(_, _, challenge)
        print(challenge.protection_space.realm == "caf\\xe9")
        return "use_credential", credential
      end
      local address = base:match("//(.*)")
      local storage = http.credential_storage { path = arg[2] }
      storage:set(http.credential { user = "us\\xe9r", password = "p\\xfc", persistence = "permanent" },
        { host = "127.0.0.1", realm = "caf\\xe9" })
      local session = http.session(http.configuration.ephemeral(), { did_receive_challenge = handler })
      local auth = { user = "us\\xe9r", password = "p\\xfc" }
      assert(session:get(base .. "/basic"))
      assert(http.get(base .. "/basic", { auth = auth }))
      assert(http.get("http://us%E9r:p%FC@" .. address .. "/basic"))
      local stored = http.session(http.configuration.ephemeral {
        credential_storage = http.credential_storage { path = arg[2] },
      })
      assert(stored:get(base .. "/basic"))
      local proxy = { url = base, user = "us\\xe9r", password = "p\\xfc" }
      assert(http.session(http.configuration.ephemeral { connection_proxy = proxy }):get("http://far.test/"))
      assert(http.get(base .. "/basic", { auth = { bearer = "t\\xf6k" } }))
      session = http.session(http.configuration.ephemeral(), { did_receive_challenge = handler })
      assert(session:get(base .. "/digest"))
      """
    let directory = try TemporaryDirectory()
    try await expectScript(
      script, [server.url, directory.path + "/credentials"], prints: ["true", "true"])
    let basic = "Basic dXPpcjpw/A=="
    let sent = server.requests.compactMap { $0["Authorization"] ?? $0["Proxy-Authorization"] }
    #expect(sent.dropLast() == [basic, basic, basic, basic, basic, "Bearer t\u{F6}k"])
    let digest = DigestCheck(field: sent.last ?? "").parameters
    #expect(digest["username"] == "us\u{E9}r" && digest["realm"] == "caf\u{E9}")
    let (first, second) = (md5(latin1Bytes("us\u{E9}r:caf\u{E9}:p\u{FC}")), md5(Array("GET:/digest".utf8)))
    #expect(digest["response"] == md5(Array("\(first):n1:\(second)".utf8)))
  }

  @Test("control characters in users, passwords and tokens raise, and nothing leaves")
  func controlCharacters() async throws {
    let server = try Self.server()
    let script = """
      local function fails(fn, ...)
        local ok, problem = pcall(fn, ...)
        print(ok, tostring(problem):match("[^ ]* must .*"))
      end
      for _, bad in ipairs { "u\\r\\nX-Evil: 1", "u\\nv", "u\\rv", "u\\0v" } do
        for _, scheme in ipairs { "basic", "digest", "any", "ntlm" } do
          fails(http.get, base, { auth = { user = bad, password = "p", scheme = scheme } })
          fails(http.get, base, { auth = { user = "u", password = bad, scheme = scheme } })
        end
        fails(http.get, base, { auth = { bearer = bad } })
        fails(http.credential, { user = bad, password = "p" })
        fails(http.credential, { user = "u", password = bad })
        fails(http.credential, { token = bad })
        fails(http.session, { connection_proxy = { url = base, user = bad } })
        fails(http.session, { connection_proxy = { url = base, user = "u", password = bad } })
      end
      for _, bad in ipairs { "u%00:p", "u:%00" } do
        local r, err = http.get("http://" .. bad .. "@" .. base:match("//(.*)"))
        print(r, err.code)
      end
      """
    let names =
      Array(repeating: ["auth.user", "auth.password"], count: 4).flatMap { $0 }
      + ["auth.bearer", "user", "password", "token", "user", "password"]
    let raised = names.map { "false\t'\($0)' must not contain control characters" }
    try await expectScript(
      script, [server.url],
      prints: Array(repeating: raised, count: 4).flatMap { $0 } + Array(repeating: "nil\tbad_url", count: 2))
    #expect(server.requests.isEmpty)
  }

  @Test("a line break in a URL's user is encoded for Basic, and goes into no field as it is")
  func lineBreakInURL() async throws {
    let server = try Self.server()
    let script = """
      local place = "http://u%0D%0AX-Evil:p@" .. base:match("//(.*)")
      print(assert(http.get(place .. "/digest")).status)
      """
    try await expectScript(script, [server.url], prints: ["401"])
    #expect(server.requests.map { $0["Authorization"] } == ["Basic dQ0KWC1FdmlsOnA="])
    #expect(server.requests.allSatisfy { $0.all("X-Evil").isEmpty })
  }
}
