import Testing

@testable import SessionCore

@Suite("Challenges, heads, timers")
struct ParsingTests {
  @Test("Challenges: lists, quotes, tokens, case, several lines")
  func challenges() {
    let several = ChallengeParser.parse([
      "Newauth realm=\"apps, inner\", type=1, title=\"Login to \\\"apps\\\"\", Basic realm=\"simple\""
    ])
    #expect(several.map(\.scheme) == ["newauth", "basic"])
    #expect(several.map(\.realm) == ["apps, inner", "simple"])
    #expect(several.first?.parameter("title") == "Login to \"apps\"")
    #expect(several.first?.parameter("type") == "1")
    let lines = ChallengeParser.parse(["Negotiate", "Basic realm=\"x\""])
    #expect(lines.map(\.scheme) == ["negotiate", "basic"])
    #expect(ChallengeParser.parse(["NTLM TlRMTVNTUAAC=="]).first?.token == "TlRMTVNTUAAC==")
    #expect(ChallengeParser.parse(["Negotiate oYG==, Basic realm=a"]).map(\.token) == ["oYG==", nil])
    let loose = ChallengeParser.parse([
      " , ,basic  REALM = \"x\" ,, charset=UTF-8, Digest nonce=abc,qop=\"auth,auth-int\""
    ])
    #expect(loose.map(\.scheme) == ["basic", "digest"])
    #expect(loose.first?.realm == "x")
    #expect(loose.first?.parameter("charset") == "UTF-8")
    #expect(loose.last?.parameter("qop") == "auth,auth-int")
    #expect(loose.last?.parameter("nonce") == "abc")
    #expect(ChallengeParser.parse(["", "=", "\"open", "(x) y=z", ","]).allSatisfy { !$0.scheme.isEmpty })
    #expect(ChallengeParser.parse(["Basic realm=\"never closed"]).first?.realm == "never closed")
    let latin1 = Octets(bytes: Array("Basic realm=\"caf".utf8) + [0xE9, UInt8(ascii: "\"")])
    #expect(ChallengeParser.parse([latin1]).first?.realm == Octets(bytes: Array("caf".utf8) + [0xE9]))
  }

  private func intake(_ lines: [String]) -> ResponseIntake {
    var intake = ResponseIntake()
    for line in lines { Array(line.utf8).withUnsafeBytes { _ = intake.receive($0) } }
    return intake
  }

  @Test("Heads: the last one counts, trailers and folds are where they belong")
  func heads() {
    let result = intake([
      "HTTP/1.1 103 Early Hints\r\n", "Location: /no\r\n", "Content-Length: 9\r\n", "\r\n",
      "HTTP/1.1 302 Moved Here\r\n", "LOCATION:  /yes \r\n", "X: a\r\n", " b\r\n", "Content-Length: 5\r\n", "\r\n",
      "Trailer: t\r\n", "\r\n",
    ])
    #expect(result.status == 302 && result.reason == "Moved Here" && result.httpVersion == "1.1")
    #expect(result.hasLocation && result.contentLength == 5 && result.isHeadComplete)
    #expect(result.block.text == "LOCATION:  /yes \r\nX: a b\r\nContent-Length: 5\r\n")
    #expect(result.trailers?.text == "Trailer: t\r\n")
    let two = intake(["HTTP/2 200 \r\n", "content-encoding: br\r\n", "content-length: x\r\n", "\r\n"])
    #expect(two.httpVersion == "2" && two.reason.isEmpty && two.hasContentEncoding && two.contentLength == -1)
    let bare = intake(["HTTP/1.0 200\n", "A: b\n", "\n"])
    #expect(bare.httpVersion == "1.0" && bare.status == 200 && bare.block.text == "A: b\r\n")
    let chunked = intake(["HTTP/1.1 200 OK\r\n", "Content-Length: 5\r\n", "Transfer-Encoding: chunked\r\n", "\r\n"])
    #expect(chunked.contentLength == -1)
    let field = intake(["HTTP/1.1 200 OK\r\n", "HTTP/: not a status line\r\n", "\r\n"])
    #expect(field.status == 200 && field.block.text == "HTTP/: not a status line\r\n")
  }

