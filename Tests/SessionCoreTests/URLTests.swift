import Testing

@testable import SessionCore

@Suite("URLs")
struct URLTests {
  /// RFC 3986 §5.4.1 and §5.4.2 (strict).
  @Test(
    "Every example of RFC 3986 §5.4",
    arguments: [
      ("g", "http://a/b/c/g"), ("./g", "http://a/b/c/g"), ("g/", "http://a/b/c/g/"), ("/g", "http://a/g"),
      ("//g", "http://g"), ("?y", "http://a/b/c/d;p?y"), ("g?y", "http://a/b/c/g?y"),
      ("#s", "http://a/b/c/d;p?q#s"), ("g#s", "http://a/b/c/g#s"), ("g?y#s", "http://a/b/c/g?y#s"),
      (";x", "http://a/b/c/;x"), ("g;x", "http://a/b/c/g;x"), ("g;x?y#s", "http://a/b/c/g;x?y#s"),
      ("", "http://a/b/c/d;p?q"), (".", "http://a/b/c/"), ("./", "http://a/b/c/"), ("..", "http://a/b/"),
      ("../", "http://a/b/"), ("../g", "http://a/b/g"), ("../..", "http://a/"), ("../../", "http://a/"),
      ("../../g", "http://a/g"), ("../../../g", "http://a/g"), ("../../../../g", "http://a/g"),
      ("/./g", "http://a/g"), ("/../g", "http://a/g"), ("g.", "http://a/b/c/g."), (".g", "http://a/b/c/.g"),
      ("g..", "http://a/b/c/g.."), ("..g", "http://a/b/c/..g"), ("./../g", "http://a/b/g"),
      ("./g/.", "http://a/b/c/g/"), ("g/./h", "http://a/b/c/g/h"), ("g/../h", "http://a/b/c/h"),
      ("g;x=1/./y", "http://a/b/c/g;x=1/y"), ("g;x=1/../y", "http://a/b/c/y"),
      ("g?y/./x", "http://a/b/c/g?y/./x"), ("g?y/../x", "http://a/b/c/g?y/../x"),
      ("g#s/./x", "http://a/b/c/g#s/./x"), ("g#s/../x", "http://a/b/c/g#s/../x"), ("http:g", "http:g"),
      ("g:h", "g:h"),
    ])
  func resolve(reference: String, expected: String) throws {
    let result = try URLParts.resolve(reference, against: "http://a/b/c/d;p?q").get()
    // libcurl writes the empty path of "http://g" as "/", which is the same URL (§6.2.3).
    #expect(result == expected || result == expected + "/" && expected == "http://g")
  }

  @Test("Bases with fragments, ports and queries")
  func bases() throws {
    #expect(try URLParts.resolve("#b", against: "http://h/p?q#a").get() == "http://h/p?q#b")
    #expect(try URLParts.resolve("", against: "http://h/p?q#a").get() == "http://h/p?q")
    #expect(try URLParts.resolve("x", against: "http://h:81").get() == "http://h:81/x")
    #expect(try URLParts.resolve("HTTPS://o/x", against: "http://h/").get() == "https://o/x")
    #expect(try URLParts.resolve("a b/\u{E9}", against: "http://h/").get() == "http://h/a%20b/%C3%A9")
  }

  @Test("Taking apart and building")
  func parse() throws {
    let text = "https://us%20er:p%3Aw@[::1]:8443/a%2Fb/c?x=1&y=%20#frag"
    let parts = try URLParts.parse(text).get()
    #expect(parts.scheme == "https" && parts.user == "us er" && parts.password == "p:w")
    #expect(parts.host == "[::1]" && parts.port == 8443 && parts.path == "/a%2Fb/c")
    #expect(parts.query == "x=1&y=%20" && parts.fragment == "frag")
    #expect(try parts.text.get() == text)
    let plain = try URLParts.parse("http://example.org").get()
    #expect(plain.path == "/" && plain.port == nil && plain.query == nil && plain.fragment == nil && plain.user == nil)
    for bad in ["", "no url", "//host", "http://", "http://[::1", "http://h:99999/", "http://a b/", "http://h\0/"] {
      guard case .failure = URLParts.parse(bad) else {
        Issue.record("\(bad) must not parse")
        continue
      }
    }
  }

  @Test("Normalising")
  func normalise() throws {
    let rows = [
      ("HTTP://Foo.COM:80/%66oo.ht%6dl", "http://foo.com/foo.html"), ("http://foo.com", "http://foo.com/"),
      ("http://foo.com/a/./b/../c", "http://foo.com/a/c"), ("http://foo.com/%c3%a9%2f", "http://foo.com/%C3%A9%2F"),
      ("https://h:443/?q=%7e#%41", "https://h/?q=~#A"), ("http://foo.com/a/%2e%2e/b", "http://foo.com/b"),
      ("http://foo.com:81/", "http://foo.com:81/"), ("http://h/en Espa\u{F1}ol", "http://h/en%20Espa%C3%B1ol"),
    ]
    for (text, expected) in rows { #expect(try URLParts.normalize(text).get() == expected, "\(text)") }
  }

  @Test("Percent-encoding is NUL-clean and turns back")
  func encoding() {
    let bytes = (0...255).map { UInt8($0) }
    let encoded = bytes.withUnsafeBytes { PercentEncoding.encode($0) }
    #expect(String(decoding: encoded.prefix(6), as: UTF8.self) == "%00%01")
    #expect(encoded.withUnsafeBytes { PercentEncoding.decode($0) } == bytes)
    #expect(PercentEncoding.decode("a%2") == "a%2")
    #expect(PercentEncoding.decode("%zz%41+") == "%zzA+")
    let plus = Array("a+b%2B".utf8).withUnsafeBytes { PercentEncoding.decode($0, plusIsSpace: true) }
    #expect(String(decoding: plus, as: UTF8.self) == "a b+")
  }

  @Test("Redirect rules without a wire")
  func redirectRules() throws {
    let request = Request(
      method: "POST", url: "http://h/a#f",
      headers: [
        HeaderField("authorization", "x"), HeaderField("Content-Type", "t"), HeaderField("Content-Language", "de"),
        HeaderField("Host", "other"), HeaderField("Transfer-Encoding", "chunked"), HeaderField("X", "1"),
      ], body: .data(Bytes("b")))
    func evaluate(_ status: Int, _ location: String) -> RedirectRules.Outcome {
      Array(location.utf8).withUnsafeBytes {
        RedirectRules.evaluate(request, url: "http://h/a#f", status: status, location: $0)
      }
    }
    guard case .follow(let moved, let keepsBody, let crosses) = evaluate(302, "HTTP://H:80/b") else {
      Issue.record("must be followed")
      return
    }
    #expect(moved.method == "GET" && moved.url == "http://H:80/b#f" && !keepsBody && !crosses)
    #expect(moved.headers.map(\.name) == ["authorization", "Host", "X"])
    guard case .follow(let kept, true, true) = evaluate(307, "https://h/b#g") else {
      Issue.record("must be followed with its body, across origins")
      return
    }
    #expect(kept.method == "POST" && kept.url == "https://h/b#g")
    #expect(kept.headers.map(\.name) == ["Content-Type", "Content-Language", "Transfer-Encoding", "X"])
    guard case .response = evaluate(304, "/x"), case .response = evaluate(300, "/x") else {
      Issue.record("304 and 300 are no redirects")
      return
    }
  }
}
