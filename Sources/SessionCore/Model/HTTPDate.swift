/// Dates as HTTP and cookies write them, and the seconds they mean.
public enum HTTPDate {
  /// The Unix time of a date text, or nil where it is none.
  ///
  /// Reads the three forms of RFC 9110 §5.6.7 (IMF-fixdate, RFC 850, asctime) and, by the algorithm of RFC 6265 §5.1.1,
  /// whatever cookies use: the parts may come in any order, and what is not understood is skipped. Zones are not
  /// looked at, since every such date is in GMT. A date that does not exist (30 February) is none.
  public static func parse(_ text: String) -> Double? {
    var parts = Parts()
    for token in text.utf8.split(whereSeparator: isDelimiter) { parts.take(Array(token)) }
    return parts.seconds
  }

  /// The preferred form, as in `Sun, 06 Nov 1994 08:49:37 GMT`. Fractions are cut; years before 0 or after 9999 are
  /// not what the form can say, and give the nearest it can.
  public static func format(_ seconds: Double) -> String {
    let limited = min(max(seconds, -62_167_219_200), 253_402_300_799)
    let whole = Int(limited.rounded(.down))
    let day = floorDivide(whole, 86400)
    let time = whole - day * 86400
    let date = CivilDate(days: day)
    let weekday = weekdays[(day % 7 + 11) % 7]
    let clock = "\(two(time / 3600)):\(two(time / 60 % 60)):\(two(time % 60))"
    let year = String(10000 + date.year).dropFirst()
    return "\(weekday), \(two(date.day)) \(months[date.month - 1]) \(year) \(clock) GMT"
  }

  private static let weekdays = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
  private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

  private static func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }

  /// RFC 6265 §5.1.1; a colon is none.
  private static func isDelimiter(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x09, 0x20...0x2F, 0x3B...0x40, 0x5B...0x60, 0x7B...0x7E: return true
    default: return false
    }
  }

  /// What has been found so far; the first token of a kind counts.
  private struct Parts {
    var time: (hour: Int, minute: Int, second: Int)?
    var day: Int?
    var month: Int?
    var year: Int?

    mutating func take(_ token: [UInt8]) {
      if time == nil, let found = Self.time(token) {
        time = found
      } else if day == nil, let found = Self.number(token, digits: 1...2) {
        day = found
      } else if month == nil, let found = Self.month(token) {
        month = found
      } else if year == nil, let found = Self.number(token, digits: 2...4) {
        year = found < 70 ? found + 2000 : found < 100 ? found + 1900 : found
      }
    }

    var seconds: Double? {
      guard let time, let day, let month, let year, year >= 1601 else { return nil }
      // A leap second reads as the second after it.
      guard time.hour <= 23, time.minute <= 59, time.second <= 60 else { return nil }
      let date = CivilDate(year: year, month: month, day: day)
      guard day >= 1, CivilDate(days: date.days) == date else { return nil }
      return Double(date.days * 86400 + time.hour * 3600 + time.minute * 60 + time.second)
    }

    private static func time(_ token: [UInt8]) -> (Int, Int, Int)? {
      let fields = token.split(separator: UInt8(ascii: ":"), maxSplits: 2, omittingEmptySubsequences: false)
      guard fields.count == 3, fields[0].count <= 2, fields[1].count <= 2,
        let hour = number(Array(fields[0]), digits: 1...2), let minute = number(Array(fields[1]), digits: 1...2),
        let second = number(Array(fields[2]), digits: 1...2)
      else { return nil }
      return (hour, minute, second)
    }

    /// Digits at the token's start, followed by none.
    private static func number(_ token: [UInt8], digits: ClosedRange<Int>) -> Int? {
      let count = token.prefix { HeaderText.digit($0) != nil }.count
      guard digits.contains(count) else { return nil }
      return token.prefix(count).reduce(0) { $0 * 10 + Int($1 - 0x30) }
    }

    private static func month(_ token: [UInt8]) -> Int? {
      guard token.count >= 3 else { return nil }
      let name = String(decoding: token.prefix(3), as: UTF8.self)
      return months.firstIndex { HeaderText.equalNames($0, name) }.map { $0 + 1 }
    }
  }

  static func floorDivide(_ a: Int, _ b: Int) -> Int { a / b - (a % b < 0 ? 1 : 0) }
}

/// A day of the Gregorian calendar and its number from 1 January 1970.
struct CivilDate: Equatable {
  var year: Int
  var month: Int
  var day: Int

  init(year: Int, month: Int, day: Int) {
    self.year = year
    self.month = month
    self.day = day
  }

  init(days: Int) {
    // Eras of 400 years that begin on 1 March.
    let shifted = days + 719_468
    let era = HTTPDate.floorDivide(shifted, 146_097)
    let dayOfEra = shifted - era * 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let shiftedMonth = (5 * dayOfYear + 2) / 153
    day = dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
    month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
    year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
  }

  var days: Int {
    let shiftedYear = month <= 2 ? year - 1 : year
    let era = HTTPDate.floorDivide(shiftedYear, 400)
    let yearOfEra = shiftedYear - era * 400
    let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
    let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
    return era * 146_097 + dayOfEra - 719_468
  }
}
