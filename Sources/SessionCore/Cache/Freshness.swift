/// How long a response may be used without asking, and how old it is (RFC 9111 §4.2).
struct Freshness: Equatable, Sendable {
  /// Seconds from the response's own birth.
  var lifetime = 0.0
  /// The response says so itself; otherwise it is guessed from its last modification.
  var isExplicit = false
  /// How old it was when it was received.
  var initialAge = 0.0
  /// When it was received (Unix seconds).
  var receivedAt = 0.0
  /// When the server made it, as far as it says.
  var date = 0.0

  /// A guess is this part of the time since the last modification (§4.2.2) …
  private static let heuristicFraction = 0.1
  /// … and no more than a week.
  private static let heuristicLimit = 7.0 * 24 * 3600

  init(status: Int, fields: MessageFields, directives: CacheDirectives, requestedAt: Double, receivedAt: Double) {
    self.receivedAt = receivedAt
    date = fields.first("date").flatMap(Self.date) ?? receivedAt
    let apparentAge = max(0, receivedAt - date)
    let corrected = Self.age(fields) + max(0, receivedAt - requestedAt)
    // A Date has whole seconds; a part of one is not age.
    initialAge = max(apparentAge < 1 ? 0 : apparentAge, corrected)
    takeLifetime(status, fields, directives)
  }

  /// §4.2.3. A clock that was set back makes nothing younger than it was.
  func age(at now: Double) -> Double { initialAge + max(0, now - receivedAt) }

  func isFresh(at now: Double) -> Bool { lifetime > age(at: now) }

  /// Seconds since it went stale; negative while it is fresh.
  func staleness(at now: Double) -> Double { age(at: now) - lifetime }

  /// §4.2.1. `s-maxage` is for shared caches.
  private mutating func takeLifetime(_ status: Int, _ fields: MessageFields, _ directives: CacheDirectives) {
    switch directives.seconds("max-age") {
    case .value(let seconds): (lifetime, isExplicit) = (seconds, true)
    case .invalid: (lifetime, isExplicit) = (0, true)
    case .absent:
      let expires = fields.all("expires")
      if !expires.isEmpty {
        isExplicit = true
        let isOne = expires.allSatisfy { $0 == expires[0] }
        lifetime = isOne ? max(0, (Self.date(expires[0]) ?? date) - date) : 0
      } else if Self.mayGuess(status, directives), let modified = fields.first("last-modified").flatMap(Self.date) {
        lifetime = min(max(0, date - modified) * Self.heuristicFraction, Self.heuristicLimit)
      }
    }
  }

  /// Status codes whose meaning says how long they hold (RFC 9110 §15.1), and whatever is called `public`.
  static func mayGuess(_ status: Int, _ directives: CacheDirectives) -> Bool {
    switch status {
    case 200, 203, 204, 206, 300, 301, 308, 404, 405, 410, 414, 501: return true
    default: return directives.has("public")
    }
  }

  /// The first member of Age counts; what is no number says nothing (§5.1).
  private static func age(_ fields: MessageFields) -> Double {
    let digits = (fields.first("age") ?? "").utf8.prefix { HeaderText.digit($0) != nil }
    guard !digits.isEmpty else { return 0 }
    return min(Double(String(decoding: Array(digits), as: UTF8.self)) ?? 0, CacheDirectives.largest)
  }

  /// A date in one of HTTP's forms. Cookies are read more leniently than Expires may be: a time has two digits in each
  /// part.
  static func date(_ text: String) -> Double? {
    hasTime(Array(text.utf8)) ? HTTPDate.parse(text) : nil
  }

  /// Whether one of the words is like `00:00:00`.
  private static func hasTime(_ text: [UInt8]) -> Bool {
    text.split(separator: 0x20).contains { word in
      word.count == 8
        && word.indices.allSatisfy { index in
          (word[index] == UInt8(ascii: ":")) == [2, 5].contains(index - word.startIndex)
        }
    }
  }
}
