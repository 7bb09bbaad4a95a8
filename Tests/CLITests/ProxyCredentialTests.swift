import Foundation
import TestSupport
import Testing

/// The user and the password for a proxy: they reach it as they are, or nothing is sent at all.
@Suite struct ProxyCredentialTests {
  /// `connection_proxy` with something in it that libcurl would go without the proxy for.
  static let misuses = [
    "{ url = P, user = 'ann', password = 'secret\\n' }", "{ url = P, user = 'ann', password = 'se\\0cret' }",
    "{ url = P, user = 'ann\\t' }", "{ http = { url = P, user = 'ann', password = '\\1' } }",
    "{ https = { url = P, user = 'ann', password = '\\127' } }",
    "{ url = P:gsub('//', '//ann:secret%%0A@'), no_proxy = {} }", "(P:gsub('//', '//ann%%00:secret@'))",
    "{ url = 'socks5h://127.0.0.1:1', user = 'ann', password = 'secret\\r' }", "'socks5://ann%1f@127.0.0.1:1'",
    "{ http = 'http://ann:%09@127.0.0.1:1', https = false }", "{ url = P, user = ('u'):rep(3000000) }",
    "{ url = P, user = 'u', password = (' '):rep(60000) }",
  ]

  @Test("What a script gives and no proxy can get raises there", arguments: misuses)
  func raises(_ proxy: String) async throws {
    let script = """
      local P, line = base, nil
      local ok, message = pcall(function()
        line = debug.getinfo(1, "l").currentline + 1
        http.session(http.configuration.ephemeral{ connection_proxy = \(proxy) })
      end)
      print(ok, message:match(":" .. line .. ": (.*)$"))
      """
    let result = try await runScript(script, ["http://127.0.0.1:1"])
    #expect(result.stdout.hasPrefix("false\t'connection_proxy"), "\(result)")
    let reasons = ["control characters", "is longer than 65536 bytes"]
    #expect(reasons.contains { result.stdout.contains($0) }, "\(result)")
    #expect(!result.stdout.contains("secret"))
  }

  static let variables = [
    (["http_proxy": "http://ann:secret%0A@{proxy}"], "control character"),
    (["http_proxy": "http://ann%00:secret@{proxy}"], "control character"),
    (["all_proxy": "socks5h://ann:secret%09@{proxy}"], "control character"),
    (["http_proxy": "http://ann:secret\n@{proxy}"], "no URL"),
    (["http_proxy": "ann:\(String(repeating: "secret", count: 12_000))@{proxy}"], "too long"),
    (["http_proxy": "gopher://ann:secret@{proxy}"], "not gopher"),
  ]

  @Test("What the environment gives and no proxy can get fails, and says nothing of the password", arguments: variables)
  func environment(_ variables: [String: String], says: String) async throws {
    let origin = try ScriptedServer { _ in Reply("direct") }
    let proxy = try ScriptedServer { _ in Reply("via") }
    let script = """
      local session = http.session(http.configuration.ephemeral())
      local response, err = session:get(base)
      print(response, err.code, err.url ~= nil, (tostring(err):find("secret")))
      print(err.message)
      """
    let result = try await runScript(script, [origin.url]) {
      $0.environment = variables.mapValues { $0.replacingOccurrences(of: "{proxy}", with: "127.0.0.1:\(proxy.port)") }
    }
    #expect(result.lines.first == "nil\tcannot_connect_to_host\ttrue\tnil", "\(result)")
    #expect(result.lines.last?.contains(says) == true, "\(result)")
    #expect(origin.requests.isEmpty && proxy.requests.isEmpty)
  }

  @Test("A stream does not go round such a proxy either")
  func stream() async throws {
    let script = """
      local task = http.session():stream_task("127.0.0.1", math.tointeger(base))
      task:resume()
      print(select(2, task:wait()).message)
      """
    let server = try ScriptedServer { _ in Reply("direct") }
    try await expectScript(
      script, ["\(server.port)"], prints: ["a control character in the user or the password of the proxy's URL"]
    ) { $0.environment = ["https_proxy": "http://ann:secret%0A@127.0.0.1:1"] }
    #expect(server.connectionCount == 0)
  }

