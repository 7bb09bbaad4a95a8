import TestSupport
import Testing

/// Real servers and proxies that ask for credentials: squid, Apache httpd with Digest and with Kerberos.
@Suite struct RealServerAuthTests {
  static let proxyScript = """
    local function try(proxy, url, credential)
      local methods = {}
      local function handler(...)
        local challenge = select(-1, ...)
        local space = challenge.protection_space
        if space.server_trust then return nil end
        methods[#methods + 1] = space.authentication_method .. "/" .. tostring(space.realm)
        assert(space.is_proxy and challenge.failure_response.status == 407)
        assert(space.host == "127.0.0.1" and proxy:find(":" .. space.port, 1, true))
        return "use_credential", credential
      end
      local configuration = http.configuration.ephemeral { connection_proxy = { url = proxy }, ca_file = arg[4] }
      local session = http.session(configuration, credential and { did_receive_challenge = handler })
      for _ = 1, 2 do
        local r = assert(session:get(url))
        io.write(r.status, "[", #r.metrics.transaction_metrics, "] ")
      end
      print(table.concat(methods, " "))
    end
    local right = http.credential { user = "user", password = "pw" }
    local wrong = http.credential { user = "user", password = "no" }
    for _, url in ipairs { arg[2], arg[3] } do
      try(base, url, nil)
      try(base, url, right)
      try(base, url, wrong)
      try((base:gsub("://", "://user:pw@")), url, nil)
    end
    """

  @Test("squid: plain and through a tunnel, by a handler and by the proxy's URL", arguments: ["basic", "digest"])
  func squid(name: String) async throws {
    let scheme = Squid.Scheme(rawValue: name) ?? .basic
    let proxy = try Squid(scheme)
    let server = try ScriptedServer { _ in Reply("in") }
    let secure = try TLSServer()
    let asked = "\(name)/proxy"
    let both = "\(asked) \(asked)"
    let byURL = scheme == .basic ? "200[1] 200[1] " : "200[2] 200[2] "
    let lines = ["407[1] 407[1] ", "200[2] 200[1] \(asked)", "407[2] 407[2] \(both) \(both)", byURL]
    // A tunnel that stands needs no proof.
    let tunnelled = Array(lines.dropLast()) + [scheme == .basic ? "200[1] 200[1] " : "200[2] 200[1] "]
    try await expectScript(
      Self.proxyScript, [proxy.url, server.url, secure.url, secure.authority], prints: lines + tunnelled)
    for request in server.requests { #expect(request["Proxy-Authorization"] == nil) }
  }

  @Test("squid: NTLM")
  func squidNTLM() async throws {
    let proxy = try Squid(.ntlm)
    let server = try ScriptedServer { _ in Reply("in") }
    let secure = try TLSServer()
    let script = """
      for _, url in ipairs { arg[2], arg[3] } do
        local asked = 0
        local configuration = http.configuration.ephemeral { connection_proxy = { url = base }, ca_file = arg[4] }
        local session = http.session(configuration, {
          session_did_receive_challenge = function(_, challenge)
            if challenge.protection_space.server_trust then return nil end
            asked = asked + 1
            return "use_credential", http.credential { user = "user", password = "pw" }
          end,
        })
        print(assert(session:get(url)).status, assert(session:get(url)).status, asked)
      end
      """
    try await expectScript(
      script, [proxy.url, server.url, secure.url, secure.authority], prints: ["200\t200\t1", "200\t200\t1"])
  }

  static let digestScript = """
    local auth = { user = "user", password = "pw", scheme = "digest" }
    local url = base .. "/digest/page?a=1&b=%20"
    local first, second = assert(http.get(url, { auth = auth })), assert(http.get(url, { auth = auth }))
    print(first.body, second.body)
    auth.password = "no"
    print(assert(http.get(url, { auth = auth })).status)
    local asked = {}
    local session = http.session(http.configuration.ephemeral(), {
      did_receive_challenge = function(_, _, challenge)
        asked[#asked + 1] = challenge.protection_space.realm .. challenge.previous_failure_count
        return "use_credential", http.credential { user = "user", password = #asked == 1 and "no" or "pw" }
      end,
    })
    local counts = {}
    for i = 1, 3 do
      local r = assert(session:get(url))
      counts[i] = r.status .. "[" .. #r.metrics.transaction_metrics .. "]"
    end
    print(table.concat(counts, " "), table.concat(asked, " "))
    """

  @Test("Apache: Digest")
  func apacheDigest() async throws {
    let server = try Apache()
    try await expectScript(
      Self.digestScript, [server.url],
      prints: ["by digest\tby digest", "401", "200[3] 200[1] 200[1]\tr0 r1"])
  }

  static let kerberosScript = """
    local url = base .. "/kerberos/page"
    local r = assert(http.get(url, { auth = { user = "", scheme = "negotiate" } }))
    print(r.status, #r.body < 20 and r.body)
    local asked = {}
    local session = http.session(http.configuration.ephemeral(), {
      session_did_receive_challenge = function(_, challenge)
        asked[#asked + 1] = challenge.protection_space.authentication_method
        return "use_credential", http.credential { user = "", password = "" }
      end,
    })
    for _ = 1, 2 do
      r = assert(session:get(url))
      print(r.status, #r.body < 20 and r.body, table.concat(asked, " "))
    end
    """

  @Test("Apache: Negotiate with a ticket, and without one")
  func apacheKerberos() async throws {
    let realm = try Kerberos()
    let server = try Apache(realm)
    try await expectScript(
      Self.kerberosScript, [server.url],
      prints: ["200\tby ticket", "200\tby ticket\tnegotiate", "200\tby ticket\tnegotiate"]
    ) { $0.environment = realm.environment }
    let result = try await runScript(Self.kerberosScript, [server.url]) {
      $0.environment = realm.environmentWithoutTicket
    }
    #expect(result.lines == ["401\tfalse", "401\tfalse\tnegotiate", "401\tfalse\tnegotiate negotiate"], "\(result)")
  }
}
