import Foundation
import TestSupport
import Testing

/// Digest as a server sees it: vectors, variants, nonces that go on and nonces that grow old.
@Suite struct DigestTests {
  /// Checks a field for a user, by algorithm, in its own words.
  static func accepts(
    _ request: ReceivedRequest, user: String = "user", password: String = "pw", realm: String, nonce: String,
    hash: (String) -> String = { md5(Array($0.utf8)) }, isSession: Bool = false
  ) -> Bool {
    let parameters = DigestCheck(field: request["Authorization"] ?? "").parameters
    func value(_ name: String) -> String { parameters[name] ?? "" }
    var first = hash("\(user):\(realm):\(password)")
    if isSession { first = hash("\(first):\(nonce):\(value("cnonce"))") }
    let second = hash("\(request.method):\(request.target)")
    let middle =
      value("qop").isEmpty ? nonce : "\(nonce):\(value("nc")):\(value("cnonce")):\(value("qop"))"
    return value("nonce") == nonce && value("response") == hash("\(first):\(middle):\(second)")
  }

  @Test("the public vectors, with the client's own cnonce")
  func vectors() async throws {
    var score = Score("http_auth, digest")
    for row in try Fixture.json("http_auth.json")["digest_vectors"].array {
      let name = "\(row["suite"].string ?? "") \(row["uri"].string ?? "")"
      guard row["method"].string == "GET" else {
        score.skip(name, "CONNECT: the tests with squid")
        continue
      }
      let challenge = row["challenge"].string ?? ""
      let wanted = DigestCheck(field: challenge).parameters
      let user = row["username"].string ?? ""
      let password = row["password"].string ?? ""
      let server = try ScriptedServer { request in
        Self.accepts(
          request, user: user, password: password, realm: wanted["realm"] ?? "", nonce: wanted["nonce"] ?? "")
          ? Reply("in") : Reply(status: "401 Unauthorized", fields: [("WWW-Authenticate", challenge)])
      }
      let script = """
        local r = http.get(base, { auth = { user = arg[2], password = arg[3], scheme = "digest" } })
        print(r.status)
        """
      let result = try await runScript(script, [server.url + (row["uri"].string ?? "/"), user, password])
      score.record(name, result.lines == ["200"] && server.requests.count == 2, "\(result) \(server.lines)")
    }
    try score.hold(floor: 4)
  }

  struct Variant: Sendable, CustomTestStringConvertible {
    let challenge: String
    var isSession = false
    var usesSHA256 = false
    var testDescription: String { challenge }
  }

