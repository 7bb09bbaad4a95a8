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

  @Test(
    "What a URL cannot have is percent-encoded as browsers do, wherever it comes in, and the rest stays",
    arguments: [
      (#"http://h/a"b?x="y""#, "http://h/a%22b?x=%22y%22"), ("http://h/<a>?<b>", "http://h/%3Ca%3E?%3Cb%3E"),
      ("http://h/`^{}|'?`^{}|'", "http://h/%60%5E%7B%7D|'?`^{}|%27"), ("http://h/a b?c d", "http://h/a%20b?c%20d"),
      ("http://h/%22%3c?%27#\"<", "http://h/%22%3c?%27#\"<"), (#"http://h/a\b?\"#, #"http://h/a\b?%5C"#),
      ("http://h/~!$&()*+,;=:@-._", "http://h/~!$&()*+,;=:@-._"), (#"app://h/a"b{}"#, #"app://h/a"b{}"#),
      ("http://u%22:p@h/\"", "http://u%22:p@h/%22"), ("http://h?\"", "http://h/?%22"),
    ])
  func raw(text: String, encoded: String) throws {
    #expect(try URLParts.parse(text).get().text.get() == encoded)
    #expect(try URLParts.resolve(text, against: "http://other/").get() == encoded)
    // A URL that is taken as it is has nothing to be encoded.
    #expect(!URLLook(text).isPlain || text == encoded || text + "/" == encoded)
    #expect(!URLLook(encoded).needsEncoding || encoded.utf8.contains { "\"<>^`{}'\\".utf8.contains($0) })
  }

  @Test("What the quick look finds is what must be encoded, for each byte")
  func look() {
    for byte in UInt8(1)..<0x80 where !"@:/?#".utf8.contains(byte) {
      let look = URLLook("http://h/x\(Character(Unicode.Scalar(byte)))?y")
      #expect(look.needsEncoding == (byte < 0x20 || URLTail.mayNeedEncoding(byte)), "\(byte)")
      #expect(look.hasControlCharacter == (byte < 0x20 || byte == 0x7F), "\(byte)")
    }
    #expect(URLLook("http://h/\u{E9}").needsEncoding)
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

  /// Where a redirect leads, and whether it leaves the origin; nil where it cannot be followed.
  private func redirected(_ location: String, from url: String = "http://h/d/a") -> (url: String, crosses: Bool)? {
    let request = Request(method: "GET", url: url)
    let outcome = Array(location.utf8).withUnsafeBytes {
      RedirectRules.evaluate(request, url: url, status: 302, location: $0, allowsAnyScheme: true)
    }
    guard case .follow(let next, _, let crosses) = outcome else { return nil }
    return (next.url, crosses)
  }

  @Test(
    "Raw bytes of a Location mean what they mean to browsers",
    arguments: [
      (#"/a\b"#, "http://h/a/b"), (#"b\..\c"#, "http://h/d/c"), (#"\b"#, "http://h/b"),
      (#"/a?x=\b"#, "http://h/a?x=%5Cb"), ("/a#\\b", "http://h/a#\\b"), ("/a%5Cb", "http://h/a%5Cb"),
      ("/a\"<>^`{}|b", "http://h/a%22%3C%3E%5E%60%7B%7D|b"), ("/?a\"<>'{}", "http://h/?a%22%3C%3E%27{}"),
      ("/a\u{1}\u{7F}", "http://h/a%01%7F"), ("/a\tb", "http://h/ab"), ("/a b?c d", "http://h/a%20b?c%20d"),
      ("/\u{E9}?\u{E9}", "http://h/%C3%A9?%C3%A9"),
    ])
  func rawLocation(location: String, target: String) {
    #expect(redirected(location)?.url == target)
  }

  @Test("A backslash in a Location does not hide which host is meant")
  func backslashInAuthority() throws {
    for (location, target, crosses) in [
      (#"http:\\evil\x"#, "http://evil/x", true), (#"\\evil\x"#, "http://evil/x", true),
      (#"/\evil"#, "http://evil/", true), ("/\t/evil/", "http://evil/", true),
      (#"http://h\@evil/"#, "http://h/@evil/", false), (#"http://evil\@h/"#, "http://evil/@h/", true),
      (#"http://evil\.h/"#, "http://evil/.h/", true), (#"https:\/h/"#, "https://h/", true),
    ] {
      let found = try #require(redirected(location), "\(location)")
      #expect(found.url == target && found.crosses == crosses, "\(location)")
      // What is asked and what is connected to are one host.
      #expect(try URLParts.parse(found.url).get().host == (crosses && target.hasPrefix("http:") ? "evil" : "h"))
    }
    // Of another scheme than the web's nothing is known.
    #expect(redirected(#"app://x/a\b"#)?.url == #"app://x/a\b"#)
  }
}
