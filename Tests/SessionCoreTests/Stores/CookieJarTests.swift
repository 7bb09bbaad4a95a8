import Testing

@testable import SessionCore

@Suite struct CookieJarTests {
  static let now = 1_796_000_000.0
  let https = CookiePlace(isSecure: true, host: "www.example.com", path: "/a/b")
  let http = CookiePlace(isSecure: false, host: "www.example.com", path: "/a/b")

  private func set(
    _ line: String, from place: CookiePlace, in jar: inout CookieJar, now: Double = now
  ) -> CookieRefusal? {
    switch Array(line.utf8).withUnsafeBytes({ SetCookie.parse($0).flatMap { $0.cookie(from: place, now: now) } }) {
    case .success(let cookie): return jar.set(cookie, from: place, now: now)
    case .failure(let refusal): return refusal
    }
  }

  private func sent(_ jar: inout CookieJar, to place: CookiePlace, now: Double = now) -> String {
    var field: [UInt8] = []
    for cookie in jar.cookies(for: place, now: now) { cookie.appendPair(to: &field) }
    return String(decoding: field, as: UTF8.self)
  }

  static let refusals: [(String, CookieRefusal)] = [
    ("a=b\u{1}", .controlCharacter), (";Path=/", .empty), ("a=" + String(repeating: "x", count: 4096), .tooLarge),
    ("a=b; Domain=example.org", .otherDomain), ("a=b; Domain=com", .publicSuffix),
    ("a=b; Domain=w.example.com", .otherDomain), ("a=b; Secure", .needsSecureOrigin),
    ("__Secure-a=b", .prefix), ("__HOST-a=b; Secure; Path=/", .needsSecureOrigin), ("__host-a=b; Path=/", .prefix),
    ("=__Secure-a=b", .prefix), ("__Host-", .prefix),
  ]

  @Test("What is refused over http", arguments: refusals)
  func refused(line: String, refusal: CookieRefusal) {
    var jar = CookieJar()
    #expect(set(line, from: http, in: &jar) == refusal)
    #expect(jar.isEmpty)
  }

  @Test(
    "Prefixes keep their promise",
    arguments: [
      ("__Host-a=b; Secure; Path=/", true), ("__Host-a=b; Secure", false), ("__Host-a=b; Path=/", false),
      ("__Host-a=b; Secure; Path=/; Domain=www.example.com", false), ("__Secure-a=b; Secure; Path=/x", true),
    ])
  func prefixes(line: String, isTaken: Bool) {
    var jar = CookieJar()
    #expect((set(line, from: https, in: &jar) == nil) == isTaken)
  }

  @Test("http leaves Secure cookies alone")
  func secureStays() {
    var jar = CookieJar()
    #expect(set("a=1; Secure; Path=/a", from: https, in: &jar) == nil)
    #expect(set("a=2; Path=/a/b", from: http, in: &jar) == .wouldHideSecure)
    #expect(set("a=2; Path=/a; Domain=example.com", from: http, in: &jar) == .wouldHideSecure)
    #expect(set("a=3; Path=/", from: http, in: &jar) == nil)
    #expect(sent(&jar, to: http) == "a=3")
    #expect(sent(&jar, to: https) == "a=1; a=3")
  }

  @Test("A replaced cookie keeps its place, and Max-Age comes before Expires")
  func replacement() {
    var jar = CookieJar()
    for line in ["a=1", "b=1", "a=2; Max-Age=10; Expires=Thu, 01 Jan 1970 00:00:00 GMT"] {
      _ = set(line, from: http, in: &jar)
    }
    #expect(sent(&jar, to: http) == "a=2; b=1")
    #expect(sent(&jar, to: http, now: Self.now + 10) == "b=1")
    #expect(set("b=; Max-Age=0", from: http, in: &jar) == nil)
    #expect(sent(&jar, to: http) == "a=2")
  }

