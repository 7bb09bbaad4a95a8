import TestSupport
import Testing

@testable import SessionCore

@Suite("Server trust against OpenSSL servers")
struct ServerTrustTests {
  private let authority: TestAuthority

  init() throws { authority = try TestAuthority() }

  /// A client that trusts the test's authority.
  private func client(_ change: (inout SessionConfiguration) -> Void = { _ in }) -> Client {
    Client {
      $0.caFile = authority.certificate
      change(&$0)
    }
  }

  private func get(
    _ server: TLSServer, host: String = "localhost", _ change: (inout SessionConfiguration) -> Void = { _ in }
  ) -> Completion {
    let client = client {
      $0.resolve = [("\(host):\(server.port)", "127.0.0.1")]
      change(&$0)
    }
    return client.get("https://\(host):\(server.port)/")
  }

  /// Both versions of the protocol, whose handshakes differ in order.
  static let versions = ["1.2", "1.3"]

  @Test("Each fault has its own code, and its words", arguments: versions)
  func faults(version: String) throws {
    let terms = TLSServer.Terms(version: version)
    let other = try TestAuthority(name: "Unknown Authority")
    let cases: [(TestAuthority.Leaf, String, words: String)] = [
      (
        try authority.selfSigned("self", "DNS:localhost"), "server_certificate_has_unknown_root",
        "self-signed certificate"
      ),
      (try other.leaf("lone", "DNS:localhost"), "server_certificate_has_unknown_root", "issuer"),
      (try authority.leaf("wrong", "DNS:other.example"), "server_certificate_untrusted", "it is for DNS:other.example"),
      (try authority.leaf("past", "DNS:localhost", .past), "server_certificate_has_bad_date", "2021 00:00:00 GMT"),
      (
        try authority.leaf("future", "DNS:localhost", .future), "server_certificate_not_yet_valid",
        "before Wed, 01 Jan 2070"
      ),
    ]
    for (leaf, code, words) in cases {
      let server = try TLSServer(leaf, terms: terms)
      let result = get(server)
      #expect(result.errorName == code)
      #expect(result.error?.message.contains(words) == true, "\(String(describing: result.error))")
      #expect(result.error?.url == server.url + "/")
      #expect(result.error?.underlying?.source == .libcurl)
      #expect(result.error?.underlying?.code == 60)
      #expect(result.response == nil)
    }
  }

  @Test("Names and addresses, by the certificate's alternative names")
  func names() throws {
    let server = try TLSServer(
      authority.leaf("host", "DNS:localhost,DNS:*.wild.example,IP:127.0.0.1"), terms: .init())
    for host in ["localhost", "127.0.0.1", "LOCALHOST", "a.wild.example", "localhost."] {
      #expect(get(server, host: host).status == 200, "\(host)")
    }
    for host in ["wild.example", "a.b.wild.example", "other.example"] {
      #expect(get(server, host: host).errorName == "server_certificate_untrusted", "\(host)")
    }
    let nameOnly = try TLSServer(authority.leaf("name", "DNS:127.0.0.1,DNS:localhost"))
    #expect(get(nameOnly, host: "127.0.0.1").errorName == "server_certificate_untrusted")
    let addressOnly = try TLSServer(authority.leaf("address", "IP:127.0.0.1"))
    #expect(get(addressOnly, host: "127.0.0.1").status == 200)
    #expect(get(addressOnly).errorName == "server_certificate_untrusted")
  }

  @Test("A stapled response that revokes the certificate is believed, one about another is not", arguments: versions)
  func revocation(version: String) throws {
    let leaf = try authority.leaf("host", "DNS:localhost")
    let good = try authority.status(of: "host")
    let switches = ["-tls" + version.split(separator: ".").joined(separator: "_"), "-status_file"]
    let server = try OpenSSLServer(leaf, switches + [good])
    #expect(client().get(server.url + "/").status == 200)
    // The file is written anew; what the server has read stays.
    let revoked = try OpenSSLServer(leaf, switches + [authority.status(of: "host", revoking: true)])
    let result = client().get(revoked.url + "/")
    #expect(result.errorName == "server_certificate_untrusted")
    #expect(result.error?.message.contains("certificate revoked") == true)
    let other = try authority.leaf("other", "DNS:localhost")
    let foreign = try OpenSSLServer(other, switches + [authority.directory.path + "/host.ocsp"])
    #expect(client().get(foreign.url + "/").status == 200)
    let forger = try TestAuthority()
    let forged = try forger.leaf("host", "DNS:localhost")
    let unsigned = try OpenSSLServer(leaf, switches + [forger.status(of: "host", revoking: true)])
    #expect(client().get(unsigned.url + "/").status == 200)
    _ = forged
    #expect(client { $0.securityPolicies.usual.allowsInvalidCertificates = true }.get(revoked.url + "/").status == 200)
  }

