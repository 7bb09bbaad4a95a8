import Testing

@testable import SessionCore

/// What is stored, under which requests it is found, and what later responses make of it.
@Suite struct CacheStoringTests {
  private let base = CacheRulesTests()
  private var rules: CacheRules { base.rules }
  private static let now = CacheRulesTests.now

  struct Case: Sendable, CustomTestStringConvertible {
    let name: String
    var status = 200
    var asked: [(String, String)] = []
    let fields: [(String, String)]
    let isStored: Bool
    var testDescription: String { name }
  }

  @Test(arguments: [
    Case(name: "explicit", fields: [("Cache-Control", "max-age=60")], isStored: true),
    Case(name: "nothing said", fields: [], isStored: false),
    Case(name: "a validator", fields: [("ETag", "\"a\"")], isStored: true),
    Case(name: "private", fields: [("Cache-Control", "private, max-age=60")], isStored: true),
    Case(name: "no-store", fields: [("Cache-Control", "max-age=60, No-Store")], isStored: false),
    Case(
      name: "no-store asked", asked: [("Cache-Control", "no-store")], fields: [("Cache-Control", "max-age=60")],
      isStored: false),
    Case(name: "stale, no validator", fields: [("Cache-Control", "max-age=0")], isStored: false),
    Case(name: "no-cache, no validator", fields: [("Cache-Control", "max-age=60, no-cache")], isStored: false),
    Case(name: "no-cache, validator", fields: [("Cache-Control", "no-cache"), ("ETag", "\"a\"")], isStored: true),
    Case(name: "useful in error", fields: [("Cache-Control", "max-age=0, stale-if-error=9")], isStored: true),
    Case(name: "varies with everything", fields: [("Cache-Control", "max-age=60"), ("Vary", "*")], isStored: false),
    Case(
      name: "varies with everything, hidden",
      fields: [("Cache-Control", "max-age=60"), ("Vary", ""), ("Vary", "Foo, *")], isStored: false),
    Case(name: "understood", fields: [("Cache-Control", "max-age=60, no-store, must-understand")], isStored: true),
    Case(
      name: "not understood", status: 599, fields: [("Cache-Control", "max-age=60, no-store, must-understand")],
      isStored: false),
    Case(name: "an error with a lifetime", status: 500, fields: [("Cache-Control", "max-age=60")], isStored: true),
    Case(name: "an error with a validator", status: 500, fields: [("ETag", "\"a\"")], isStored: false),
    Case(name: "not modified", status: 304, fields: [("Cache-Control", "max-age=60")], isStored: false),
    Case(
      name: "a part that does not say which", status: 206, fields: [("Cache-Control", "max-age=60")], isStored: false),
    Case(
      name: "a part of what is not known", status: 206,
      fields: [("Cache-Control", "max-age=60"), ("Content-Range", "bytes 0-1/*")], isStored: false),
  ])
  func storable(_ row: Case) {
    let stored = rules.storable(base.request(row.asked), base.received(row.fields, status: row.status))
    #expect((stored != nil) == row.isStored)
  }

  @Test func onlyGetIsStored() {
    let response = base.received([("Cache-Control", "max-age=60")])
    #expect(rules.storable(base.request(method: "POST"), response) == nil)
    #expect(rules.storable(base.request(method: "HEAD"), response) == nil)
    let post = base.request(method: "POST")
    #expect(rules.storableAsGet(post, response, contentLocation: post.key) != nil)
    #expect(rules.storableAsGet(post, response, contentLocation: "http://a/other") == nil)
    #expect(rules.storableAsGet(post, base.received([("ETag", "\"a\"")]), contentLocation: post.key) == nil)
  }

  @Test func challengedAnswersBelongToNobodyInParticular() {
    let plain = base.received([("Cache-Control", "max-age=60")], answeredChallenge: true)
    #expect(rules.storable(base.request(), plain) == nil)
    let open = base.received([("Cache-Control", "max-age=60, public")], answeredChallenge: true)
    #expect(rules.storable(base.request(), open) != nil)
  }

  @Test func connectionFieldsStayOut() throws {
    let stored = try base.stored([
      ("Cache-Control", "max-age=60"), ("Connection", "a, B"), ("a", "1"), ("b", "2"), ("c", "3"), ("TE", "x"),
      ("Upgrade", "x"), ("Proxy-Authenticate", "x"), ("Transfer-Encoding", "x"), ("Set-Cookie", "x=y"),
    ])
    #expect(stored.fields.lines.map(\.name) == ["Cache-Control", "c", "Set-Cookie"])
  }

  // MARK: Selecting

  @Test(arguments: [
    ("Foo", "1, 2", "1,2", true), ("Foo", "1", "2", false), ("Foo", "A", "a", false),
    ("Accept-Language", "en, de", "de,EN", true), ("Accept-Language", "en;q=0.5", "en", false),
  ])
  func selecting(_ name: String, _ before: String, _ now: String, _ isSame: Bool) throws {
    let fields = [("Cache-Control", "max-age=60"), ("Vary", name)]
    let stored = try base.stored(fields, for: base.request([(name, before)]))
    #expect(stored.selecting.match(base.request([(name, now)])) == isSame)
    #expect(!stored.selecting.match(base.request()))
    #expect(SelectingFields(text: stored.selecting.text) == stored.selecting)
  }

  @Test func absentMatchesAbsent() throws {
    let stored = try base.stored([("Cache-Control", "max-age=60"), ("Vary", "Foo")])
    #expect(stored.selecting.match(base.request()))
    #expect(!stored.selecting.match(base.request([("Foo", "")])))
  }

