import TestSupport
import Testing

/// Credentials that a session has been let in with go along at once, where they may and nowhere else.
@Suite struct PreemptionTests {
  static func server(_ challenge: String) throws -> ScriptedServer {
    try ScriptedServer { request in
      request["Authorization"] == nil
        ? Reply(status: "401 Unauthorized", fields: [("WWW-Authenticate", challenge)]) : Reply("in")
    }
  }

  /// A script that asks for these paths in turn and prints how often the handler was asked.
  static func script(_ paths: [String], credential: String, configuration: String = "") -> String {
    """
    local asked = 0
    local session = http.session(http.configuration.ephemeral { \(configuration) }, {
      did_receive_challenge = function()
        asked = asked + 1
        return "use_credential", http.credential \(credential)
      end,
    })
    for _, path in ipairs { \(paths.map { "\"\($0)\"" }.joined(separator: ", ")) } do
      assert(session:get(base .. path))
    end
    print(asked)
    """
  }

  struct Case: Sendable, CustomTestStringConvertible {
    let name: String
    let challenge: String
    let paths: [String]
    var credential = #"{ user = "user", password = "pw" }"#
    var configuration = ""
    /// Which requests carry credentials.
    let carried: String
    let asked: Int
    var testDescription: String { name }
  }

  static let cases = [
    Case(
      name: "Basic: at and below the directory (RFC 7617 2.2)", challenge: #"Basic realm="r""#,
      paths: ["/a/b/x", "/a/b/y", "/a/b/c/z", "/a/q", "/"], carried: "-+ + + -+ -+", asked: 3),
    Case(
      name: "Digest without a domain: the whole server (RFC 7616 3.3)", challenge: #"Digest realm="r", nonce="n""#,
      paths: ["/a/b/x", "/", "/c"], carried: "-+ + +", asked: 1),
    Case(
      name: "Digest with a domain", challenge: #"Digest realm="r", nonce="n", domain="/a /b http://other.test/""#,
      paths: ["/a/b/x", "/b/y", "/c"], carried: "-+ + -+", asked: 2),
    Case(
      name: "a token", challenge: #"Bearer realm="r""#, paths: ["/a/x", "/a/y"],
      credential: #"{ token = "t" }"#, carried: "-+ +", asked: 1),
    Case(
      name: "persistence none: never", challenge: #"Basic realm="r""#, paths: ["/a", "/a"],
      credential: #"{ user = "user", password = "pw", persistence = "none" }"#, carried: "-+ -+", asked: 2),
    Case(
      name: "a session without a credential store: never", challenge: #"Basic realm="r""#, paths: ["/a", "/a"],
      configuration: "credential_storage = false", carried: "-+ -+", asked: 2),
  ]

  @Test(arguments: cases)
  func preemption(_ one: Case) async throws {
    let server = try Self.server(one.challenge)
    let script = Self.script(one.paths, credential: one.credential, configuration: one.configuration)
    try await expectScript(script, [server.url], prints: ["\(one.asked)"])
    var seen: [String] = []
    for request in server.requests {
      let mark = request["Authorization"] == nil ? "-" : "+"
      if seen.last == "-", mark == "+" { seen[seen.count - 1] = "-+" } else { seen.append(mark) }
    }
    #expect(seen.joined(separator: " ") == one.carried)
  }

  @Test("what is refused later is forgotten, and the handler asked as if for the first time")
  func refusedLater() async throws {
    let server = try ScriptedServer { request in
      let wanted = request["X-Turn"] == "1" ? "Bearer one" : "Bearer two"
      return request["Authorization"] == wanted
        ? Reply("in") : Reply(status: "401 Unauthorized", fields: [("WWW-Authenticate", "Bearer")])
    }
    let script = """
      local turn, failures = "1", {}
      local session = http.session(http.configuration.ephemeral(), {
        did_receive_challenge = function(_, _, challenge)
          failures[#failures + 1] = challenge.previous_failure_count
          return "use_credential", http.credential { token = turn == "1" and "one" or "two" }
        end,
      })
      for _, each in ipairs { "1", "1", "2", "2" } do
        turn = each
        io.write(assert(session:get(base .. "/", { headers = { ["X-Turn"] = turn } })).status, " ")
      end
      print(table.concat(failures, " "))
      """
    try await expectScript(script, [server.url], prints: ["200 200 200 200 0 0"])
    #expect(server.requests.count == 6)
  }

  @Test(
    "what is refused later is not proposed, as offering it again would end the exchange",
    arguments: ["Basic", "Bearer"])
  func refusedProposal(scheme: String) async throws {
    let server = try ScriptedServer { request in
      let wanted = request["X-Turn"] == "1" ? ["Basic dTpvbmU=", "Bearer one"] : ["Basic dTp0d28=", "Bearer two"]
      return wanted.contains(request["Authorization"] ?? "")
        ? Reply("in") : Reply(status: "401 Unauthorized", fields: [("WWW-Authenticate", "\(scheme) realm=\"m\"")])
    }
    // As most handlers are: what is proposed is good for the first time.
    let script = """
      local turn, seen = "1", {}
      local words = { ["1"] = "one", ["2"] = "two" }
      local session = http.session(http.configuration.ephemeral(), {
        did_receive_challenge = function(_, _, challenge)
          local proposed = challenge.proposed_credential
          seen[#seen + 1] = challenge.previous_failure_count .. (proposed and "+" or "-")
          if challenge.previous_failure_count == 0 and proposed then return "use_credential", proposed end
          if challenge.previous_failure_count > 2 then return end
          local word = words[turn]
          return "use_credential", http.credential(arg[2] == "Basic" and { user = "u", password = word } or { token = word })
        end,
      })
      for _, each in ipairs { "1", "1", "2", "2" } do
        turn = each
        io.write(assert(session:get(base .. "/", { headers = { ["X-Turn"] = turn } })).status, " ")
      end
      print(table.concat(seen, " "))
      """
    try await expectScript(script, [server.url, scheme], prints: ["200 200 200 200 0- 0-"])
    #expect(server.requests.count == 6)
  }

  @Test("a handler is proposed what was accepted; without one it is used")
  func proposal() async throws {
    let server = try Self.server(#"Basic realm="r""#)
    let script = """
      local delegate = {
        did_receive_challenge = function(_, task, challenge)
          local proposed = challenge.proposed_credential
          print(proposed, proposed and proposed.password)
          if proposed then return "use_credential", proposed end
          return "use_credential", http.credential { user = "user", password = "pw" }
        end,
      }
      local session = http.session(http.configuration.ephemeral(), delegate)
      assert(session:get(base .. "/a/x"))
      assert(session:get(base .. "/b/x"))
      delegate.did_receive_challenge = nil
      print(assert(session:get(base .. "/c/x")).status)
      """
    try await expectScript(
      script, [server.url], prints: ["nil\tnil", "http.credential: user user (for_session)\tpw", "200"])
    #expect(server.requests.count == 6)
  }

  @Test("credentials do not go to another origin, nor to another session, nor beside a field set by hand")
  func bounds() async throws {
    let other = try ScriptedServer { request in Reply(request["Authorization"] ?? "none") }
    let server = try ScriptedServer { request in
      if request.path == "/a/away" { return .redirect("307 Temporary Redirect", to: other.url + "/a/x") }
      let field = request["Authorization"]
      return field == nil
        ? Reply(status: "401 Unauthorized", fields: [("WWW-Authenticate", #"Basic realm="r""#)]) : Reply(field ?? "")
    }
    let script = """
      local delegate = {
        did_receive_challenge = function()
          return "use_credential", http.credential { user = "user", password = "pw" }
        end,
      }
      local session = http.session(http.configuration.ephemeral(), delegate)
      assert(session:get(base .. "/a/x"))
      print(session:get(base .. "/a/away").body, session:get(arg[2] .. "/a/x").body)
      print(session:get(base .. "/a/x", { headers = { Authorization = "Mine" } }).body)
      print(http.get(base .. "/a/x").status)
      """
    try await expectScript(script, [server.url, other.url], prints: ["none\tnone", "Mine", "401"])
  }
}
