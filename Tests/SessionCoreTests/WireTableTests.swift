import TestSupport
import Testing

@testable import SessionCore

/// Chromium's tables for single fields.
@Suite struct WireTableTests {
  private static func rows(_ table: String) throws -> [[String]] {
    try Fixture.json("http_wire.json")["chromium_http_util"][table]["rows"].array.map { row in
      row.array.map { $0.string ?? "" }
    }
  }

  /// The rows Chromium differs in take no unknown length and no unsatisfied range, which RFC 9110 §14.4 has.
  @Test func contentRanges() throws {
    var score = Score("http_wire, Content-Range")
    for row in try Self.rows("ParseContentRangeHeader") {
      let range = ContentRange(row[0])
      let numbers = row[2...].map { Int($0.prefix { $0 != "l" }) }
      let isRight =
        row[1] == "true"
        ? range?.bytes?.lowerBound == numbers[0] && range?.bytes?.upperBound == numbers[1]
          && range?.length == numbers[2]
        : range == nil
      score.record(row[0], isRight, "\(String(describing: range))")
    }
    try score.hold(floor: 28)
  }

  @Test func retryAfter() throws {
    // Wed, 5 Nov 2014 22:39:30 UTC, the table's own now; a date is 1 Jan 2015 12:34:56 or long past.
    let now = 1_415_227_170.0
    var score = Score("http_wire, Retry-After")
    for row in try Self.rows("ParseRetryAfterHeader") {
      let seconds = RetryAfter.parse(row[0], now: now)
      let expected = row[2] == "later - now" ? 1_420_115_696 - now : Double(row[2].filter(\.isNumber))
      score.record(row[0], row[1] == "true" ? seconds == expected : seconds == nil, "\(String(describing: seconds))")
    }
    try score.hold(floor: 14)
  }
}