  @Test func severalLinesAreOneList() throws {
    let fields = [("Cache-Control", "max-age=60"), ("Vary", "Foo")]
    let stored = try base.stored(fields, for: base.request([("Foo", "1, 2")]))
    #expect(stored.selecting.match(base.request([("Foo", "1"), ("foo", "2")])))
  }

  @Test func nobodyGetsAnotherUsersResponse() throws {
    let asked = base.request(identity: "Bearer secret")
    let stored = try base.stored([("Cache-Control", "max-age=60")], for: asked)
    #expect(stored.selecting.match(asked))
    #expect(!stored.selecting.match(base.request(identity: "Bearer other")))
    #expect(!stored.selecting.match(base.request()))
    #expect(!stored.selecting.text.contains("secret"))
    let open = try base.stored([("Cache-Control", "max-age=60, public")], for: asked)
    #expect(open.selecting.match(base.request()))
  }

  @Test func theLatestOfSeveralIsTaken() throws {
    let older = try base.stored([("Cache-Control", "max-age=60"), ("Vary", "Foo")], age: 20)
    let newer = try base.stored([("Cache-Control", "max-age=60"), ("Vary", "Bar")], age: 10)
    #expect(rules.select(base.request(), [newer, older]) == newer)
    #expect(rules.select(base.request([("Bar", "1")]), [newer, older]) == older)
  }

  // MARK: Later responses

  @Test func freshening() throws {
    let old = try base.stored(
      [
        ("Cache-Control", "max-age=1"), ("ETag", "\"a\""), ("A", "1"), ("B", "1"), ("B", "2"), ("Age", "100"),
        ("Content-Length", "10"), ("Content-Encoding", "gzip"),
      ], age: 50)
    let news = base.received(
      [
        ("Cache-Control", "max-age=100"), ("B", "3"), ("Content-Length", "0"), ("Content-Encoding", "br"),
        ("Connection", "C"), ("C", "1"),
      ], status: 304)
    let fresh = rules.freshened(old, by: news)
    #expect(fresh.fields.first("cache-control") == "max-age=100")
    #expect(fresh.fields.first("a") == "1" && fresh.fields.all("b") == ["3"])
    #expect(fresh.fields.first("content-length") == "10" && fresh.fields.first("content-encoding") == "gzip")
    #expect(!fresh.fields.has("age") && !fresh.fields.has("c"))
    #expect(fresh.receivedAt == Self.now && fresh.freshness.isFresh(at: Self.now + 99))
  }

  @Test func confirmation() throws {
    let strong = try base.stored([("ETag", "\"a\"")])
    #expect(rules.confirms(base.received([], status: 304), strong))
    #expect(rules.confirms(base.received([("ETag", "\"a\"")], status: 304), strong))
    #expect(!rules.confirms(base.received([("ETag", "\"b\"")], status: 304), strong))
    let own = base.request([("If-None-Match", "\"b\"")])
    #expect(!rules.isConfirmed(strong, by: base.received([], status: 304), for: own))
    let same = base.request([("If-None-Match", "\"a\"")])
    #expect(rules.isConfirmed(strong, by: base.received([], status: 304), for: same))
  }

  @Test func headBringsUpToDate() throws {
    let old = try base.stored([("Cache-Control", "max-age=1"), ("ETag", "\"a\""), ("A", "1")], age: 50)
    let same = base.received([("Cache-Control", "max-age=100"), ("ETag", "\"a\""), ("Content-Length", "10")])
    let news = try #require(rules.updated(old, byHead: same))
    #expect(news.freshness.isFresh(at: Self.now) && news.fields.first("a") == "1")
    #expect(rules.updated(old, byHead: base.received([("ETag", "\"b\"")])) == nil)
    #expect(rules.updated(old, byHead: base.received([("Content-Length", "11")])) == nil)
  }

  @Test(arguments: [
    ("POST", 204, true), ("PUT", 302, true), ("M-SEARCH", 200, true), ("POST", 500, false),
    ("DELETE", 404, false), ("GET", 200, false), ("OPTIONS", 200, false),
  ])
  func invalidation(_ method: String, _ status: Int, _ isVoid: Bool) {
    let keys = rules.invalidated(
      base.request(method: method), base.received([], status: status), url: "http://a/")
    #expect(keys == (isVoid ? ["http://a/"] : []))
  }

  @Test func invalidationOfOthers() {
    let response = base.received([("Location", "/x#f"), ("Content-Location", "http://A:80/y")], status: 201)
    let keys = rules.invalidated(base.request(method: "POST"), response, url: "http://a/")
    #expect(keys == ["http://a/", "http://a/x", "http://a/y"])
    let elsewhere = base.received([("Location", "http://b/x"), ("Content-Location", "https://a/y")], status: 201)
    #expect(rules.invalidated(base.request(method: "POST"), elsewhere, url: "http://a/") == ["http://a/"])
  }

  @Test(arguments: [
    ("http://a/x", "http://a/x"), ("HTTP://A/x", "http://a/x"), ("http://a", "http://a/"),
    ("http://a:80/x#f", "http://a/x"), ("http://a:8080/x", "http://a:8080/x"), ("https://a:443/", "https://a/"),
    ("http://u:p@a/x?q", "http://a/x?q"), ("http://a/ü", "http://a/%C3%BC"), ("http://a:443/", "http://a:443/"),
    ("http://[::1]/x", "http://[::1]/x"),
  ])
  func keys(_ url: String, _ key: String) { #expect(CacheKey.make(url) == key) }
}
