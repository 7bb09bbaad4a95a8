import Testing

@testable import SessionCore

@Suite("Dates and small fields")
struct DateTests {
  /// Rows of RFC 9110 §5.6.7, of http-state's and of Chromium's cookie dates.
  @Test(
    "Dates in every form",
    arguments: [
      ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777), ("Sunday, 06-Nov-94 08:49:37 GMT", 784_111_777),
      ("Sun Nov  6 08:49:37 1994", 784_111_777), ("Sat, 15-Apr-17 21:01:22 GMT", 1_492_290_082),
      ("Wed,18-Apr-07 22:50:12 GMT", 1_176_936_612), ("WillyWonka  , 18-apr-07   22:50:12", 1_176_936_612),
      ("\"Sat, 15-Apr-17\"21:01:22\"GMT\"", 1_492_290_082), ("Partyday, 18- April-07 22:50:12", 1_176_936_612),
      ("Sat, 15-Apr-17 21:01:22 GMT-0400 (EDT)", 1_492_290_082), ("22:50:12 Thu Apr 18 2007 GMT", 1_176_936_612),
      ("15-Sat, Apr 21:01:22 GMT 17", 1_492_290_082), ("15 17 Apr 21:01:22", 1_492_290_082),
      ("Wednesday, 01-Jan-10 0:0:00 GMT", 1_262_304_000), ("Thu, 10 Dec 2009 13:57:2 GMT", 1_260_453_422),
      ("Sun, 06 Nov 2044 08:49:37 GMT", 2_362_034_977), ("Thu, 01-Jan-1970 00:00:00 GMT", 0),
      ("Fri, 30 Dec 2016 23:59:60 GMT", 1_483_142_400), ("Thu, 29 Feb 2024 00:00:00 GMT", 1_709_164_800),
      ("Mon, 01 Jan 1601 00:00:00 GMT", -11_644_473_600), ("Thu, 01 Jan 70 00:00:01 GMT", 1),
    ])
  func dates(text: String, seconds: Int) {
    #expect(HTTPDate.parse(text) == Double(seconds))
  }

  @Test(
    "No dates",
    arguments: [
      "", "IAintNoDateFool", "Mon, 01-Jan-2011 00: 00:00 GMT", "Sat, 15-Apr-17 91:22:33 21:01:22",
      "Thu, 012-Aug-2008 20:49:07 GMT", "Thu, 12-Aug-31841 20:49:07 GMT", "Thu, 12-Aug-9999999999 20:49:07 GMT",
      "1600 April 30 21:01:22", "30 Feb 2024 12:00:00 GMT", "29 Feb 2023 12:00:00 GMT", "06-Nov-94",
      "Wed, 31 Dec 2008 23:60:59 GMT", "Wed, 31 Dec 2008 24:00:00 GMT", "Wed, 31 Dec 2008 23:59:61 GMT",
      "0 Jan 2000 00:00:00", "32 Jan 2000 00:00:00",
    ])
  func noDates(text: String) {
    #expect(HTTPDate.parse(text) == nil)
  }

  @Test("Formatting, and back again")
  func format() {
    #expect(HTTPDate.format(784_111_777) == "Sun, 06 Nov 1994 08:49:37 GMT")
    #expect(HTTPDate.format(0) == "Thu, 01 Jan 1970 00:00:00 GMT")
    #expect(HTTPDate.format(-1) == "Wed, 31 Dec 1969 23:59:59 GMT")
    #expect(HTTPDate.format(1.9) == "Thu, 01 Jan 1970 00:00:01 GMT")
    #expect(HTTPDate.format(.infinity) == "Fri, 31 Dec 9999 23:59:59 GMT")
    #expect(HTTPDate.format(-.infinity) == "Sat, 01 Jan 0000 00:00:00 GMT")
    for seconds in stride(from: -11_644_473_600.0, to: 253_402_300_799, by: 97_654_321) {
      #expect(HTTPDate.parse(HTTPDate.format(seconds)) == seconds)
    }
  }

  @Test("Retry-After in both forms")
  func retryAfter() {
    let now = 1_415_227_170.0
    for (value, expected) in [("0", 0.0), ("86400", 86400), (" 3 ", 3)] {
      #expect(RetryAfter.parse(value, now: now) == expected)
    }
    #expect(RetryAfter.parse("Thu, 1 Jan 2015 12:34:56 GMT", now: now) == 1_420_115_696 - now)
    #expect(RetryAfter.parse("Mon, 1 Jan 2001 12:34:56 GMT", now: now) == 0)
    for value in ["", "-3", "+1", "1.5", "soon"] { #expect(RetryAfter.parse(value, now: now) == nil) }
  }

  @Test("Content-Range")
  func contentRange() {
    let valid: [(String, ClosedRange<Int>?, Int?)] = [
      ("bytes 0-50/51", 0...50, 51), ("Bytes 0-50/51", 0...50, 51), ("    bytes    0    -   50  \t / \t51", 0...50, 51),
      ("bytes 0-0/1", 0...0, 1), ("bytes 0-10000000000/10000000001", 0...10_000_000_000, 10_000_000_001),
      ("bytes 8-25/*", 8...25, nil), ("bytes */100", nil, 100),
    ]
    for (value, bytes, length) in valid {
      let range = ContentRange(value)
      #expect(range?.bytes == bytes && range?.length == length, "\(value)")
      #expect(range != nil)
    }
    let invalid = [
      "", "megabytes 0-10/50", "0-10/50", "bytes 50-0/51", "bytes */*", "bytes 0-50/10", "bytes 1-/100", "bytes -/100",
      "bytes -1/100", "bytes 0   -   5 0/51", "bytes 0-50/5   1", "bytes 0-40000000000000000000/40000000000000000001",
      "bytes 0-50/-10", "bytes 0-50", "bytes",
    ]
    for value in invalid { #expect(ContentRange(value) == nil, "\(value)") }
  }
}
