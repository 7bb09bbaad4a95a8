/// A Cache-Control field, taken apart (RFC 9111 §5.2).
///
/// Names are compared without case; what stands in a quoted string is never taken for a directive. Where a directive
/// comes more than once, the first one counts (§4.2.1).
struct CacheDirectives: Equatable, Sendable {
  /// What a directive says that has a number of seconds for its argument.
  enum Seconds: Equatable, Sendable {
    case absent
    /// There, and not a number: a response of which this is said is stale (RFC 9111 §4.2.1).
    case invalid
    case value(Double)

    /// The number, or nil.
    var number: Double? {
      if case .value(let number) = self { return number }
      return nil
    }
  }

  private struct Directive: Equatable {
    /// In lower case.
    var name: String
    var argument: String?
    /// The argument stands as the grammar has it.
    var isRegular = true
  }

  private var directives: [Directive] = []

  /// More seconds than this mean the same as this many (RFC 9111 §1.2.2).
  static let largest = 2_147_483_648.0

  init(_ values: [String] = []) {
    for value in values { take(Array(value.utf8)[...]) }
  }

  var isEmpty: Bool { directives.isEmpty }

  func has(_ name: String) -> Bool { directives.contains { $0.name == name } }

  /// The directive is there without a list of fields, and so is meant of the whole response.
  func hasUnqualified(_ name: String) -> Bool {
    directives.contains { $0.name == name && ($0.argument ?? "").isEmpty }
  }

  /// The names of fields that a directive is about, in lower case: `no-cache="set-cookie"`.
  func fields(_ name: String) -> [String] {
    directives.filter { $0.name == name }.compactMap(\.argument).flatMap { $0.split(separator: ",") }
      .map { MessageFields.trimmed($0).lowercased() }.filter { !$0.isEmpty }
  }

  func seconds(_ name: String) -> Seconds {
    guard let directive = directives.first(where: { $0.name == name }) else { return .absent }
    guard directive.isRegular, let argument = directive.argument, let number = Self.number(argument) else {
      return .invalid
    }
    return .value(number)
  }

  /// `max-stale` may stand without a number: then any age will do.
  var maximumStaleness: Double? {
    guard let directive = directives.first(where: { $0.name == "max-stale" }) else { return nil }
    guard let argument = directive.argument else { return .infinity }
    return Self.number(argument)
  }

  /// A decimal number and nothing else, however large.
  private static func number(_ text: String) -> Double? {
    guard !text.isEmpty, text.utf8.allSatisfy({ HeaderText.digit($0) != nil }) else { return nil }
    return min(Double(text) ?? largest, largest)
  }

  private mutating func take(_ value: ArraySlice<UInt8>) {
    var rest = value
    while !rest.isEmpty {
      let end = Self.endOfMember(rest)
      add(rest[..<end])
      rest = rest[end...].dropFirst()
    }
  }

  /// The next comma that stands in no quoted string.
  private static func endOfMember(_ text: ArraySlice<UInt8>) -> Int {
    var isQuoted = false
    var index = text.startIndex
    while index < text.endIndex {
      switch text[index] {
      case UInt8(ascii: "\""): isQuoted.toggle()
      case UInt8(ascii: "\\") where isQuoted: index += 1
      case UInt8(ascii: ",") where !isQuoted: return index
      default: break
      }
      index += 1
    }
    return text.endIndex
  }

  private mutating func add(_ member: ArraySlice<UInt8>) {
    let text = MessageFields.trimmed(Substring(String(decoding: member, as: UTF8.self)))
    guard !text.isEmpty else { return }
    guard let equals = text.utf8.firstIndex(of: UInt8(ascii: "=")) else {
      return directives.append(Directive(name: text.lowercased()))
    }
    let name = String(text[..<equals])
    let argument = String(text[text.utf8.index(after: equals)...])
    let hasSpace = name.utf8.last.map(Self.isSpace) ?? false || argument.utf8.first.map(Self.isSpace) ?? false
    directives.append(
      Directive(
        name: MessageFields.trimmed(Substring(name)).lowercased(), argument: Self.unquoted(argument),
        isRegular: !hasSpace))
  }

  private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }

  private static func unquoted(_ text: String) -> String {
    let bytes = Array(MessageFields.trimmed(Substring(text)).utf8)
    guard bytes.count >= 2, bytes.first == UInt8(ascii: "\""), bytes.last == UInt8(ascii: "\"") else {
      return String(decoding: bytes, as: UTF8.self)
    }
    var result: [UInt8] = []
    var isEscaped = false
    for byte in bytes[1..<(bytes.count - 1)] {
      if byte == UInt8(ascii: "\\"), !isEscaped {
        isEscaped = true
      } else {
        result.append(byte)
        isEscaped = false
      }
    }
    return String(decoding: result, as: UTF8.self)
  }
}
