import TestSupport
import Testing

/// What scripts see of TLS: server-trust and client-certificate challenges, policies, transport security.
@Suite("Trust")
struct TrustTests {
  private let authority: TestAuthority

  init() throws { authority = try TestAuthority() }

  /// A session that tells of each challenge and answers with what `say` holds.
  private static let session = """
    local asked, say = 0, nil
    local function handler(_, challenge)
      asked = asked + 1
      local space = challenge.protection_space
      local trust = space.server_trust
      if type(say) == 'function' then return say(challenge, trust) end
      return say
    end
    local session = http.session({ ca_file = arg[2] }, { session_did_receive_challenge = handler })
    local function get(path)
      local before = asked
      local r, err = session:get(base .. (path or '/'))
      print(r and r.status or err.code, asked - before)
      return r, err
    end

    """

  private func run(
    _ script: String, _ server: TLSServer, _ more: [String] = [], prints lines: [String],
    sourceLocation: SourceLocation = #_sourceLocation
  ) async throws {
    try await expectScript(
      Self.session + script, [server.url, authority.certificate] + more, prints: lines, sourceLocation: sourceLocation)
  }

  @Test("A stapled response that does not say when the next one comes is believed for ten days")
  func undatedStatus() async throws {
    let leaf = try authority.leaf("host", "DNS:localhost")
    let servers = try [0, 9, 11, 400].map { days in
      try OpenSSLServer(leaf, ["-status_file", authority.oldStatus(of: "host", days: days)])
    }
    let script = """
      local session = http.session({ ca_file = base }, {
        session_did_receive_challenge = function(_, challenge)
          local verdict = challenge.protection_space.server_trust.verdict
          print(verdict.trusted, verdict.revocation)
        end,
      })
      for index = 2, select("#", ...) do print(assert(session:get((select(index, ...)) .. "/")).status) end
      """
    try await expectScript(
      script, [authority.certificate] + servers.map(\.url),
      prints: ["good", "good", "not_known", "not_known"].flatMap { ["true\t\($0)", "200"] })
  }

  @Test("A handler decides about a certificate that is not trusted", arguments: ["1.2", "1.3"])
  func decisions(version: String) async throws {
    let server = try TLSServer(authority.selfSigned("self", "DNS:localhost"), terms: .init(version: version))
    try await run(
      """
      get()
      say = 'perform_default_handling' get()
      say = 'reject_protection_space' get()
      say = 'cancel_authentication_challenge' get()
      say = function() return 'use_credential', http.credential{ user = 'a', password = 'b' } end get()
      say = function() return 'use_credential' end get()
      say = function() error('no') end
      local _, err = get()
      print(err.domain)
      say = function() http.sleep(5) end
      print(select(2, session:get(base, { resource_timeout = 0.5 })).code)
      say = function(_, trust) http.sleep(0.05) return 'use_credential', http.credential{ trust = trust } end
      local r = get('/first')
      print(r.body, #r.metrics.transaction_metrics, r.metrics.transaction_metrics[1].is_reused_connection)
      get()
      session:reset()
      get()
      print(get('/count').body)
      """, server,
      prints: [
        "server_certificate_has_unknown_root\t1", "server_certificate_has_unknown_root\t1",
        "server_certificate_has_unknown_root\t1", "user_cancelled_authentication\t1",
        "server_certificate_untrusted\t1", "server_certificate_has_unknown_root\t1", "handler_error\t1", "script",
        "timed_out", "200\t1", "GET /first\t1\tfalse", "200\t0", "200\t1", "200\t0", "3",
      ])
  }

  @Test("A chain that verifies is asked about once, and goes on by default")
  func goodChain() async throws {
    let server = try TLSServer(authority.leaf("good", "DNS:localhost"))
    try await run(
      """
      say = function(challenge, trust)
        print(trust.verdict.trusted, trust.verdict.code, trust.verdict.text, challenge.error)
      end
      get()
      get()
      session:reset()
      say = 'reject_protection_space' get()
      """, server,
      prints: ["true\t0\tok\tnil", "200\t1", "200\t0", "server_certificate_untrusted\t1"])
  }

