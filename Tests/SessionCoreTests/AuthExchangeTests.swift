import TestSupport
import Testing

@testable import SessionCore

@Suite("Challenges, spaces and what was tried")
struct AuthExchangeTests {
  private static func challenges(_ fields: String...) -> [AuthenticationChallenge] {
    ChallengeParser.parse(fields.map { Octets($0) })
  }

  private static func password(_ word: String) -> Credential {
    Credential(.password(user: "u", password: Octets(word)))
  }

  @Test("The public rows for Digest challenges")
  func parsing() throws {
    var score = Score("http_auth, challenges")
    for row in try Fixture.json("http_auth.json")["digest_challenge_parsing"].array {
      let name = row["comment"].string ?? ""
      let challenge = ChallengeParser.parse([Octets(row["challenge"].string ?? "")]).first
      if row["parse_ok"].isTrue {
        let isRight =
          challenge?.scheme == "digest" && challenge?.realm.text == row["realm"].string
          && challenge?.parameter("nonce") == row["nonce"].string
          && challenge?.parameter("domain") ?? "" == row["domain"].string
        score.record(name, isRight, "\(String(describing: challenge))")
      } else {
        // What cannot be answered is shown to a handler as it is; libcurl refuses to answer it.
        score.skip(name, "not for the parser to refuse")
      }
    }
    try score.hold(floor: 10)
  }

  @Test("Strongest first; equals in the server's order; one Digest challenge, the first")
  func ranking() {
    let all = Self.challenges(
      "Basic realm=\"b\", Custom a=b, Bearer realm=\"t\"", "NTLM", "Digest realm=\"m\", nonce=\"1\"",
      "Digest realm=\"s\", nonce=\"2\", algorithm=SHA-256", "Negotiate")
    let names = ChallengeRanking.strongestFirst(all).map { "\($0.scheme) \($0.realm.text ?? "?")" }
    #expect(names == ["negotiate ", "digest m", "ntlm ", "custom ", "bearer t", "basic b"])
    let strong = Self.challenges("Basic realm=\"b\"", "Digest realm=\"s\", nonce=\"2\", algorithm=SHA-256", "NTLM")
    #expect(ChallengeRanking.strongestFirst(strong).map(\.scheme) == ["digest", "ntlm", "basic"])
  }

  @Test("A refusal is counted for its space, and remembered")
  func refusal() throws {
    var exchange = AuthExchange()
    exchange.receive(Self.challenges("Basic realm=\"r\""))
    let offer = try #require(exchange.current)
    #expect(exchange.failureCount(of: offer) == 0)
    exchange.answer(offer, with: Self.password("a"))
    #expect(exchange.receive(Self.challenges("Basic realm=\"r\"")) != nil)
    #expect(exchange.failureCount(of: offer) == 1)
    #expect(exchange.wasRefused(Self.password("a"), for: offer))
    #expect(!exchange.wasRefused(Self.password("b"), for: offer))
    exchange.answer(offer, with: Self.password("b"))
    // Another space: the answer may well have been right.
    #expect(exchange.receive(Self.challenges("Basic realm=\"other\"")) == nil)
    #expect(exchange.failureCount(of: try #require(exchange.current)) == 0)
  }

  @Test("Credentials sent unasked count only where they are the task's own")
  func anticipation() throws {
    var exchange = AuthExchange()
    exchange.anticipate(
      AuthExchange.Attempt(method: "bearer", realm: "", credential: Credential(.token("t")), counts: false))
    exchange.receive(Self.challenges("Bearer"))
    let offer = try #require(exchange.current)
    #expect(exchange.failureCount(of: offer) == 0)
    #expect(exchange.wasRefused(Credential(.token("t")), for: offer))
  }

