import Testing

@testable import SessionCore

/// Decisions of the cache, without a clock or a disk.
@Suite struct CacheRulesTests {
  static let now = 1_000_000_000.0
  let rules = CacheRules()

  func request(
    _ fields: [(String, String)] = [], method: String = "GET", policy: CachePolicy = .useProtocolCachePolicy,
    identity: Octets? = nil
  ) -> CacheRequest {
    CacheRequest(
      method: method, key: "http://a/", fields: MessageFields(fields.map { HeaderField($0.0, $0.1) }), policy: policy,
      identity: identity)
  }

  func received(
    _ fields: [(String, String)], status: Int = 200, age: Double = 0, answeredChallenge: Bool = false
  ) -> CacheRules.Received {
    CacheRules.Received(
      status: status, reason: "OK", httpVersion: "1.1", fields: MessageFields(fields.map { HeaderField($0.0, $0.1) }),
      requestedAt: Self.now - age, receivedAt: Self.now - age, answeredChallenge: answeredChallenge)
  }

  /// A response as it is stored for a request, received so many seconds ago.
  func stored(
    _ fields: [(String, String)], status: Int = 200, age: Double = 0, for asked: CacheRequest? = nil,
    length: Int = 10
  ) throws -> StoredResponse {
    var response = try #require(rules.storable(asked ?? request(), received(fields, status: status, age: age)))
    if response.part == nil { response.length = length }
    return response
  }

  // MARK: Fresh, stale

  @Test func freshIsServed() throws {
    let one = try stored([("Cache-Control", "max-age=60")], age: 30)
    #expect(rules.decide(request(), [one], now: Self.now) == .serve(one, .whole))
    #expect(rules.decide(request(method: "HEAD"), [one], now: Self.now) == .serve(one, .head))
    #expect(rules.decide(request(method: "POST"), [one], now: Self.now) == .load(.past))
    #expect(rules.decide(request(), [], now: Self.now) == .load(CacheLoad()))
  }

  @Test func staleIsValidated() throws {
    let one = try stored([("Cache-Control", "max-age=10"), ("ETag", "\"a\""), ("Last-Modified", "x")], age: 30)
    let conditions = [HeaderField("If-None-Match", "\"a\""), HeaderField("If-Modified-Since", "x")]
    #expect(rules.decide(request(), [one], now: Self.now) == .load(CacheLoad(conditions: conditions, stored: one)))
    let head = rules.decide(request(method: "HEAD"), [one], now: Self.now)
    #expect(head == .load(CacheLoad(stored: one)))
  }

  @Test(arguments: ["no-cache", "max-age=0", "min-fresh=40", "max-age=20"])
  func theRequestWantsItFresher(_ directive: String) throws {
    let one = try stored([("Cache-Control", "max-age=60"), ("ETag", "\"a\"")], age: 30)
    let decision = rules.decide(request([("Cache-Control", directive)]), [one], now: Self.now)
    #expect(decision == .load(CacheLoad(conditions: [HeaderField("If-None-Match", "\"a\"")], stored: one)))
  }

  @Test func maxStale() throws {
    let one = try stored([("Cache-Control", "max-age=10"), ("ETag", "\"a\"")], age: 30)
    #expect(rules.decide(request([("Cache-Control", "max-stale=25")]), [one], now: Self.now) == .serve(one, .whole))
    #expect(rules.decide(request([("Cache-Control", "max-stale")]), [one], now: Self.now) == .serve(one, .whole))
    #expect(rules.decide(request([("Cache-Control", "max-stale=5")]), [one], now: Self.now) != .serve(one, .whole))
    let strict = try stored([("Cache-Control", "max-age=10, must-revalidate"), ("ETag", "\"a\"")], age: 30)
    #expect(rules.decide(request([("Cache-Control", "max-stale")]), [strict], now: Self.now) != .serve(strict, .whole))
  }