  @Test("Many tasks at once ask once; when the one that asks ends, another does")
  func singleFlight() async throws {
    let server = try TLSServer(authority.selfSigned("self", "DNS:localhost"))
    try await run(
      """
      local function all(count)
        local jobs, results = {}, {}
        for i = 1, count do jobs[i] = http.spawn(session.get, session, base) end
        for i = 1, count do
          local r, err = jobs[i]:wait()
          local result = r and r.status or err.code
          results[result] = (results[result] or 0) + 1
        end
        for result, number in pairs(results) do print(result, number, asked) end
      end
      say = function() http.sleep(0.1) return 'reject_protection_space' end
      all(4)
      asked = 0
      say = function(_, trust)
        http.sleep(0.5)
        return 'use_credential', http.credential{ trust = trust }
      end
      all(12)
      """, server, prints: ["server_certificate_has_unknown_root\t4\t4", "200\t12\t1"])
  }

  @Test("A challenge shows the certificates and what is wrong with them")
  func certificates() async throws {
    let leaf = try authority.leaf("wrong", "DNS:other.example,IP:127.0.0.2", .past)
    let server = try TLSServer(leaf)
    let shown = try authority.run(
      "openssl x509 -in wrong.crt -noout -fingerprint -sha256 | cut -d= -f2 | tr -d : | tr A-F a-f"
    ).dropLast()
    try await run(
      """
      say = function(challenge, trust)
        local space = challenge.protection_space
        print(space.authentication_method, space.host, space.protocol, space.realm, space.is_proxy)
        print(challenge.previous_failure_count, challenge.failure_response, challenge.proposed_credential)
        print(challenge.error.code, #trust.certificates)
        local one, ca = trust.certificates[1], trust.certificates[2]
        print(one.subject, one.issuer, ca.subject, one.not_before // 1 | 0, one.not_after // 1 | 0)
        print(one.sha256, #one.public_key_sha256, one.public_key_pin:sub(1, 8), #one.serial > 10)
        print(one.pem == io.open(arg[3]):read('a'), table.concat(one.subject_alternative_names, ' '))
        local verdict = trust.verdict
        print(verdict.trusted, verdict.code, verdict.text, verdict.error, verdict.revocation)
        for _, problem in ipairs(verdict.problems) do print(problem.code, problem.depth, problem.text, problem.error) end
        local fields = {}
        for name in pairs(ca) do fields[#fields + 1] = name end
        print(#fields, one, trust)
      end
      get()
      """, server, [leaf.certificate],
      prints: [
        "server_trust\tlocalhost\thttps\tnil\tfalse", "0\tnil\tnil", "server_certificate_has_bad_date\t2",
        "CN=wrong\tCN=Test Authority\tCN=Test Authority\t1577836800\t1609459200", "\(shown)\t64\tsha256//\ttrue",
        "true\tDNS:other.example IP:127.0.0.2",
        "false\t10\tcertificate has expired\tserver_certificate_has_bad_date\tnot_known",
        "10\t0\tcertificate has expired\tserver_certificate_has_bad_date",
        "62\t0\thostname mismatch\tserver_certificate_untrusted",
        "10\thttp.certificate: CN=wrong\thttp.server_trust: localhost:\(server.port), certificate has expired",
        "server_certificate_has_bad_date\t1",
      ])
  }

  @Test("Only the certificate that was accepted is accepted: another one is asked about")
  func otherLeaf() async throws {
    let first = try TLSServer(authority.selfSigned("one", "DNS:localhost"))
    let second = try TLSServer(authority.selfSigned("two", "DNS:localhost"))
    try await run(
      """
      local kept
      say = function(_, trust)
        kept = kept or trust
        return 'use_credential', http.credential{ trust = kept }
      end
      get()
      base = arg[3]
      get()
      """, first, [second.url], prints: ["200\t1", "server_certificate_untrusted\t1"])
  }

  @Test("The task's handler is asked where the session has none; a task without any fails closed")
  func handlers() async throws {
    let server = try TLSServer(authority.selfSigned("self", "DNS:localhost"))
    try await expectScript(
      """
      local order = {}
      local session = http.session(nil, {
        did_receive_challenge = function(session, task, challenge)
          order[#order + 1] = challenge.protection_space.authentication_method
          return 'use_credential', http.credential{ trust = challenge.protection_space.server_trust }
        end,
        did_receive_response = function() order[#order + 1] = 'response' end,
        did_complete = function(_, _, err) order[#order + 1] = err and err.code or 'complete' end,
      })
      local task = session:data_task{ url = base .. '/x', method = 'POST', body = ('x'):rep(300000) }
      task:resume()
      print(task:wait().body, table.concat(order, ' '))
      print(select(2, http.get(base)).code)
      """, [server.url],
      prints: ["POST /x\tserver_trust response complete", "server_certificate_has_unknown_root"])
  }

