/// The Content-Range field for bytes (RFC 9110 §14.4).
public struct ContentRange: Equatable, Sendable {
  /// First and last byte; nil in the unsatisfied form (`bytes */100`).
  public var bytes: ClosedRange<Int>?
  /// The whole length, nil where it is not known (`*`).
  public var length: Int?

  /// Nil where the value is no valid range of bytes.
  public init?(_ value: String) {
    let text = Self.trimmed(Substring(value))
    let words = text.split(separator: " ", maxSplits: 1)
    guard words.count == 2, HeaderText.equalNames(Self.trimmed(words[0]), "bytes") else { return nil }
    let parts = words[1].split(separator: "/", omittingEmptySubsequences: false).map(Self.trimmed)
    guard parts.count == 2 else { return nil }
    if parts[1] != "*" {
      guard let length = Self.number(parts[1]) else { return nil }
      self.length = length
    }
    if parts[0] == "*" {
      guard length != nil else { return nil }
      return
    }
    guard let range = Self.range(parts[0]) else { return nil }
    if let length, range.upperBound >= length { return nil }
    bytes = range
  }

  private static func range(_ text: String) -> ClosedRange<Int>? {
    let bounds = text.split(separator: "-", omittingEmptySubsequences: false).map(trimmed)
    guard bounds.count == 2, let first = number(bounds[0]), let last = number(bounds[1]), first <= last else {
      return nil
    }
    return first...last
  }

  private static func trimmed(_ text: Substring) -> String {
    var text = String(text)
    return text.withUTF8 { String(decoding: HeaderText.trimmed(UnsafeRawBufferPointer($0)), as: UTF8.self) }
  }

  private static func number(_ text: String) -> Int? {
    var text = text
    return text.withUTF8 { HeaderText.number(UnsafeRawBufferPointer($0)) }
  }
}
