import Testing

@testable import SessionCore

/// Cache-Control taken apart, freshness and age.
@Suite struct CacheDirectiveTests {
  struct SecondsCase: Sendable, CustomTestStringConvertible {
    let lines: [String]
    let expected: CacheDirectives.Seconds
    var testDescription: String { lines.joined(separator: " / ") }
  }

  @Test(arguments: [
    SecondsCase(lines: ["max-age=3600"], expected: .value(3600)),
    SecondsCase(lines: ["MaX-aGe=3600"], expected: .value(3600)),
    SecondsCase(lines: ["foobar, max-age=3600"], expected: .value(3600)),
    SecondsCase(lines: ["foobar", " max-age=3600 "], expected: .value(3600)),
    SecondsCase(lines: ["max-age=\"3600\""], expected: .value(3600)),
    SecondsCase(lines: ["max-age=99999999999999999999"], expected: .value(CacheDirectives.largest)),
    SecondsCase(lines: ["max-age=1, max-age=1800"], expected: .value(1)),
    SecondsCase(lines: ["extension=\"max-age=3600\", max-age=1"], expected: .value(1)),
    SecondsCase(lines: ["extension=\"a\\\", max-age=3600\", max-age=1"], expected: .value(1)),
    SecondsCase(lines: ["max-age='3600'"], expected: .invalid),
    SecondsCase(lines: ["max-age=-3600"], expected: .invalid),
    SecondsCase(lines: ["max-age= 3600"], expected: .invalid),
    SecondsCase(lines: ["max-age =3600"], expected: .invalid),
    SecondsCase(lines: ["max-age=3600.5"], expected: .invalid),
    SecondsCase(lines: ["max-age=3600a"], expected: .invalid),
    SecondsCase(lines: ["max-age"], expected: .invalid),
    SecondsCase(lines: ["s-maxage=3600"], expected: .absent),
    SecondsCase(lines: ["", ",,", ", "], expected: .absent),
    SecondsCase(lines: ["x=\"max-age=3600"], expected: .absent),
  ])
  func seconds(_ row: SecondsCase) { #expect(CacheDirectives(row.lines).seconds("max-age") == row.expected) }

  @Test func fieldsOfADirective() {
    let some = CacheDirectives(["no-cache=\"Set-Cookie, A\", private"])
    #expect(some.fields("no-cache") == ["set-cookie", "a"])
    #expect(!some.hasUnqualified("no-cache"))
    #expect(CacheDirectives(["No-Cache"]).hasUnqualified("no-cache"))
    #expect(CacheDirectives(["max-stale"]).maximumStaleness == .infinity)
    #expect(CacheDirectives(["max-stale=10"]).maximumStaleness == 10)
    #expect(CacheDirectives(["max-stale=x"]).maximumStaleness == nil)
  }

  struct LifetimeCase: Sendable, CustomTestStringConvertible {
    let name: String
    var status = 200
    let fields: [(String, String)]
    let lifetime: Double
    var testDescription: String { name }
  }

  private static let now = 1_000_000_000.0
  private static func date(_ seconds: Double) -> String { HTTPDate.format(now + seconds) }

  @Test(arguments: [
    LifetimeCase(name: "max-age", fields: [("Cache-Control", "max-age=60")], lifetime: 60),
    LifetimeCase(
      name: "max-age before Expires", fields: [("Cache-Control", "max-age=0"), ("Expires", date(3600))], lifetime: 0),
    LifetimeCase(name: "s-maxage is not ours", fields: [("Cache-Control", "s-maxage=3600")], lifetime: 0),
    LifetimeCase(name: "Expires", fields: [("Expires", date(100)), ("Date", date(0))], lifetime: 100),
    LifetimeCase(name: "Expires before Date", fields: [("Expires", date(300)), ("Date", date(400))], lifetime: 0),
    LifetimeCase(name: "Expires with a bad Date", fields: [("Expires", date(10)), ("Date", "foo")], lifetime: 10),
    LifetimeCase(name: "Expires: 0", fields: [("Expires", "0"), ("Last-Modified", date(-100))], lifetime: 0),
    LifetimeCase(name: "Expires, one digit", fields: [("Expires", "Thu, 18 Aug 2050 2:01:18 GMT")], lifetime: 0),
    LifetimeCase(name: "Expires, points", fields: [("Expires", "Thu, 18 Aug 2050 02.01.18 GMT")], lifetime: 0),
    LifetimeCase(name: "Expires twice", fields: [("Expires", date(10)), ("Expires", date(20))], lifetime: 0),
    LifetimeCase(name: "heuristic", fields: [("Last-Modified", date(-1000)), ("Date", date(0))], lifetime: 100),
    LifetimeCase(
      name: "heuristic, at most a week", fields: [("Last-Modified", date(-900_000_000))], lifetime: 7 * 86400),
    LifetimeCase(name: "403 is not guessed", status: 403, fields: [("Last-Modified", date(-1000))], lifetime: 0),
    LifetimeCase(
      name: "599 is, when public", status: 599, fields: [("Last-Modified", date(-1000)), ("Cache-Control", "public")],
      lifetime: 100),
    LifetimeCase(name: "modified in the future", fields: [("Last-Modified", date(1000))], lifetime: 0),
    LifetimeCase(
      name: "an invalid max-age is stale", fields: [("Cache-Control", "max-age=x"), ("Last-Modified", date(-1000))],
      lifetime: 0),
  ])
  func lifetime(_ row: LifetimeCase) {
    let fields = MessageFields(row.fields.map { HeaderField($0.0, $0.1) })
    let freshness = Freshness(
      status: row.status, fields: fields, directives: CacheDirectives(fields.all("cache-control")),
      requestedAt: Self.now, receivedAt: Self.now)
    #expect(freshness.lifetime == row.lifetime)
  }

  struct AgeCase: Sendable, CustomTestStringConvertible {
    let fields: [(String, String)]
    let age: Double
    var testDescription: String { "\(fields)" }
  }

  @Test(arguments: [
    AgeCase(fields: [], age: 2),
    AgeCase(fields: [("Age", "30")], age: 32),
    AgeCase(fields: [("Age", "7200, 0")], age: 7202),
    AgeCase(fields: [("Age", "0, 7200")], age: 2),
    AgeCase(fields: [("Age", "7200"), ("Age", "0")], age: 7202),
    AgeCase(fields: [("Age", "abc")], age: 2),
    AgeCase(fields: [("Age", "-7200")], age: 2),
    AgeCase(fields: [("Age", "99999999999999")], age: CacheDirectives.largest + 2),
    AgeCase(fields: [("Date", date(-7200))], age: 7200),
    AgeCase(fields: [("Date", date(50))], age: 2),
  ])
  func initialAge(_ row: AgeCase) {
    let fields = MessageFields(row.fields.map { HeaderField($0.0, $0.1) })
    let freshness = Freshness(
      status: 200, fields: fields, directives: CacheDirectives(), requestedAt: Self.now - 2, receivedAt: Self.now)
    #expect(freshness.initialAge == row.age)
    #expect(freshness.age(at: Self.now + 10) == row.age + 10)
    #expect(freshness.age(at: Self.now - 1000) == row.age)
  }
}