  @Test("A reader's body is read only once the server is trusted")
  func reader() async throws {
    let server = try TLSServer(authority.selfSigned("self", "DNS:localhost"))
    try await run(
      """
      local pieces = { 'one', 'two' }
      local reads = 0
      say = function(_, trust)
        print(reads)
        return 'use_credential', http.credential{ trust = trust }
      end
      local r = session:post(base .. '/x', { body = function()
        reads = reads + 1
        return table.remove(pieces, 1)
      end })
      print(r and r.body)
      """, server, prints: ["0", "POST /x"])
  }

  @Test("Client certificates by challenge", arguments: ["1.2", "1.3"])
  func clientChallenge(version: String) async throws {
    let clients = try TestAuthority(name: "Client Authority")
    var terms = TLSServer.Terms(clientAuthority: clients.certificate, version: version)
    let server = try TLSServer(authority.leaf("host", "DNS:localhost"), terms: terms)
    let mine = try clients.leaf("me", "")
    let stranger = try authority.leaf("stranger", "")
    try clients.run("openssl pkcs12 -export -in me.crt -inkey me.key -passout pass:secret -out me.p12")
    let script = """
      local answer
      say = function(challenge, trust)
        if trust then return end
        print(challenge.protection_space.authentication_method, challenge.previous_failure_count)
        if answer then return 'use_credential', http.credential(answer) end
      end
      get()
      answer = { user = 'me', password = 'x' } get()
      answer = { certificate = arg[3], key = arg[4] } get()
      answer = { certificate = arg[5], password = 'wrong' }
      local _, err = get()
      print(tostring(err):find('wrong', 1, true))
      answer = { certificate = arg[5], password = 'secret' }
      print(get().headers['X-Client'])
      get()
      """
    let asked = "client_certificate\t"
    try await run(
      script, server, [stranger.certificate, stranger.key, clients.directory.path + "/me.p12"],
      prints: [
        asked + "0", "client_certificate_required\t2", asked + "1",
        "client_certificate_rejected\t1", asked + "1", "client_certificate_rejected\t1",
        asked + "2", "client_certificate_rejected\t1", "nil",
        asked + "2", "200\t1", "me", "200\t0",
      ])
    terms.certificateIsOptional = true
    let lenient = try TLSServer(authority.leaf("host", "DNS:localhost"), terms: terms)
    try await run("print(get().headers['X-Client']) get()", lenient, prints: ["200\t2", "nil", "200\t0"])
    try await expectScript(
      """
      local session = http.session{ ca_file = arg[2], client_certificate = { certificate = arg[3], key = arg[4] } }
      print(session:get(base).headers['X-Client'])
      local session = http.session{ ca_file = arg[2],
        client_certificate = http.credential{ certificate = arg[5], password = 'secret' } }
      print(session:get(base).headers['X-Client'])
      local session = http.session{ ca_file = arg[2], client_certificate = arg[3] }
      print(select(2, session:get(base)).code)
      """,
      [
        server.url, authority.certificate, mine.certificate, mine.key, clients.directory.path + "/me.p12",
      ], prints: ["me", "me", "client_certificate_rejected"])
  }

  @Test("A challenge for a client certificate names the authorities that the server believes")
  func distinguishedNames() async throws {
    let leaf = try authority.leaf("host", "DNS:localhost")
    let server = try OpenSSLServer(leaf, ["-Verify", "1", "-CAfile", authority.certificate])
    try await expectScript(
      Self.session + """
        say = function(challenge, trust)
          if trust then return end
          print(table.concat(challenge.protection_space.distinguished_names, ' '), challenge.error)
          return 'use_credential', http.credential{ certificate = arg[3] }
        end
        print(get().body:find('Client certificate', 1, true) ~= nil)
        """, [server.url, authority.certificate, leaf.both], prints: ["CN=Test Authority\tnil", "200\t2", "true"])
  }

