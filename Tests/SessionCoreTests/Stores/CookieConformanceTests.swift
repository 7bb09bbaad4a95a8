import TestSupport
import Testing

@testable import SessionCore

/// Public suites, on the rules alone.
@Suite struct CookieConformanceTests {
  /// What a row's server sets, and what its second request then carries; nil for nothing.
  static func play(_ row: JSONValue) -> String? {
    var jar = CookieJar()
    let now = 1_796_000_000.0
    guard let origin = CookiePlace(url: row["set_url"].string ?? ""),
      let target = CookiePlace(url: row["request_url"].string ?? "")
    else { return "no URL" }
    for line in row["set_cookie"].array {
      // On the wire a line feed ends the field.
      let text = (line.string ?? "").prefix { $0 != "\n" }.replacing(" 2019 ", with: " 2027 ")
      let result = Array(text.utf8).withUnsafeBytes {
        SetCookie.parse($0).flatMap { $0.cookie(from: origin, now: now) }
      }
      if case .success(let cookie) = result { _ = jar.set(cookie, from: origin, now: now) }
    }
    var field: [UInt8] = []
    for cookie in jar.cookies(for: target, now: now) { cookie.appendPair(to: &field) }
    return field.isEmpty ? nil : String(decoding: field, as: UTF8.self)
  }

  static func record(_ row: JSONValue, in score: inout Score) {
    let seen = play(row)
    score.record(
      row["name"].string ?? "", seen == row["expected_cookie"].string,
      "\(row["set_cookie"].text.prefix(200)): \(seen?.prefix(100) ?? "none"), "
        + "expected \(row["expected_cookie"].text.prefix(100))")
  }

  /// All that can be said in fields is met. What the suite tests besides are documents: `document.cookie`, from which
  /// HttpOnly hides, and requests that a page of another site makes, for which SameSite is. A script has neither.
  @Test("The cookie tests of the Web Platform Tests")
  func webPlatformTests() throws {
    var score = Score("cookies, WPT")
    for row in try Fixture.json("cookies.json").array { Self.record(row, in: &score) }
    // libcurl 7.88.1 passes 130.
    try score.hold(floor: score.total)
  }

  /// Older rows without a note, whose cookies are nameless too ("=ABC", "five"): RFC 6265 drops these, and RFC 6265bis
  /// (§5.6, and the Web Platform Tests with it) keeps them.
  private static let nameless: Set = [
    "chromium0012", "mozilla0012", "mozilla0017", "name0017", "name0025", "name0028",
  ]

  /// The suite has no licence that would let it be here; HTTPSCRIPT_HTTP_STATE names the file where there is one.
  @Test("The http-state working group's tests")
  func httpState() throws {
    guard let path = Fixture.environment("HTTPSCRIPT_HTTP_STATE") else {
      print("suite cookies, http-state: not run, HTTPSCRIPT_HTTP_STATE names no cookies.json")
      return
    }
    var score = Score("cookies, http-state")
    for row in try Fixture.json(at: path).array where row["suite"].string == "http-state" {
      if row["status"].string == "disabled" {
        score.skip(row["name"].string ?? "", "disabled in the suite")
      } else if (row["note"].string ?? "").contains("nameless") || Self.nameless.contains(row["name"].string ?? "") {
        score.skip(row["name"].string ?? "", "RFC 6265bis keeps nameless cookies")
      } else {
        Self.record(row, in: &score)
      }
    }
    try score.hold(floor: score.total)
  }

  @Test("More rows of both suites are met than libcurl meets")
  func libcurl() throws {
    guard let path = Fixture.environment("HTTPSCRIPT_HTTP_STATE") else { return }
    let rows = try Fixture.json(at: path).array
    let ours = rows.count { Self.play($0) == $0["expected_cookie"].string }
    let theirs = rows.count { $0["curl_7_88_1"].isTrue }
    print("suite cookies, all \(rows.count) rows: \(ours), libcurl 7.88.1 \(theirs)")
    #expect(ours > theirs)
  }

  @Test("The public suffix list's tests")
  func publicSuffixes() throws {
    var score = Score("psl")
    for row in try Fixture.json("psl.json").array {
      guard let host = row["host"].string else { continue }
      let seen = PublicSuffix.registrableDomain(of: host)
      score.record(
        host, seen == row["registrable_domain"].string,
        "\(seen ?? "none"), expected \(row["registrable_domain"].text)")
    }
    try score.hold(floor: score.total)
  }
}
