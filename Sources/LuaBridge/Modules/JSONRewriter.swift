/// A JSON text changed so that jansson accepts it, with a way back to places in the original.
struct JSONRewriter {
  private(set) var bytes: [UInt8]
  /// Last byte of the noncharacter that stands for U+0000 (`EF B7 xx`), when one does.
  private(set) var placeholder: UInt8?
  /// Where in `bytes` a byte was added, in order.
  private var insertions: [Int] = []
  private var bigIntegersAreDone = false

  init(_ text: Slice<UnsafeRawBufferPointer>) { bytes = Array(text) }

  /// The place in the original text of a place in the rewritten one.
  func original(_ place: JSONFailure.Place) -> JSONFailure.Place {
    let lineStart = bytes.prefix(place.position).lastIndex(of: UInt8(ascii: "\n")) ?? 0
    let before = insertions.prefix { $0 < place.position }
    var place = place
    place.position -= before.count
    place.column -= before.count { $0 >= lineStart }
    return place
  }
}

// MARK: Integers beyond 64 bits

extension JSONRewriter {
  /// Makes each such integer a real (`.0` after it) or a string (quotes around it).
  /// - Returns: false when that has been done before.
  mutating func rewriteBigIntegers(as kind: JSONDecodingOptions.BigIntegers) -> Bool {
    if bigIntegersAreDone { return false }
    bigIntegersAreDone = true
    var output: [UInt8] = []
    output.reserveCapacity(bytes.count + bytes.count / 8)
    var copied = 0
    var at = 0
    while let token = nextNumber(from: at) {
      at = token.upperBound
      guard isBig(token), !isName(token) else { continue }
      output.append(contentsOf: bytes[copied..<token.lowerBound])
      append(token, as: kind, to: &output)
      copied = token.upperBound
    }
    output.append(contentsOf: bytes[copied...])
    bytes = output
    return true
  }

  private mutating func append(
    _ token: Range<Int>, as kind: JSONDecodingOptions.BigIntegers, to output: inout [UInt8]
  ) {
    let (before, after): ([UInt8], [UInt8]) =
      kind == .float ? ([], [UInt8(ascii: "."), UInt8(ascii: "0")]) : ([UInt8(ascii: "\"")], [UInt8(ascii: "\"")])
    insertions += output.count..<output.count + before.count
    output += before
    output.append(contentsOf: bytes[token])
    insertions += output.count..<output.count + after.count
    output += after
  }

  /// The next run of bytes outside strings that a number may consist of and that begins as one does.
  private func nextNumber(from start: Int) -> Range<Int>? {
    var at = start
    while at < bytes.count {
      let byte = bytes[at]
      if byte == UInt8(ascii: "\"") {
        at = endOfString(from: at)
      } else if byte == UInt8(ascii: "-") || isDigit(byte) {
        return at..<endOfNumber(from: at)
      } else {
        at += 1
      }
    }
    return nil
  }

  private func isDigit(_ byte: UInt8) -> Bool { byte &- UInt8(ascii: "0") < 10 }

  private func endOfString(from quote: Int) -> Int {
    var at = quote + 1
    while at < bytes.count {
      if bytes[at] == UInt8(ascii: "\"") { return at + 1 }
      at += bytes[at] == UInt8(ascii: "\\") ? 2 : 1
    }
    return bytes.count
  }

  private func endOfNumber(from start: Int) -> Int {
    let integer = bytes[(start + 1)...].firstIndex { !isDigit($0) } ?? bytes.count
    guard integer < bytes.count, ".eE".utf8.contains(bytes[integer]) else { return integer }
    return bytes[integer...].firstIndex { !isDigit($0) && !".eE+-".utf8.contains($0) } ?? bytes.count
  }

  /// An integer as JSON writes it (no needless zero in front) that 64 bits do not hold.
  private func isBig(_ token: Range<Int>) -> Bool {
    let isNegative = bytes[token.lowerBound] == UInt8(ascii: "-")
    let digits = bytes[token].dropFirst(isNegative ? 1 : 0)
    guard digits.count >= 19, digits.first != UInt8(ascii: "0"), digits.allSatisfy(isDigit) else { return false }
    if digits.count > 19 { return true }
    let magnitude = digits.reduce(UInt64(0)) { $0 * 10 + UInt64($1 - UInt8(ascii: "0")) }
    return magnitude > UInt64(Int64.max) + (isNegative ? 1 : 0)
  }

  /// A number in the place of a member's name is wrong, and must not become right by quotes.
  private func isName(_ token: Range<Int>) -> Bool {
    let next = bytes[token.upperBound...].first { !" \t\r\n".utf8.contains($0) }
    return next == UInt8(ascii: ":")
  }
}

// MARK: U+0000 in names

extension JSONRewriter {
  /// Replaces each `\u0000` by the escape of a noncharacter (U+FDD0 … U+FDEF) that the text does not have.
  /// - Returns: false when that has been done before, or the text has them all.
  mutating func replaceEscapedNul() -> Bool {
    guard placeholder == nil, let number = unusedNoncharacter() else { return false }
    placeholder = 0x90 + UInt8(number)
    let escape = Array("\\ufd\(String(0xD0 + number, radix: 16))".utf8)
    forEachEscape { bytes, at in
      if bytes[at...].starts(with: Array("\\u0000".utf8)) { bytes.replaceSubrange(at..<at + 6, with: escape) }
    }
    return true
  }

  private mutating func unusedNoncharacter() -> Int? {
    var used: Set<Int> = []
    forEachEscape { bytes, at in
      let text = String(decoding: bytes[at...].prefix(6), as: UTF8.self).lowercased()
      if text.hasPrefix("\\ufd"), let code = Int(text.dropFirst(4), radix: 16) { used.insert(code - 0xD0) }
    }
    for at in bytes.indices.dropLast(2) where bytes[at] == 0xEF && bytes[at + 1] == 0xB7 {
      used.insert(Int(bytes[at + 2]) - 0x90)
    }
    return (0..<32).first { !used.contains($0) }
  }

  /// Calls `body` with the index of each backslash that begins an escape.
  private mutating func forEachEscape(_ body: (inout [UInt8], Int) -> Void) {
    var at = 0
    while at < bytes.count {
      guard bytes[at] == UInt8(ascii: "\\") else {
        at += 1
        continue
      }
      body(&bytes, at)
      at += 2
    }
  }
}