  @Test("Whatever a head says that the core acts on is seen, in whatever case")
  func notedFields() {
    let fields: [(String, (ResponseIntake) -> Bool)] = [
      ("Alt-Svc", \.hasAlternativeService), ("Content-Length", { $0.contentLength == 7 }),
      ("Content-Encoding", \.hasContentEncoding), ("Content-Digest", \.hasDigest), ("Digest", \.hasDigest),
      ("Repr-Digest", \.hasDigest), ("Cache-Control", \.hasCachingFields), ("ETag", \.hasCachingFields),
      ("Expires", \.hasCachingFields), ("Last-Modified", \.hasCachingFields), ("Location", \.hasLocation),
      ("Set-Cookie", \.hasSetCookie), ("Strict-Transport-Security", \.hasTransportSecurity),
      ("Transfer-Encoding", \.isChunked),
    ]
    for (name, isSeen) in fields {
      for text in [name, name.lowercased(), name.uppercased()] {
        #expect(isSeen(intake(["HTTP/1.1 200 OK\r\n", "Server: x\r\n", "\(text): 7\r\n", "\r\n"])), "\(text)")
        #expect(isSeen(intake(["HTTP/1.1 200 OK\n", "\(text): 7\n", "\n"])), "\(text), bare line ends")
      }
    }
    #expect(!intake(["HTTP/1.1 200 OK\r\n", "Server: 7\r\n", "Date: 7\r\n", "\r\n"]).hasCachingFields)
  }

  private final class Entry: TimerEntry {
    var timerIndex = -1
    let name: Int
    init(_ name: Int) { self.name = name }
  }

  @Test("The timer heap gives its entries in order, moved and removed ones too")
  func heap() {
    var heap = TimerHeap<Entry>()
    let entries = (0..<500).map(Entry.init)
    for entry in entries { heap.set(entry, deadline: Double(entry.name * 7919 % 500)) }
    for entry in entries where entry.name % 3 == 0 { heap.remove(entry) }
    for entry in entries where entry.name % 3 == 1 { heap.set(entry, deadline: Double(1000 - entry.name)) }
    heap.remove(entries[0])
    var last = -1.0
    var count = 0
    while let next = heap.nextDeadline {
      #expect(next >= last)
      last = next
      #expect(heap.popExpired(now: next - 0.5) == nil)
      #expect(heap.popExpired(now: next)?.timerIndex == -1)
      count += 1
    }
    #expect(count == entries.filter { $0.name % 3 != 0 }.count)
  }

  @Test("The trace masks what is secret")
  func trace() {
    let head = "GET / HTTP/1.1\r\nAuthorization: Bearer T0\r\nCOOKIE: a=1\r\nX: y\r\nProxy-Authorization: abc\r\n\r\n"
    let text = Array(head.utf8).withUnsafeBytes { Trace.marked($0, with: "> ") }
    #expect(
      text == "> GET / HTTP/1.1\n> Authorization: Bearer ***\n> COOKIE: ***\n> X: y\n"
        + "> Proxy-Authorization: ***\n> \n")
    let answer = Array("Set-Cookie: s=1; Path=/\r\n".utf8).withUnsafeBytes { Trace.marked($0, with: "< ") }
    #expect(answer == "< Set-Cookie: ***\n")
  }

  static let traced: [(String, String)] = [
    ("GET /token/cookie.html HTTP/1.1", "GET /token/cookie.html HTTP/1.1"),
    ("GET /a.html?token=s3cret HTTP/1.1", "GET /a.html?token=*** HTTP/1.1"),
    ("GET /?page=2&API_KEY=s3cret&q=password HTTP/2", "GET /?page=2&API_KEY=***&q=password HTTP/2"),
    ("GET /?key=s3cret?x;y/'z&keyword=a HTTP/1.1", "GET /?key=***&keyword=a HTTP/1.1"),
    ("GET /?a=1;client_secret=s3cret HTTP/1.1", "GET /?a=1;client_secret=*** HTTP/1.1"),
    ("GET http://u:s3cret@h/?X-Amz-Signature=s3cret HTTP/1.1", "GET http://***@h/?X-Amz-Signature=*** HTTP/1.1"),
    ("HTTP/1.1 404 No token: here", "HTTP/1.1 404 No token: here"), ("HTTP/2 200", "HTTP/2 200"),
    ("Location: https://h/cb?sig=s3cret#access_token=s3cret", "Location: https://h/cb?sig=***#access_token=***"),
    ("X-Auth-Token: s3cret", "X-Auth-Token: ***"), ("Set-Cookie : s3cret HTTP/1.1", "Set-Cookie : ***"),
    ("Content-Type: text/plain; charset=utf-8", "Content-Type: text/plain; charset=utf-8"),
  ]

  @Test("The trace shows start lines as they are, but for secrets in the URL", arguments: traced)
  func tracedLines(line: String, shown: String) {
    let text = Array((line + "\r\n").utf8).withUnsafeBytes { Trace.marked($0, with: "> ") }
    #expect(text == "> \(shown)\n")
  }

  @Test("Base64 of every length")
  func base64() {
    for (text, expected) in [
      ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("test:123\u{A3}", "dGVzdDoxMjPCow=="),
    ] {
      #expect(Base64.encode(Octets(text)) == Octets(expected))
    }
  }
}
