/// What says that two responses have the same bytes: a strong validator (RFC 9110 §8.8), as a server wrote it.
enum Validator: Equatable, Sendable {
  case entityTag(String)
  case lastModified(String)

  /// What goes into If-Range.
  var text: String {
    switch self {
    case .entityTag(let text), .lastModified(let text): return text
    }
  }

  /// `text` after a letter for the kind.
  var kindAndText: String {
    switch self {
    case .entityTag(let text): return "e" + text
    case .lastModified(let text): return "m" + text
    }
  }

  /// Of what `kindAndText` gave.
  init?(text: String) {
    switch text.first {
    case "e": self = .entityTag(String(text.dropFirst()))
    case "m": self = .lastModified(String(text.dropFirst()))
    default: return nil
    }
  }

  /// How much older than the response a date must be to say that nothing was changed since (§8.8.2.2, with the minute
  /// of the older RFC 7232, which allows for clocks that differ).
  private static let leastAge = 60.0

  /// The validator of a response's fields, or nil where it has none that is strong.
  static func of(entityTags: [String], lastModified: [String], dates: [String]) -> Validator? {
    if entityTags.count == 1, isStrongTag(entityTags[0]) { return .entityTag(entityTags[0]) }
    guard entityTags.isEmpty, lastModified.count == 1, dates.count == 1,
      let modified = HTTPDate.parse(lastModified[0]), let date = HTTPDate.parse(dates[0]),
      date - modified >= leastAge
    else { return nil }
    return .lastModified(lastModified[0])
  }

  private static func isStrongTag(_ text: String) -> Bool {
    let bytes = text.utf8
    return bytes.count >= 2 && bytes.first == 0x22 && bytes.last == 0x22
      && bytes.dropFirst().dropLast().allSatisfy { $0 == 0x21 || $0 >= 0x23 && $0 != 0x7F }
  }
}