  @Test("Percent signs stay what they are, whoever gives them")
  func percent() async throws {
    let proxy = try ScriptedServer { request in
      guard let field = request["Proxy-Authorization"] else {
        return Reply(status: "407 Who", fields: [("Proxy-Authenticate", "Basic realm=\"x\"")])
      }
      return Reply(field)
    }
    let script = """
      local answer = http.credential{ user = "u%42", password = "p%2541 @/" }
      local session = http.session(http.configuration.ephemeral{ connection_proxy = base }, {
        did_receive_challenge = function() return "use_credential", answer end,
      })
      local given = http.session(http.configuration.ephemeral{
        connection_proxy = { url = base, user = "u%42", password = "p%2541 @/" },
      })
      for _ = 1, 2 do print(session:get("http://far.test/").body) end
      print(given:get("http://far.test/").body)
      """
    let field = "Basic " + Data("u%42:p%2541 @/".utf8).base64EncodedString()
    try await expectScript(script, [proxy.url], prints: [field, field, field])
  }

  // MARK: SOCKS

  /// A proxy that takes everybody and answers itself: with the methods it was offered, and who it was that came.
  private func socks() throws -> ScriptedServer {
    try ScriptedServer { connection in
      let count = try connection.read(count: 2)[1]
      let methods = try connection.read(count: Int(count))
      var name = ""
      if methods.contains(2) {
        try connection.send([5, 2])
        _ = try connection.read(count: 1)
        for separator in [":", ""] {
          let length = Int(try connection.read(count: 1)[0])
          name += String(decoding: try connection.read(count: length), as: UTF8.self) + separator
        }
        try connection.send([1, 0])
      } else {
        try connection.send([5, 0])
      }
      let length = Int(try connection.read(count: 5)[4])
      _ = try connection.read(count: length + 2)
      try connection.send([5, 0, 0, 1, 0, 0, 0, 0, 0, 0])
      while let request = try connection.readRequest() {
        try connection.send(Reply("\(methods.sorted()) \(name)"), to: request)
      }
    }
  }

  @Test("A SOCKS proxy is offered a user only where there is one, and never a Kerberos ticket")
  func methods() async throws {
    let proxy = try socks()
    let script = """
      local address = base:gsub("^http://", "")
      local function try(delegate, options, proxy, storage)
        local session = http.session(http.configuration.ephemeral{
          connection_proxy = proxy or "socks5h://" .. address, credential_storage = storage,
        }, delegate)
        local r, err = session:get("http://far.test/", options)
        print(r and r.body or err)
      end
      local function never() error("asked") end
      try()
      try{ did_receive_challenge = never }
      try{ session_did_receive_challenge = never }
      try(nil, { auth = { user = "u", password = "p", scheme = "any" } })
      try(nil, nil, "socks5h://ann:a%25b@" .. address)
      try({ did_receive_challenge = never }, nil, { url = "socks5h://" .. address, user = "ann", password = "c d" })
      local storage = http.credential_storage()
      local host, port = address:match("^(.*):(%d+)$")
      local known = http.credential{ user = "bob", password = "e%66" }
      storage:set(known, { host = host, port = math.tointeger(port), is_proxy = true })
      try(nil, nil, nil, storage)
      try({ did_receive_challenge = never }, nil, "socks5h://ann:x@" .. address, storage)
      """
    try await expectScript(
      script, [proxy.url],
      prints: [
        "[0] ", "[0] ", "[0] ", "[0] ", "[0, 2] ann:a%b", "[0, 2] ann:c d", "[0, 2] bob:e%66", "[0, 2] ann:x",
      ])
  }

  @Test("A name that is not found here is not found, though a SOCKS proxy be on the way")
  func unknownName() async throws {
    let proxy = try ScriptedServer { connection in
      if try connection.read(count: 1) == [5] {
        let count = Int(try connection.read(count: 1)[0])
        _ = try connection.read(count: count)
        try connection.send([5, 0])
      }
      _ = try connection.readSome()
    }
    let script = """
      local address = base:gsub("^http://", "")
      for _, scheme in ipairs { "socks4", "socks5" } do
        local session = http.session{ connection_proxy = scheme .. "://" .. address }
        print(select(2, session:get("http://nowhere.invalid/")).code)
        local task = session:stream_task("nowhere.invalid", 25)
        task:resume()
        print(select(2, task:wait()).code)
      end
      """
    try await expectScript(script, [proxy.url], prints: Array(repeating: "cannot_find_host", count: 4))
  }

  @Test("Everything among others in no_proxy")
  func everything() async throws {
    let origin = try ScriptedServer { _ in Reply("direct") }
    let script = """
      for _, list in ipairs { { "*", "foo" }, "foo,*", "*" } do
        local session = http.session{ connection_proxy = { url = "http://u:p@127.0.0.1:1", no_proxy = list } }
        print(assert(session:get(base)).body)
      end
      """
    try await expectScript(script, [origin.url], prints: ["direct", "direct", "direct"])
  }
}