  @Test("Pins, and a certificate that has been rotated")
  func pins() async throws {
    let server = try TLSServer(authority.leaf("host", "DNS:localhost"))
    let next = try authority.leaf("next", "DNS:localhost")
    try await expectScript(
      """
      local function try(policy)
        local r, err = http.session{ ca_file = arg[2], security_policy = policy }:get(base)
        print(r and r.status or err.code)
      end
      try(http.security_policy{ pinning = 'certificate', certificates = { arg[3] } })
      try{ pinning = 'public_key', certificates = { io.open(arg[3]):read('a') } }
      try(http.security_policy{ pinning = 'certificate', certificates = { arg[4] } })
      try{ pinning = 'public_key', certificates = { 'sha256//' .. ('A'):rep(43) .. '=' } }
      try{ pinning = 'public_key', certificates = { arg[4], arg[3] } }
      try{ pinning = 'public_key', certificates = { '/absent' } }
      try{ hosts = { localhost = { pinning = 'certificate', certificates = { arg[4] } } } }
      try{ hosts = { ['*.example.org'] = { pinning = 'certificate', certificates = { arg[4] } } } }
      local pin
      local session = http.session({ ca_file = arg[2] }, { session_did_receive_challenge = function(_, challenge)
        pin = challenge.protection_space.server_trust.certificates[1].public_key_pin
      end })
      assert(session:get(base))
      try{ pinning = 'public_key', certificates = { pin } }
      local asked
      local session = http.session({ ca_file = arg[2],
        security_policy = { pinning = 'certificate', certificates = { arg[4] } } },
        { session_did_receive_challenge = function(_, challenge)
          asked = challenge.protection_space.server_trust.verdict
        end })
      print(select(2, session:get(base)).code, asked.text)
      """, [server.url, authority.certificate, authority.directory.path + "/host.crt", next.certificate],
      prints: [
        "200", "200", "server_certificate_untrusted", "server_certificate_untrusted", "200", "file_does_not_exist",
        "server_certificate_untrusted", "200", "200",
        "server_certificate_untrusted\tno certificate of the chain is pinned",
      ])
  }

  @Test("Policies that make no sense raise at the script's line")
  func misuse() async throws {
    try await expectScript(
      """
      local function try(fn, ...) print((select(2, pcall(fn, ...)):gsub('^.-:%d+: ', ''))) end
      try(http.security_policy, { pining = 'none' })
      try(http.security_policy, { pinning = 'public' })
      try(http.security_policy, { pinning = 'certificate' })
      try(http.security_policy, { certificates = { 'a.pem' } })
      try(http.security_policy, { pinning = 'public_key', certificates = { 'sha256//abc' } })
      try(http.security_policy, { hosts = { ['*'] = {} } })
      try(http.session, { transport_security = { exceptions = { ['*.a.example'] = {} } } })
      try(http.session, { transport_security = { minimum_tls = '1.4' } })
      try(http.session, { transport_security = { minimum_tls = '1.3' }, tls_maximum_supported = '1.2' })
      try(http.session, { client_certificate = { key = 'k' } })
      try(http.credential, { trust = {} })
      """,
      prints: [
        "unknown option 'pining' (did you mean 'pinning'?)", "unknown pinning 'public' (did you mean 'public_key'?)",
        "a security policy pins the certificate and has no 'certificates'",
        "a security policy has 'certificates' but no 'pinning'",
        "\"sha256//abc\" is no pin: after \"sha256//\" comes the Base64 of 32 bytes",
        "a key of 'hosts' must be a host or \"*.\" and a domain, not \"*\"",
        "a key of 'transport_security.exceptions' must be a host, not \"*.a.example\" ('include_subdomains' is for those below)",
        "'transport_security''s 'minimum_tls' must be \"1.0\", \"1.1\", \"1.2\" or \"1.3\"",
        "'transport_security.minimum_tls' must not be above 'tls_maximum_supported'",
        "'client_certificate' needs a 'certificate'",
        "a credential's 'trust' must be the server_trust of a challenge, not table",
      ])
  }

  @Test("Transport security: nothing goes out in clear text, also after a redirect")
  func transportSecurity() async throws {
    let plain = try ScriptedServer { request in
      .redirect(to: "http://other.localhost:\(request.all("host").first?.split(separator: ":").last ?? "")/")
    }
    try await expectScript(
      """
      local port = base:match(':(%d+)$')
      local function try(security, url)
        local r, err = http.session{ transport_security = security }:get(url or base)
        print(r and r.status or err.code, not r and err.url == (url or base))
      end
      try{ allows_arbitrary_loads = false }
      try{ exceptions = { ['127.0.0.1'] = {} } }
      try({ allows_arbitrary_loads = false, exceptions = { localhost = { allows_insecure_http_loads = true } } },
        'http://sub.localhost:' .. port)
      try({ allows_arbitrary_loads = false, exceptions = { ['127.0.0.1'] = { allows_insecure_http_loads = true } } })
      """, [plain.url],
      prints: [
        "app_transport_security_requires_secure_connection\ttrue",
        "app_transport_security_requires_secure_connection\ttrue",
        "app_transport_security_requires_secure_connection\ttrue",
        "app_transport_security_requires_secure_connection\tfalse",
      ])
    #expect(plain.requests.count == 1)
  }
}
