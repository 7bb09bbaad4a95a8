/// What a Strict-Transport-Security field says (RFC 6797 §6.1).
struct HSTSPolicy: Equatable {
  /// Seconds; 0 takes a policy back.
  var maxAge: Double
  var includesSubdomains: Bool

  /// Nil for a field that must be ignored: no `max-age`, or a directive twice.
  init?(_ field: UnsafeRawBufferPointer) {
    var age: Double?
    var includes = false
    var seen: Set<String> = []
    for part in field.split(separator: UInt8(ascii: ";")) {
      let whole = HeaderText.trimmed(UnsafeRawBufferPointer(rebasing: part))
      if whole.isEmpty { continue }
      let pair = whole.split(separator: UInt8(ascii: "="), maxSplits: 1)
      let name = String(decoding: HeaderText.trimmed(UnsafeRawBufferPointer(rebasing: pair[0])), as: UTF8.self)
        .lowercased()
      guard seen.insert(name).inserted else { return nil }
      switch name {
      case "max-age":
        guard pair.count == 2, let seconds = Self.seconds(UnsafeRawBufferPointer(rebasing: pair[1])) else { return nil }
        age = seconds
      case "includesubdomains": includes = true
      default: break
      }
    }
    guard let age else { return nil }
    maxAge = age
    includesSubdomains = includes
  }

  /// A number, in quotes or not. More digits than a time can have are a very long time.
  private static func seconds(_ text: UnsafeRawBufferPointer) -> Double? {
    var digits = HeaderText.trimmed(text)
    if digits.count >= 2, digits.first == UInt8(ascii: "\""), digits.last == UInt8(ascii: "\"") {
      digits = UnsafeRawBufferPointer(rebasing: digits[1..<(digits.count - 1)])
    }
    guard !digits.isEmpty, digits.allSatisfy({ HeaderText.digit($0) != nil }) else { return nil }
    return HeaderText.number(digits).map(Double.init) ?? 1e10
  }
}