  @Test func noCacheIsValidatedAlways() throws {
    let one = try stored([("Cache-Control", "max-age=60, no-cache"), ("ETag", "\"a\"")])
    guard case .load(let load) = rules.decide(request(), [one], now: Self.now) else { return #expect(Bool(false)) }
    #expect(load.isValidation)
    // With names it is about these fields, which are not stored.
    let named = try stored([("Cache-Control", "max-age=60, no-cache=\"a\""), ("A", "1"), ("B", "2")])
    #expect(!named.fields.has("a") && named.fields.has("b"))
    #expect(rules.decide(request(), [named], now: Self.now) == .serve(named, .whole))
  }

  @Test func onlyIfCached() throws {
    let asked = request([("Cache-Control", "only-if-cached")])
    #expect(rules.decide(asked, [], now: Self.now) == .gatewayTimeout)
    let fresh = try stored([("Cache-Control", "max-age=60")])
    #expect(rules.decide(asked, [fresh], now: Self.now) == .serve(fresh, .whole))
    let stale = try stored([("Cache-Control", "max-age=6"), ("ETag", "\"a\"")], age: 10)
    #expect(rules.decide(asked, [stale], now: Self.now) == .gatewayTimeout)
  }

  @Test func staleWhileRevalidate() throws {
    let one = try stored([("Cache-Control", "max-age=10, stale-while-revalidate=30")], age: 30)
    #expect(rules.decide(request(), [one], now: Self.now) == .serveAndRevalidate(one, .whole))
    #expect(rules.decide(request(), [one], now: Self.now + 20) == .load(CacheLoad(stored: one)))
    let strict = try stored([("Cache-Control", "max-age=10, stale-while-revalidate=30, must-revalidate")], age: 30)
    #expect(rules.decide(request(), [strict], now: Self.now) == .load(CacheLoad(stored: strict)))
  }

  @Test func staleIfError() throws {
    let one = try stored([("Cache-Control", "max-age=10, stale-if-error=30")], age: 30)
    guard case .load(let load) = rules.decide(request(), [one], now: Self.now) else { return #expect(Bool(false)) }
    #expect(load.fallbackUntil == Self.now - 30 + 10 + 30)
    let own = try stored([("Cache-Control", "max-age=10"), ("ETag", "\"a\"")], age: 30)
    let asked = request([("Cache-Control", "stale-if-error=100")])
    guard case .load(let other) = rules.decide(asked, [own], now: Self.now) else { return #expect(Bool(false)) }
    #expect(other.fallbackUntil == Self.now + 80)
    let strict = try stored([("Cache-Control", "max-age=10, stale-if-error=30, must-revalidate")], age: 30)
    guard case .load(let none) = rules.decide(request(), [strict], now: Self.now) else { return #expect(Bool(false)) }
    #expect(none.fallbackUntil == -.infinity)
  }

  // MARK: Policies

  @Test func policies() throws {
    let fresh = try stored([("Cache-Control", "max-age=60"), ("ETag", "\"a\"")])
    let stale = try stored([("Cache-Control", "max-age=6, no-cache"), ("ETag", "\"a\"")], age: 10)
    let dontLoad = request(policy: .returnCacheDataDontLoad)
    #expect(rules.decide(dontLoad, [], now: Self.now) == .unavailable)
    #expect(rules.decide(dontLoad, [stale], now: Self.now) == .serve(stale, .whole))
    let elseLoad = request(policy: .returnCacheDataElseLoad)
    #expect(rules.decide(elseLoad, [], now: Self.now) == .load(CacheLoad()))
    #expect(rules.decide(elseLoad, [stale], now: Self.now) == .serve(stale, .whole))
    let reload = request(policy: .reloadIgnoringLocalCacheData)
    #expect(rules.decide(reload, [fresh], now: Self.now) == .load(CacheLoad()))
    let revalidate = request(policy: .reloadRevalidatingCacheData)
    guard case .load(let load) = rules.decide(revalidate, [fresh], now: Self.now) else { return #expect(Bool(false)) }
    #expect(load.isValidation)
    let immutable = try stored([("Cache-Control", "max-age=60, immutable"), ("ETag", "\"a\"")])
    #expect(rules.decide(revalidate, [immutable], now: Self.now) == .serve(immutable, .whole))
  }

  // MARK: Conditions of the caller's

  @Test(arguments: [
    (["If-None-Match": "\"a\""], true), (["If-None-Match": "W/\"a\""], true), (["If-None-Match": "*"], true),
    (["If-None-Match": "\"x\", \"a\""], true), (["If-None-Match": "\"x\""], false),
    (["If-Modified-Since": HTTPDate.format(now - 50)], true),
    (["If-Modified-Since": HTTPDate.format(now - 150)], false),
    // The entity tag counts where both are there.
    (["If-None-Match": "\"x\"", "If-Modified-Since": HTTPDate.format(now)], false),
  ])
  func conditions(_ fields: [String: String], _ isMet: Bool) throws {
    let one = try stored([
      ("Cache-Control", "max-age=60"), ("ETag", "\"a\""), ("Last-Modified", HTTPDate.format(Self.now - 100)),
    ])
    let decision = rules.decide(request(fields.map { ($0.key, $0.value) }), [one], now: Self.now)
    #expect(decision == .serve(one, isMet ? .notModified : .whole))
  }

  @Test func conditionsOfTheCallerGoOutAlone() throws {
    let one = try stored([("Cache-Control", "max-age=10"), ("ETag", "\"a\"")], age: 30)
    let decision = rules.decide(request([("If-None-Match", "\"b\"")]), [one], now: Self.now)
    #expect(decision == .load(CacheLoad(stored: one)))
    for name in ["If-Match", "If-Unmodified-Since", "If-Range"] {
      #expect(rules.decide(request([(name, "\"a\"")]), [one], now: Self.now) == .load(.past))
    }
  }

  // MARK: Ranges

  @Test(arguments: [
    ("bytes=0-1", 0...1), ("bytes=4-", 4...9), ("bytes=-3", 7...9), ("bytes=8-100", 8...9), ("bytes=-100", 0...9),
  ])
  func rangesOfTheWhole(_ text: String, _ bytes: ClosedRange<Int>) throws {
    let one = try stored([("Cache-Control", "max-age=60")])
    #expect(rules.decide(request([("Range", text)]), [one], now: Self.now) == .serve(one, .slice(bytes)))
  }

  @Test(arguments: ["bytes=10-", "bytes=0-1,3-4", "items=0-1", "bytes=5-1", "bytes=-", "bytes=-0"])
  func rangesForTheServer(_ text: String) throws {
    let one = try stored([("Cache-Control", "max-age=60")])
    guard case .load = rules.decide(request([("Range", text)]), [one], now: Self.now) else {
      return #expect(Bool(false))
    }
  }

  @Test func parts() throws {
    let asked = request([("Range", "bytes=0-4")])
    let part = try stored(
      [("Cache-Control", "max-age=60"), ("ETag", "\"a\""), ("Content-Range", "bytes 0-4/10")], status: 206, for: asked)
    #expect(part.length == 5 && part.bounds == 0..<5)
    #expect(rules.decide(request([("Range", "bytes=1-2")]), [part], now: Self.now) == .serve(part, .slice(1...2)))
    #expect(rules.decide(request([("Range", "bytes=4-6")]), [part], now: Self.now) == .load(CacheLoad()))
    let completion = [HeaderField("Range", "bytes=5-"), HeaderField("If-Range", "\"a\"")]
    #expect(rules.decide(request(), [part], now: Self.now) == .load(CacheLoad(conditions: completion, stored: part)))
    #expect(rules.decide(request(policy: .returnCacheDataDontLoad), [part], now: Self.now) == .unavailable)
    // Without a strong validator nobody knows whether the rest belongs to it.
    let weak = try stored(
      [("Cache-Control", "max-age=60"), ("ETag", "W/\"a\""), ("Content-Range", "bytes 0-4/10")], status: 206,
      for: asked)
    #expect(rules.decide(request(), [weak], now: Self.now) == .load(CacheLoad()))
  }

  @Test func partsPutTogether() throws {
    func part(_ range: String, _ etag: String = "\"a\"") throws -> StoredResponse {
      try stored(
        [("Cache-Control", "max-age=60"), ("ETag", etag), ("Content-Range", "bytes \(range)/10")], status: 206,
        for: request([("Range", "bytes=0-")]))
    }
    let whole = try #require(rules.combined(try part("0-4"), with: try part("3-9")))
    #expect(whole.before == 3 && whole.after == 0)
    #expect(whole.response.isComplete && whole.response.status == 200 && whole.response.length == 10)
    #expect(!whole.response.fields.has("content-range"))
    let middle = try #require(rules.combined(try part("6-8"), with: try part("2-5")))
    #expect(middle.before == 0 && middle.after == 3)
    #expect(middle.response.fields.first("content-range") == "bytes 2-8/10")
    #expect(rules.combined(try part("0-2"), with: try part("4-9")) == nil)
    #expect(rules.combined(try part("0-4"), with: try part("5-9", "\"b\"")) == nil)
    #expect(rules.combined(try part("0-4", "W/\"a\""), with: try part("5-9", "W/\"a\"")) == nil)
  }
}