  @Test("Policies by host: invalid certificates, names, pins, and pins that have been rotated", arguments: versions)
  func policies(version: String) throws {
    let terms = TLSServer.Terms(version: version)
    let leaf = try authority.leaf("host", "DNS:localhost")
    let server = try TLSServer(leaf, terms: terms)
    func result(_ change: (inout SecurityPolicy) -> Void) -> String? {
      let result = get(server) { change(&$0.securityPolicies.usual) }
      return result.errorName ?? result.status.map(String.init)
    }
    for pinning in [SecurityPolicy.Pinning.publicKey, .certificate] {
      for pinned in [leaf.certificate, authority.certificate] {
        #expect(result { ($0.pinning, $0.certificates) = (pinning, [pinned]) } == "200", "\(pinning) \(pinned)")
      }
      let rotated = try authority.leaf("rotated", "DNS:localhost")
      #expect(
        result { ($0.pinning, $0.certificates) = (pinning, [rotated.certificate]) } == "server_certificate_untrusted")
      #expect(result { ($0.pinning, $0.certificates) = (pinning, [rotated.certificate, leaf.certificate]) } == "200")
      #expect(result { ($0.pinning, $0.certificates) = (pinning, ["/absent"]) } == "file_does_not_exist")
    }
    // The same key in a new certificate.
    try authority.run(
      """
      openssl req -new -key host.key -subj /CN=renewed -addext subjectAltName=DNS:localhost -out renewed.csr
      openssl ca -batch -notext -config ca.cnf -in renewed.csr -out renewed.crt -days 2
      """)
    let renewed = authority.directory.path + "/renewed.crt"
    #expect(result { ($0.pinning, $0.certificates) = (.publicKey, [renewed]) } == "200")
    #expect(result { ($0.pinning, $0.certificates) = (.certificate, [renewed]) } == "server_certificate_untrusted")
    let loose = get(server, host: "other.example") { $0.securityPolicies.usual.validatesDomainName = false }
    #expect(loose.status == 200)
    let byHost = get(server, host: "www.other.example") {
      var policy = SecurityPolicy()
      policy.validatesDomainName = false
      $0.securityPolicies.byHost = [("*.other.example", policy)]
    }
    #expect(byHost.status == 200)
  }

  @Test("A certificate that only claims to be signed by a pinned authority is not pinned")
  func forgedChain() throws {
    let genuine = try TestAuthority(name: "Pinned Authority")
    let forger = try TestAuthority(name: "Pinned Authority")
    let leaf = try forger.leaf("host", "DNS:localhost")
    try forger.run("cat host.crt '\(genuine.certificate)' host.key >host.pem")
    let server = try TLSServer(leaf)
    for allowsInvalid in [true, false] {
      let result = get(server) {
        $0.securityPolicies.usual.pinning = .certificate
        $0.securityPolicies.usual.certificates = [genuine.certificate]
        $0.securityPolicies.usual.allowsInvalidCertificates = allowsInvalid
      }
      #expect(result.error != nil)
      #expect(result.status == nil)
    }
    let honest = try genuine.leaf("host", "DNS:localhost")
    try genuine.run("cat host.crt ca.pem host.key >host.pem")
    let pinned = get(try TLSServer(honest)) {
      $0.securityPolicies.usual.pinning = .certificate
      $0.securityPolicies.usual.certificates = [genuine.certificate]
      $0.securityPolicies.usual.allowsInvalidCertificates = true
    }
    #expect(pinned.status == 200)
  }

  @Test("A directory of authorities; versions; none trusted by default")
  func settings() throws {
    let server = try TLSServer(authority.leaf("host", "DNS:localhost"), terms: .init(version: "1.2"))
    try authority.run("mkdir trusted; cp ca.pem trusted/; openssl rehash trusted")
    let directory = Client { $0.caFile = authority.directory.path + "/trusted" }
    #expect(directory.get(server.url + "/").status == 200)
    #expect(Client().get(server.url + "/").errorName == "server_certificate_has_unknown_root")
    #expect(get(server) { $0.tlsMinimum = .v1_3 }.errorName == "secure_connection_failed")
    #expect(get(server) { $0.transportSecurity.minimumTLS = .v1_3 }.errorName == "secure_connection_failed")
    let result = get(server) {
      $0.transportSecurity.minimumTLS = .v1_3
      $0.transportSecurity.exceptions = [.init(host: "localhost", minimumTLS: .v1_2)]
    }
    #expect(result.status == 200)
    #expect(result.metrics.transactions.last?.tlsVersion == "TLSv1.2")
    let absent = Client { $0.caFile = "/absent.pem" }
    #expect(absent.get(server.url + "/").errorName == "file_does_not_exist")
  }

  @Test("Client certificates: shown where asked for, required, refused", arguments: versions)
  func clientCertificates(version: String) throws {
    let clients = try TestAuthority(name: "Client Authority")
    var terms = TLSServer.Terms(clientAuthority: clients.certificate, version: version)
    let leaf = try authority.leaf("host", "DNS:localhost")
    let server = try TLSServer(leaf, terms: terms)
    let mine = try clients.leaf("me", "")
    let shown = get(server) { $0.clientCertificate = ClientCertificate(certificate: mine.both) }
    #expect(shown.status == 200)
    #expect(shown.fields("x-client") == ["me"])
    #expect(get(server).errorName == "client_certificate_required")
    for wrong in [try authority.leaf("stranger", ""), try clients.leaf("old", "", .past)] {
      let refused = get(server) { $0.clientCertificate = ClientCertificate(certificate: wrong.both) }
      #expect(refused.errorName == "client_certificate_rejected", "\(String(describing: refused.error))")
      #expect(refused.error?.underlying?.source == .libcurl)
    }
    terms.certificateIsOptional = true
    let lenient = try TLSServer(leaf, terms: terms)
    #expect(get(lenient).status == 200)
    let missing = get(lenient) { $0.clientCertificate = ClientCertificate(certificate: "/absent.pem") }
    #expect(missing.errorName == "file_does_not_exist")
  }

  @Test("A proxy's certificate is verified by itself, whatever the policy for the server")
  func proxies() throws {
    let server = try TLSServer(authority.leaf("host", "DNS:localhost"))
    let wrong = try TLSServer(authority.leaf("other", "DNS:other.example"))
    let good = try TLSProxy(authority.leaf("proxy", "IP:127.0.0.1"))
    func through(_ proxy: TLSProxy, _ server: TLSServer, _ change: (inout SessionConfiguration) -> Void = { _ in })
      -> Completion
    {
      get(server) {
        $0.proxy = .url(proxy.url, noProxy: "")
        change(&$0)
      }
    }
    let loose: (inout SessionConfiguration) -> Void = {
      $0.securityPolicies.usual.allowsInvalidCertificates = true
      $0.securityPolicies.usual.validatesDomainName = false
    }
    #expect(through(good, server).status == 200)
    #expect(through(good, wrong).error?.message.contains("it is for DNS:other.example") == true)
    #expect(through(good, wrong, loose).status == 200)
    let cases = [
      (try authority.leaf("misnamed", "DNS:localhost"), "server_certificate_untrusted"),
      (try authority.selfSigned("lone", "IP:127.0.0.1"), "server_certificate_has_unknown_root"),
      (try authority.leaf("stale", "IP:127.0.0.1", .past), "server_certificate_has_bad_date"),
    ]
    for (leaf, code) in cases {
      let result = through(try TLSProxy(leaf), server, loose)
      #expect(result.errorName == code)
      #expect(result.error?.message.hasPrefix("the proxy's certificate") == true, "\(String(describing: result.error))")
    }
  }

  @Test("Clear text where transport security forbids it: nothing is sent, also after a redirect")
  func clearText() throws {
    let code = "app_transport_security_requires_secure_connection"
    let plain = try ScriptedServer.answering { request, _ in
      reply("302 Found", ["Location: http://other.example:\(request.field("host")?.split(separator: ":").last ?? "")/"])
    }
    defer { plain.stop() }
    let strict = client { $0.transportSecurity.allowsArbitraryLoads = false }
    #expect(strict.get(plain.url()).errorName == code)
    #expect(plain.connectionCount == 0)
    let half = client {
      $0.transportSecurity.allowsArbitraryLoads = false
      $0.transportSecurity.exceptions = [.init(host: "127.0.0.1", allowsInsecureHTTPLoads: true)]
      $0.resolve = [("other.example:\(plain.port)", "127.0.0.1")]
    }
    let result = half.get(plain.url())
    #expect(result.errorName == code)
    #expect(result.error?.url == "http://other.example:\(plain.port)/")
    #expect(plain.requests.count == 1)
  }
}