  @Test("What was accepted is told once, and only what answered a challenge")
  func acceptance() throws {
    var exchange = AuthExchange()
    exchange.receive(Self.challenges("Basic realm=\"r\""))
    exchange.answer(try #require(exchange.current), with: Self.password("a"))
    #expect(exchange.accepted()?.0 == Self.password("a"))
    #expect(exchange.accepted() == nil)
    exchange.anticipate(AuthExchange.Attempt(method: "basic", credential: Self.password("a")))
    #expect(exchange.accepted() == nil)
  }

  @Test("Spaces: the deepest directory wins, and is forgotten with its credential")
  func spaces() {
    let spaces = AuthenticatedSpaces()
    let place = Place(scheme: "http", host: "h", port: 80)
    func entry(_ realm: Octets, _ word: String, _ directories: String...) -> AuthenticatedSpaces.Entry {
      AuthenticatedSpaces.Entry(
        realm: realm, method: "basic", credential: Self.password(word), answer: .field(Octets(word)),
        directories: directories)
    }
    spaces.accept(entry("r", "outer", "/a/"), at: place)
    spaces.accept(entry("s", "inner", "/a/b/"), at: place)
    #expect(spaces.server(place, path: "/a/x")?.realm == "r")
    #expect(spaces.server(place, path: "/a/b/x")?.realm == "s")
    #expect(spaces.server(place, path: "/ab") == nil)
    #expect(spaces.server(Place(scheme: "https", host: "h", port: 443), path: "/a/x") == nil)
    spaces.accept(entry("r", "new", "/c/"), at: place)
    #expect(spaces.server(place, path: "/a/x")?.answer == .field("new"))
    spaces.forget(Self.password("outer"), at: place, isProxy: false)
    #expect(spaces.server(place, path: "/c/x") != nil)
    spaces.forget(Self.password("new"), at: place, isProxy: false)
    #expect(spaces.server(place, path: "/c/x") == nil)
    #expect(spaces.server(place, path: "/a/b/") != nil)
  }

  @Test("Where credentials answer what they fit")
  func answers() {
    #expect(AuthAnswer(Self.password("p"), scheme: "basic", isProxy: false) == .field("Basic dTpw"))
    #expect(AuthAnswer(Self.password("p"), scheme: "basic", isProxy: true)?.isLibcurls == true)
    #expect(AuthAnswer(Self.password("p"), scheme: "digest", isProxy: false)?.isLibcurls == true)
    #expect(AuthAnswer(Self.password("p"), scheme: "bearer", isProxy: false) == nil)
    #expect(AuthAnswer(Credential(.token("t")), scheme: "bearer", isProxy: false) == .field("Bearer t"))
    #expect(AuthAnswer(Credential(.token("t")), scheme: "vendor", isProxy: false) == .field("vendor t"))
    #expect(AuthAnswer(Credential(.token("t")), scheme: "basic", isProxy: false) == nil)
    #expect(AuthAnswer(Credential(.token("a\r\nb")), scheme: "bearer", isProxy: false) == nil)
    let line = Credential(.password(user: "a\r\nb", password: "p"))
    #expect(AuthAnswer(line, scheme: "digest", isProxy: false) == nil)
    let bytes = Credential(.password(user: Octets(bytes: [0x75, 0xE9]), password: Octets(bytes: [0xFC])))
    #expect(AuthAnswer(bytes, scheme: "basic", isProxy: false) == .field("Basic dek6/A=="))
  }

  @Test("Hashes: the published vectors")
  func hashes() {
    func text(_ bytes: [UInt8]?) -> String {
      (bytes ?? []).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
    let abc = Array("abc".utf8)
    abc.withUnsafeBytes { abc in
      #expect(text(Hash.md5.digest(abc)) == "900150983cd24fb0d6963f7d28e17f72")
      #expect(text(Hash.sha1.digest(abc)) == "a9993e364706816aba3e25717850c26c9cd0d89d")
      #expect(text(Hash.sha256.digest(abc)) == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
      #expect(text(Hash.sha512.digest(abc)).hasPrefix("ddaf35a193617aba"))
    }
    let (key, data) = (Array("Jefe".utf8), Array("what do ya want for nothing?".utf8))
    let code = key.withUnsafeBytes { key in data.withUnsafeBytes { Hash.sha256.hmac(key: key, $0) } }
    #expect(text(code) == "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843")
    let nothing = UnsafeRawBufferPointer(start: nil, count: 0)
    #expect(text(Hash.sha256.hmac(key: nothing, nothing)).hasPrefix("b613679a0814d9ec"))
    #expect(Hash.random(16)?.count == 16 && Hash.random(16) != Hash.random(16))
  }
}
