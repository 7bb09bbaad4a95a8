/// One challenge of a WWW-Authenticate or Proxy-Authenticate field (RFC 9110 §11.3).
public struct AuthenticationChallenge: Equatable, Sendable {
  /// In lower case.
  public var scheme: String
  /// `token68`, for schemes that use it.
  public var token: String?
  /// Names in lower case, in order; quoted strings undone.
  public var parameters: [(name: String, value: Octets)] = []

  /// "" where there is none.
  public var realm: Octets { value("realm") ?? "" }

  /// A parameter's value where it is text; the name in lower case.
  public func parameter(_ name: String) -> String? { value(name)?.text }

  private func value(_ name: String) -> Octets? { parameters.first { $0.name == name }?.value }

  public static func == (a: Self, b: Self) -> Bool {
    a.scheme == b.scheme && a.token == b.token
      && a.parameters.elementsEqual(b.parameters) { $0.name == $1.name && $0.value == $1.value }
  }
}

/// Takes the list of challenges in a field apart: several in one field or over several fields, commas in quoted
/// strings, names in any case, empty list elements. What makes no sense is skipped.
public struct ChallengeParser {
  private let text: [UInt8]
  private var index = 0

  private init(_ text: Octets) { self.text = text.bytes }

  /// The challenges of all fields of the name, in order.
  public static func parse(_ fields: [Octets]) -> [AuthenticationChallenge] {
    fields.flatMap { field in
      var parser = ChallengeParser(field)
      return parser.challenges()
    }
  }

  private mutating func challenges() -> [AuthenticationChallenge] {
    var result: [AuthenticationChallenge] = []
    while true {
      skipSeparators()
      guard let word = token() else {
        if index >= text.count { return result }
        skipElement()
        continue
      }
      let hadSpace = skipSpace()
      if current == UInt8(ascii: "="), !result.isEmpty {
        result[result.count - 1].parameters.append((word.lowercased(), parameterValue()))
      } else {
        var challenge = AuthenticationChallenge(scheme: word.lowercased())
        if hadSpace { challenge.token = token68() }
        result.append(challenge)
      }
    }
  }

  private var current: UInt8? { index < text.count ? text[index] : nil }

  private mutating func skipSeparators() {
    while let byte = current, byte == 0x20 || byte == 0x09 || byte == UInt8(ascii: ",") { index += 1 }
  }

  private mutating func skipSpace() -> Bool {
    let start = index
    while let byte = current, byte == 0x20 || byte == 0x09 { index += 1 }
    return index > start
  }

  /// To the next comma outside of quotes.
  private mutating func skipElement() {
    while let byte = current, byte != UInt8(ascii: ",") {
      if byte == UInt8(ascii: "\"") { _ = quotedString() } else { index += 1 }
    }
  }

  private mutating func token() -> String? {
    let start = index
    while let byte = current, RequestCheck.isTokenByte(byte) { index += 1 }
    return index > start ? String(decoding: text[start..<index], as: UTF8.self) : nil
  }

  private mutating func parameterValue() -> Octets {
    index += 1
    _ = skipSpace()
    if current == UInt8(ascii: "\"") { return quotedString() }
    let start = index
    while let byte = current, byte != UInt8(ascii: ","), byte != 0x20, byte != 0x09 { index += 1 }
    return Octets(bytes: text[start..<index])
  }

  private mutating func quotedString() -> Octets {
    index += 1
    var bytes: [UInt8] = []
    while let byte = current {
      index += 1
      if byte == UInt8(ascii: "\"") { break }
      if byte == UInt8(ascii: "\\"), let escaped = current {
        bytes.append(escaped)
        index += 1
      } else {
        bytes.append(byte)
      }
    }
    return Octets(bytes: bytes)
  }

  /// A token68 is followed by a comma or the end; anything else there is a parameter's name.
  private mutating func token68() -> String? {
    let start = index
    while let byte = current, isToken68(byte) { index += 1 }
    while current == UInt8(ascii: "=") { index += 1 }
    let end = index
    _ = skipSpace()
    guard end > start, current == nil || current == UInt8(ascii: ",") else {
      index = start
      return nil
    }
    return String(decoding: text[start..<end], as: UTF8.self)
  }

  private func isToken68(_ byte: UInt8) -> Bool {
    PercentEncoding.isUnreserved(byte) || byte == UInt8(ascii: "+") || byte == UInt8(ascii: "/")
  }
}