  static let variants = [
    Variant(challenge: #"Digest realm="r", nonce="n1""#),
    Variant(challenge: #"Digest realm="r", nonce="n1", qop="auth", algorithm=MD5"#),
    Variant(challenge: #"Digest realm="r", nonce="n1", qop="auth-int""#),
    Variant(challenge: #"Digest realm="r", nonce="n1", qop="auth", algorithm=MD5-sess"#, isSession: true),
    Variant(challenge: #"Digest realm="r", nonce="n1", qop="auth", algorithm=SHA-256"#, usesSHA256: true),
    Variant(
      challenge: #"Digest realm="r", nonce="n1", qop="auth", algorithm=SHA-256-sess"#, isSession: true,
      usesSHA256: true),
  ]

  @Test("algorithms and qualities, by option and by handler", arguments: variants)
  func variant(_ one: Variant) async throws {
    let server = try ScriptedServer { request in
      var isRight = Self.accepts(
        request, realm: "r", nonce: "n1", hash: one.usesSHA256 ? sha256Text : { md5(Array($0.utf8)) },
        isSession: one.isSession)
      if one.challenge.contains("auth-int") {
        isRight = DigestCheck(field: request["Authorization"] ?? "").accepts(request)
      }
      return isRight ? Reply("in") : Reply(status: "401 Unauthorized", fields: [("WWW-Authenticate", one.challenge)])
    }
    let script = """
      print(assert(http.get(base .. "/a", { auth = { user = "user", password = "pw", scheme = "digest" } })).body)
      local session = http.session(http.configuration.ephemeral(), {
        did_receive_challenge = function()
          return "use_credential", http.credential { user = "user", password = "pw" }
        end,
      })
      print(assert(session:get(base .. "/b?c=d")).body)
      """
    try await expectScript(script, [server.url], prints: ["in", "in"])
    #expect(server.lines == ["GET /a", "GET /a", "GET /b?c=d", "GET /b?c=d"])
  }

  @Test("a user's name can be hidden (userhash)")
  func userHash() async throws {
    let hidden = md5(Array("user:r".utf8))
    let server = try ScriptedServer { request in
      let field = DigestCheck(field: request["Authorization"] ?? "").parameters
      return field["username"] == hidden && field["userhash"] == "true"
        ? Reply("in")
        : Reply(
          status: "401 Unauthorized",
          fields: [("WWW-Authenticate", #"Digest realm="r", nonce="n1", qop="auth", userhash=true"#)])
    }
    let script = "print(http.get(base, { auth = { user = 'user', password = 'pw', scheme = 'digest' } }).body)"
    try await expectScript(script, [server.url], prints: ["in"])
  }

  @Test("a stale nonce is answered once more without asking; a fresh one goes on unasked")
  func stale() async throws {
    let server = try ScriptedServer { request in
      let number = Int(request["X-Nonce"] ?? "") ?? 1
      if Self.accepts(request, realm: "r", nonce: "n\(number)") { return Reply("in") }
      let isOld = request["Authorization"] != nil
      return Reply(
        status: "401 Unauthorized",
        fields: [
          ("WWW-Authenticate", #"Digest realm="r", nonce="n\#(number)", qop="auth"\#(isOld ? ", stale=true" : "")"#)
        ])
    }
    let script = """
      local asked = 0
      local session = http.session(http.configuration.ephemeral(), {
        did_receive_challenge = function()
          asked = asked + 1
          return "use_credential", http.credential { user = "user", password = "pw" }
        end,
      })
      for _, nonce in ipairs { "1", "1", "2", "2" } do
        io.write(assert(session:post(base .. "/p", { body = "x", headers = { ["X-Nonce"] = nonce } })).body, " ")
      end
      print(asked)
      """
    try await expectScript(script, [server.url], prints: ["in in in in 1"])
    let nonces = server.requests.map { DigestCheck(field: $0["Authorization"] ?? "").parameters }
      .map { "\($0["nonce"] ?? "-") \($0["nc"] ?? "")" }
    #expect(nonces == ["- ", "n1 00000001", "n1 00000002", "n1 00000003", "n2 00000001", "n2 00000002"])
  }

  @Test("a server that forgot a nonce without saying so is answered again", arguments: ["option", "handler"])
  func forgotten(way: String) async throws {
    let server = try ScriptedServer { request in
      let nonce = request.path
      if Self.accepts(request, realm: "r", nonce: nonce) { return Reply("in") }
      return Reply(
        status: "401 Unauthorized",
        fields: [("WWW-Authenticate", #"Digest realm="r", nonce="\#(nonce)", qop="auth""#)])
    }
    let script = """
      local asked, auth = 0, nil
      local session = http.session(http.configuration.ephemeral(), {
        did_receive_challenge = function()
          asked = asked + 1
          return "use_credential", http.credential { user = "user", password = "pw" }
        end,
      })
      if arg[2] == "option" then auth = { user = "user", password = "pw", scheme = "digest" } end
      print(session:get(base .. "/1", { auth = auth }).body, session:get(base .. "/2", { auth = auth }).body, asked)
      """
    try await expectScript(script, [server.url, way], prints: ["in\tin\t\(way == "option" ? 0 : 1)"])
    #expect(server.requests.count == 4)
  }

  @Test("B20 /sec: each kind of body is stored whole, with the option and with a handler")
  func bodies() async throws {
    let server = try ScriptedServer { request in
      if DigestCheck(field: request["Authorization"] ?? "").accepts(request) {
        return Reply(status: "201 Created", "\(request.body.count) \(md5(request.body))")
      }
      let challenge = #"Digest realm="r", nonce="n1", qop="auth", opaque="o""#
      return Reply(status: "401 Unauthorized", fields: [("WWW-Authenticate", challenge)])
    }
    let script = """
      local bytes = {}
      for i = 0, 255 do bytes[#bytes + 1] = string.char(i) end
      local text = table.concat(bytes):rep(256)
      local path = os.tmpname()
      local file = assert(io.open(path, "wb"))
      file:write(text)
      file:close()
      local function generator()
        local position = 1
        return function()
          local piece = text:sub(position, position + 9999)
          position = position + #piece
          return piece ~= "" and piece or nil
        end
      end
      local auth = { user = "user", password = "pw", scheme = arg[2] }
      for _, body in ipairs { text, { file = path }, generator() } do
        print(assert(http.put(base .. "/sec", { body = body, auth = auth })).body)
      end
      local session = http.session(http.configuration.ephemeral(), {
        did_receive_challenge = function()
          return "use_credential", http.credential { user = "user", password = "pw", persistence = "none" }
        end,
      })
      for _, body in ipairs { text, { file = path } } do
        print(assert(session:put(base .. "/sec", { body = body })).body)
      end
      local r, err = session:put(base .. "/sec", { body = generator() })
      print(r, err.code)
      os.remove(path)
      """
    let all = (0..<256).flatMap { _ in (0...255).map { UInt8($0) } }
    let stored = "65536 \(md5(all))"
    for scheme in ["digest", "any"] {
      try await expectScript(
        script, [server.url, scheme],
        prints: Array(repeating: stored, count: 5) + ["nil\trequest_body_stream_exhausted"])
    }
  }

  static let beyond = [
    #"Digest realm="r", nonce="n1", qop="auth", algorithm=SHA-512-256"#,
    #"Digest realm="r", nonce="n1", qop="auth", algorithm=SHA-512-256, Digest realm="r", nonce="n1""#,
    #"Digest realm="r", nonce="n1", qop="auth-int""#,
  ]

  @Test(
    "what libcurl's Digest cannot do is passed over for the next challenge; alone, the 401 is delivered",
    arguments: beyond)
  func passedOver(challenge: String) async throws {
    let server = try ScriptedServer { request in
      if request["Authorization"] == "Basic dXNlcjpwdw==" { return Reply("in \(request.bodyText)") }
      let others = request.path == "/both" ? [("WWW-Authenticate", #"Basic realm="b""#)] : []
      return Reply(status: "401 Unauthorized", fields: [("WWW-Authenticate", challenge)] + others, "denied")
    }
    let script = """
      local asked = {}
      local session = http.session(http.configuration.ephemeral(), {
        did_receive_challenge = function(_, _, challenge)
          asked[#asked + 1] = challenge.protection_space.authentication_method
          return "use_credential", http.credential { user = "user", password = "pw", persistence = "none" }
        end,
      })
      print(assert(session:post(base .. "/both", { body = "x" })).body, table.concat(asked, " "))
      asked = {}
      local r = assert(session:post(base .. "/digest", { body = "x" }))
      print(r.status, r.body, table.concat(asked, " "))
      local auth = { user = "user", password = "pw", scheme = "any" }
      local plain = http.session(http.configuration.ephemeral())
      print(assert(plain:post(base .. "/both", { body = "x", auth = auth })).body)
      print(assert(plain:post(base .. "/digest", { body = "x", auth = auth })).status)
      """
    try await expectScript(
      script, [server.url], prints: ["in x\tdigest basic", "401\tdenied\tdigest", "in x", "401"])
    // No field was sent that could only be wrong.
    #expect(server.requests.allSatisfy { $0["Authorization"]?.hasPrefix("Digest") != true })
    #expect(server.requests.count == 6)
  }
}