  @Test("A time that is known stays, and a new cookie is the newest")
  func knownTimes() {
    var jar = CookieJar()
    func cookie(_ name: String, _ created: Double) -> Cookie {
      Cookie(name: Array(name.utf8), value: [1], domain: http.host, created: created)
    }
    jar.set(cookie("b", Self.now + 0.5), now: Self.now, isDated: true)
    jar.set(cookie("a", Self.now + 0.25), now: Self.now, isDated: true)
    jar.set(cookie("c", Self.now), now: Self.now)
    let sent = jar.cookies(for: http, now: Self.now)
    #expect(sent.map { String(decoding: $0.name, as: UTF8.self) } == ["a", "b", "c"])
    #expect(sent.map(\.created) == [Self.now + 0.25, Self.now + 0.5, (Self.now + 0.5).nextUp])
  }

  @Test("No cookie lives longer than 400 days")
  func longestLife() throws {
    var jar = CookieJar()
    _ = set("a=1; Max-Age=99999999999999999999", from: http, in: &jar)
    _ = set("b=1; Expires=Fri, 31 Dec 9999 23:59:59 GMT", from: http, in: &jar)
    #expect(jar.all.allSatisfy { $0.expires == Self.now + 400 * 86400 })
  }

  @Test("An address is only ever itself")
  func addresses() {
    var jar = CookieJar()
    let address = CookiePlace(isSecure: false, host: "127.0.0.1", path: "/")
    #expect(set("a=1; Domain=0.0.1", from: address, in: &jar) == .otherDomain)
    #expect(set("a=1; Domain=127.0.0.1", from: address, in: &jar) == nil)
    #expect(sent(&jar, to: address) == "a=1")
    #expect(sent(&jar, to: CookiePlace(isSecure: false, host: "x.127.0.0.1", path: "/")) == "")
  }

  @Test("A public suffix may set cookies for itself")
  func suffixItself() {
    var jar = CookieJar()
    let suffix = CookiePlace(isSecure: true, host: "github.io", path: "/")
    #expect(set("a=1; Domain=github.io", from: suffix, in: &jar) == nil)
    #expect(sent(&jar, to: suffix) == "a=1")
    #expect(sent(&jar, to: CookiePlace(isSecure: true, host: "x.github.io", path: "/")) == "")
  }

  @Test("Too many cookies: the least used go, Secure ones last")
  func limits() {
    var jar = CookieJar()
    _ = set("first=1; Secure", from: https, in: &jar, now: Self.now - 10)
    _ = set("used=1", from: http, in: &jar, now: Self.now - 10)
    for number in 0..<100 { _ = set("old\(number)=1", from: http, in: &jar, now: Self.now - 5) }
    _ = sent(&jar, to: http)
    for number in 0..<79 { _ = set("new\(number)=1", from: http, in: &jar) }
    #expect(jar.count == CookieJar.domainLimit.least)
    #expect(jar.all.contains { $0.name == Array("first".utf8) })
    for number in 0..<4000 {
      let place = CookiePlace(isSecure: false, host: "h\(number).test", path: "/")
      _ = set("a=1", from: place, in: &jar)
    }
    #expect(jar.count <= CookieJar.limit.most)
    #expect(jar.all.contains { $0.domain == "h3999.test" })
  }

  @Test("The accept policy")
  func policy() {
    let policy = CookieAcceptPolicy.onlyFromMainDocumentDomain
    #expect(policy.accepts(from: "a.example.com", mainDocument: nil))
    #expect(policy.accepts(from: "a.example.com", mainDocument: "www.example.com"))
    #expect(!policy.accepts(from: "ads.test", mainDocument: "www.example.com"))
    #expect(!policy.accepts(from: "b.github.io", mainDocument: "a.github.io"))
    #expect(!policy.accepts(from: "127.0.0.1", mainDocument: "127.0.0.2"))
    #expect(!CookieAcceptPolicy.never.accepts(from: "a.test", mainDocument: nil))
  }

  @Test("Changes say what a copy needs")
  func changes() {
    var jar = CookieJar()
    _ = set("a=1", from: http, in: &jar)
    let cookie = jar.all[0]
    #expect(jar.takeChanges() == [.put(cookie)])
    _ = set("a=1; Max-Age=0", from: http, in: &jar)
    #expect(jar.takeChanges() == [.remove(cookie.key)])
    #expect(jar.takeChanges().isEmpty)
  }
}
