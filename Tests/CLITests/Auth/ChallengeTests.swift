import TestSupport
import Testing

/// Challenge handlers: what they are asked, what their words do, and the order of calls.
@Suite struct ChallengeTests {
  /// `/basic`, `/several`, `/bearer`, `/bare`, `/custom` want credentials; user "user", password "pw", token "t0k3n".
  static func server() throws -> ScriptedServer {
    try ScriptedServer { request in
      let field = request["Authorization"]
      func refuse(_ challenges: String...) -> Reply {
        Reply(status: "401 Unauthorized", fields: challenges.map { ("WWW-Authenticate", $0) }, "denied")
      }
      let basic = "Basic dXNlcjpwdw=="
      switch request.path.split(separator: "/").first {
      case "basic": return field == basic ? Reply("in \(request.bodyText)") : refuse(#"Basic realm="r""#)
      case "several":
        if field == basic || field == "newauth t0k3n" { return Reply("in") }
        return refuse(
          #"Basic realm="simple", Newauth realm="apps, inner", title="Login to \"apps\"""#, "Negotiate abcd==",
          #"DIGEST realm="d", nonce="n", algorithm=SHA-256, qop="auth""#)
      case "bearer": return field == "Bearer t0k3n" ? Reply("in") : refuse(#"Bearer realm="b", error="invalid_token""#)
      case "bare": return field == "Bearer t0k3n" ? Reply("in") : refuse()
      case "custom": return request["X-Signature"] == "signed" ? Reply("in") : refuse("Signature realm=\"s\"")
      case "moved": return .redirect(to: "/basic")
      case "token": return Reply("pw")
      default: return Reply("open")
      }
    }
  }

  static let words = [
    ScriptCase(
      "a challenge says what it is about",
      """
      local session = http.session(http.configuration.ephemeral(), {
        did_receive_challenge = function(session, task, challenge)
          local space = challenge.protection_space
          print(space.host, space.port == tonumber(base:match("%d+$")), space.protocol, space.realm, space.is_proxy)
          print(space.authentication_method, space.parameters.error, challenge.previous_failure_count)
          print(challenge.proposed_credential, challenge.error, challenge.failure_response.status)
          print(task.state, task.original_request.url == base .. "/bearer", tostring(challenge):match("^[%w.]+: %w+"))
        end,
      })
      local r = assert(session:get(base .. "/bearer"))
      print(r.status, r.body)
      """, prints: "127.0.0.1\ttrue\thttp\tb\tfalse", "bearer\tinvalid_token\t0", "nil\tnil\t401",
      "running\ttrue\thttp.challenge: bearer", "401\tdenied"),
    ScriptCase(
      "all challenges of a response, strongest first, each rejected in turn",
      """
      local session = http.session(http.configuration.ephemeral(), {
        session_did_receive_challenge = function(session, challenge)
          print("session", challenge.protection_space.authentication_method, challenge.protection_space.realm,
            challenge.protection_space.parameters.token68)
          return "reject_protection_space"
        end,
        did_receive_challenge = function(session, task, challenge)
          local space = challenge.protection_space
          print("task", space.authentication_method, space.realm, space.parameters.title or space.parameters.algorithm)
          return "reject_protection_space"
        end,
      })
      local r = assert(session:get(base .. "/several"))
      print(r.status, r.body)
      """, prints: "session\tnegotiate\tnil\tabcd==", "task\tdigest\td\tSHA-256",
      "task\tnewauth\tapps, inner\tLogin to \"apps\"", "task\tbasic\tsimple\tnil", "401\tdenied"),
    ScriptCase(
      "a credential that a scheme cannot use leads to the next challenge",
      """
      local session = http.session(http.configuration.ephemeral(), {
        did_receive_challenge = function(session, task, challenge)
          local method = challenge.protection_space.authentication_method
          io.write(method, " ")
          if method == "digest" then return "reject_protection_space" end
          return "use_credential", http.credential { user = "user", password = "pw" }
        end,
      })
      print(assert(session:get(base .. "/several")).body)
      """, prints: "negotiate digest newauth basic in"),
    ScriptCase(
      "tokens, for Bearer and for schemes of other names",
      """
      local session = http.session(http.configuration.ephemeral(), {
        did_receive_challenge = function(session, task, challenge)
          local method = challenge.protection_space.authentication_method
          if method == "negotiate" or method == "digest" then return "reject_protection_space" end
          return "use_credential", http.credential { token = "t0k3n", persistence = "none" }
        end,
      })
      print(assert(session:get(base .. "/bearer")).body, assert(session:get(base .. "/several")).body)
      """, prints: "in\tin"),
    ScriptCase(
      "cancel ends the task with an error of its own",
      """
      local session = http.session(http.configuration.ephemeral(), {
        did_receive_challenge = function() return "cancel_authentication_challenge" end,
      })
      local r, err = session:get(base .. "/basic")
      print(r, err.domain, err.code, err.response and err.response.status)
      """, prints: "nil\turl\tuser_cancelled_authentication\t401"),
    ScriptCase(
      "default handling, no credential and nothing deliver the response",
      """
      local answers = { { "perform_default_handling" }, { "use_credential" }, {} }
      for _, answer in ipairs(answers) do
        local session = http.session(http.configuration.ephemeral(), {
          did_receive_challenge = function() return table.unpack(answer) end,
        })
        local r = assert(session:get(base .. "/basic"))
        io.write(r.status, " ", r.body, "; ")
      end
      print()
      """, prints: "401 denied; 401 denied; 401 denied; "),
    ScriptCase(
      "what was refused and is offered again ends the exchange; something else is tried",
      """
      local words = { "a", "a", "b", "pw" }
      local failures = {}
      local function handler(session, task, challenge)
        failures[#failures + 1] = challenge.previous_failure_count
        local word = words[#failures]
        return "use_credential", http.credential { user = "user", password = word }
      end
      local session = http.session(http.configuration.ephemeral(), { did_receive_challenge = handler })
      print(assert(session:get(base .. "/basic")).status, table.concat(failures, " "))
      words, failures = { "x", "y", "pw" }, {}
      print(assert(session:get(base .. "/basic")).body, table.concat(failures, " "))
      """, prints: "401\t0 1", "in \t0 1 2"),
    ScriptCase(
      "a request in place of an answer: a scheme of the script's own, a body, another place",
      """
      local session = http.session(http.configuration.ephemeral(), {
        did_receive_challenge = function(session, task, challenge)
          local request = task.current_request:copy()
          if challenge.protection_space.authentication_method == "signature" then
            request.headers["X-Signature"] = challenge.previous_failure_count == 0 and "wrong" or "signed"
          else
            request.url = base .. "/elsewhere"
          end
          return request
        end,
      })
      local r = assert(session:post(base .. "/custom", { body = "x" }))
      print(r.body, #r.redirects, r.url == base .. "/custom")
      print(assert(session:get(base .. "/basic")).body)
      """, prints: "in\t0\ttrue", "open"),
    ScriptCase(
      "a script that answers for ever is ended after a fixed number of requests",
      """
      local count = 0
      local session = http.session(http.configuration.ephemeral(), {
        did_receive_challenge = function(session, task)
          count = count + 1
          local request = task.current_request:copy()
          request.headers["X-Count"] = tostring(count)
          return request
        end,
      })
      print(assert(session:get(base .. "/custom")).status, count)
      """, prints: "401\t10"),
    ScriptCase(
      "a handler fetches with the same session; other tasks go on meanwhile",
      """
      local session
      session = http.session(http.configuration.ephemeral(), {
        did_receive_challenge = function(_, _, challenge)
          http.sleep(0.05)
          return "use_credential", http.credential { user = "user", password = session:get(base .. "/token").body }
        end,
      })
      local others = 0
      local job = http.spawn(function()
        for _ = 1, 20 do assert(session:get(base .. "/open")) others = others + 1 end
      end)
      print(assert(session:post(base .. "/basic", { body = "hello" })).body)
      job:wait()
      print(others)
      """, prints: "in hello", "20"),
    ScriptCase(
      "the order of a data task's calls: challenge, response, data, metrics, completion, the 401 withheld",
      """
      local seen = {}
      local function note(name) return function() seen[#seen + 1] = name end end
      local delegate = {
        did_create_task = note "create", did_receive_data = note "data",
        did_finish_collecting_metrics = note "metrics", did_complete = note "complete",
        will_perform_redirection = note "redirect",
        did_receive_response = function(_, _, response) seen[#seen + 1] = "response " .. response.status end,
        did_receive_challenge = function()
          seen[#seen + 1] = "challenge"
          return "use_credential", http.credential { user = "user", password = "pw" }
        end,
      }
      local session = http.session(http.configuration.ephemeral(), delegate)
      for _, path in ipairs { "/moved", "/open", "/bearer" } do
        if path == "/bearer" then
          delegate.did_receive_challenge = function() seen[#seen + 1] = "challenge" end
        end
        local task = session:data_task(base .. path)
        task:resume()
        task:wait()
        print(table.concat(seen, ", "))
        seen = {}
      end
      """, prints: "create, redirect, challenge, response 200, data, metrics, complete",
      "create, response 200, data, metrics, complete",
      "create, challenge, response 401, data, metrics, complete"),
  ]

  @Test(arguments: words)
  func word(_ one: ScriptCase) async throws {
    let server = try Self.server()
    try await check(one, server.url)
  }

  @Test("credentials are shown nowhere")
  func secrecy() async throws {
    let server = try Self.server()
    let script = """
      print(http.credential { user = "user", password = "pw" })
      print(http.credential { token = "t0k3n", persistence = "permanent" })
      local session = http.session(http.configuration.ephemeral(), {
        did_receive_challenge = function(_, _, challenge)
          local method = challenge.protection_space.authentication_method
          if method == "bearer" then return "use_credential", http.credential { token = "t0k3n" } end
          return "use_credential", http.credential { user = "user", password = "pw" }
        end,
      })
      print(assert(session:get(base .. "/basic")).status, assert(session:get(base .. "/bearer")).status)
      """
    let result = try await expectScript(
      script, [server.url],
      prints: ["http.credential: user user (for_session)", "http.credential: token *** (permanent)", "200\t200"]
    ) { $0.options = ["-v"] }
    for secret in ["dXNlcjpwdw", "t0k3n", "pw"] { #expect(!result.stderr.contains(secret)) }
  }

  static let misuses: [(String, String)] = [
    (#""use_credential", { user = "u" }"#, "a challenge's credential must be an http.credential, not table"),
    (#""use_credentials""#, "unknown disposition 'use_credentials' (did you mean 'use_credential'?)"),
    ("42", "a challenge's handler must return a disposition or a request, not number"),
    (#"error("boom")"#, "boom"),
    ("error({ code = 1 })", "(error object is a table value)"),
    ("error(nil)", "nil"),
  ]

  @Test("what a handler does wrong ends its task", arguments: misuses.indices)
  func misuse(index: Int) async throws {
    let server = try Self.server()
    let (answer, message) = Self.misuses[index]
    let script = """
      local session = http.session(http.configuration.ephemeral(), {
        did_receive_challenge = function() return \(answer) end,
      })
      local r, err = session:get(base .. "/basic")
      print(r, err.domain, err.code, err.message:find([[\(message)]], 1, true) ~= nil)
      print(assert(session:get(base .. "/open")).body)
      """
    try await expectScript(script, [server.url], prints: ["nil\tscript\thandler_error\ttrue", "open"])
  }

  static let credentials: [(String, String)] = [
    ("{}", "a credential needs a 'user', a 'token', a 'certificate' or a 'trust'"),
    (#"{ user = "u", pasword = "x" }"#, "unknown option 'pasword' (did you mean 'password'?)"),
    (#"{ token = "t", password = "x" }"#, "a credential with a 'token' takes no 'password'"),
    (#"{ user = "u", persistence = "ever" }"#, "unknown persistence 'ever'"),
    (#"{ user = 1 }"#, "option 'user' must be string, not number"),
  ]

  @Test("what is no credential is said at the caller's line", arguments: credentials.indices)
  func credential(index: Int) async throws {
    let (fields, message) = Self.credentials[index]
    let script = "local ok, err = pcall(function() http.credential(\(fields)) end)\nprint(ok, err)"
    let result = try await runScript(script)
    #expect(result.lines.first?.hasPrefix("false\t") == true, "\(result)")
    #expect(result.lines.first?.contains("script.lua:2: \(message)") == true, "\(result)")
  }
}
