import Testing

@testable import SessionCore

@Suite("Security policies and transport security")
struct PolicyTests {
  private static let unknownRoot = TrustProblem(code: 20, depth: 1)
  private static let expired = TrustProblem(code: 10)
  private static let badSignature = TrustProblem(code: 7)

  @Test("What a policy forgives, and what it never does")
  func forgiveness() {
    var policy = SecurityPolicy()
    #expect(policy.refusal([], pinned: nil) == nil)
    #expect(policy.refusal([Self.unknownRoot, Self.expired], pinned: nil) == Self.unknownRoot)
    #expect(policy.refusal([.wrongName], pinned: nil) == .wrongName)
    policy.allowsInvalidCertificates = true
    #expect(policy.refusal([Self.unknownRoot, Self.expired, .revoked], pinned: nil) == nil)
    #expect(policy.refusal([Self.expired, .wrongName], pinned: nil) == .wrongName)
    policy.validatesDomainName = false
    #expect(policy.refusal([Self.expired, .wrongName, .wrongAddress], pinned: nil) == nil)
    policy.allowsInvalidCertificates = false
    #expect(policy.refusal([.wrongName], pinned: nil) == nil)
    #expect(policy.refusal([.wrongName, Self.expired], pinned: nil) == Self.expired)
  }

  @Test("A pin comes on top, and in a forgiven chain only what is signed counts")
  func pins() {
    var policy = SecurityPolicy()
    policy.pinning = .publicKey
    #expect(policy.refusal([], pinned: nil) == .notPinned)
    #expect(policy.refusal([], pinned: 2) == nil)
    #expect(policy.refusal([Self.unknownRoot], pinned: 0) == Self.unknownRoot)
    policy.allowsInvalidCertificates = true
    #expect(policy.refusal([Self.unknownRoot], pinned: 1) == nil)
    #expect(policy.refusal([Self.unknownRoot], pinned: nil) == .notPinned)
    #expect(policy.refusal([Self.unknownRoot, Self.badSignature], pinned: 1) == .notPinned)
    #expect(policy.refusal([Self.unknownRoot, TrustProblem(code: 79, depth: 1)], pinned: 1) == .notPinned)
    #expect(policy.refusal([Self.badSignature], pinned: 0) == nil)
  }

  @Test(
    "Problems have the codes that URLSession gives them",
    arguments: [
      (10, "server_certificate_has_bad_date"), (9, "server_certificate_not_yet_valid"),
      (18, "server_certificate_has_unknown_root"), (19, "server_certificate_has_unknown_root"),
      (20, "server_certificate_has_unknown_root"), (62, "server_certificate_untrusted"),
      (64, "server_certificate_untrusted"), (23, "server_certificate_untrusted"), (7, "server_certificate_untrusted"),
      (50, "server_certificate_untrusted"),
    ])
  func codes(number: Int, name: String) {
    #expect(TrustProblem(code: number).errorCode.name == name)
  }

  @Test("The policy that says the most of a host is the one")
  func patterns() {
    let entries = [
      (pattern: "*.example.org", value: 1), ("api.example.org", 2), ("*.eu.example.org", 3), ("[::1]", 4),
      ("Other.Example", 5),
    ]
    #expect(HostPattern.best(entries, for: "www.example.org") == 1)
    #expect(HostPattern.best(entries, for: "API.example.org.") == 2)
    #expect(HostPattern.best(entries, for: "a.b.eu.example.org") == 3)
    #expect(HostPattern.best(entries, for: "example.org") == nil)
    #expect(HostPattern.best(entries, for: "badexample.org") == nil)
    #expect(HostPattern.best(entries, for: "[::1]") == 4)
    #expect(HostPattern.best(entries, for: "other.example") == 5)
    #expect(HostPattern.normalized("[fe80::1%25eth0]") == "fe80::1")
  }

  @Test("Transport security by scheme, host and exception")
  func transport() {
    var security = TransportSecurity()
    #expect(security.problem(scheme: "http", host: "a.example") == nil)
    #expect(security.minimumTLS(for: "a.example") == nil)
    security.exceptions = [
      .init(host: "strict.example"),
      .init(host: "old.example", includesSubdomains: true, allowsInsecureHTTPLoads: true, minimumTLS: .v1_0),
    ]
    let code = "app_transport_security_requires_secure_connection"
    #expect(security.problem(scheme: "http", host: "strict.example")?.code.name == code)
    #expect(security.problem(scheme: "https", host: "strict.example") == nil)
    #expect(security.minimumTLS(for: "strict.example") == .v1_2)
    security.allowsArbitraryLoads = false
    #expect(security.problem(scheme: "http", host: "a.example")?.code.name == code)
    #expect(security.problem(scheme: "http", host: "old.example") == nil)
    #expect(security.problem(scheme: "http", host: "www.OLD.example") == nil)
    #expect(security.minimumTLS(for: "a.example") == .v1_2)
    #expect(security.minimumTLS(for: "www.old.example") == .v1_0)
    security.minimumTLS = .v1_3
    #expect(security.minimumTLS(for: "a.example") == .v1_3)
  }
}
