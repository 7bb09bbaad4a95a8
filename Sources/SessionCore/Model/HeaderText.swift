import Glibc

/// Looks at header lines without making strings of them.
enum HeaderText {
  /// The value of a field line when it has this name (in lower case), without white space around it.
  static func value(of name: StaticString, in line: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer? {
    guard isField(name, line) else { return nil }
    return trimmed(UnsafeRawBufferPointer(rebasing: line[(name.utf8CodeUnitCount + 1)...]))
  }

  /// Whether a field line has this name (in lower case). Most lines that do not are told by their length.
  @inline(__always)
  static func isField(_ name: StaticString, _ line: UnsafeRawBufferPointer) -> Bool {
    let length = name.utf8CodeUnitCount
    return line.count > length && line[length] == UInt8(ascii: ":") && begins(line, with: name)
  }

  @inline(never)
  private static func begins(_ line: UnsafeRawBufferPointer, with name: StaticString) -> Bool {
    let wanted = name.utf8Start
    for index in 0..<name.utf8CodeUnitCount {
      let byte = line[index]
      if byte != wanted[index], lower(byte) != wanted[index] { return false }
    }
    return true
  }

  /// The values of all fields of this name (in lower case) in a block of CRLF-ended lines, in order.
  static func values(of name: StaticString, in block: Bytes) -> [String] {
    values(of: name, in: block) { String(decoding: $0, as: UTF8.self) }
  }

  /// The same with the bytes as they came.
  static func octets(of name: StaticString, in block: Bytes) -> [Octets] {
    values(of: name, in: block) { Octets(bytes: $0) }
  }

  private static func values<Value>(
    of name: StaticString, in block: Bytes, _ make: (UnsafeRawBufferPointer) -> Value
  ) -> [Value] {
    var result: [Value] = []
    forEachLine(block.buffer) { line in
      if let value = value(of: name, in: line) { result.append(make(value)) }
    }
    return result
  }

  static func forEachLine(_ block: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) -> Void) {
    guard let base = block.baseAddress else { return }
    var start = 0
    var index = 0
    while let found = memchr(base + index, 0x0A, block.count - index) {
      let end = base.distance(to: UnsafeRawPointer(found))
      index = end + 1
      if end > start, block[end - 1] == 0x0D {
        body(UnsafeRawBufferPointer(start: base + start, count: end - 1 - start))
        start = index
      }
    }
  }

  static func trimmed(_ text: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
    var start = 0
    var end = text.count
    while start < end, text[start] == 0x20 || text[start] == 0x09 { start += 1 }
    while end > start, text[end - 1] == 0x20 || text[end - 1] == 0x09 { end -= 1 }
    return UnsafeRawBufferPointer(rebasing: text[start..<end])
  }

  static func trimmed(_ text: String) -> String {
    var text = text
    return text.withUTF8 { String(decoding: trimmed(UnsafeRawBufferPointer($0)), as: UTF8.self) }
  }

  /// A decimal number and nothing else.
  static func number(_ text: UnsafeRawBufferPointer) -> Int? {
    guard !text.isEmpty, text.count < 19 else { return nil }
    var value = 0
    for byte in text {
      guard let digit = digit(byte) else { return nil }
      value = value * 10 + digit
    }
    return value
  }

  static func digit(_ byte: UInt8) -> Int? {
    byte >= 0x30 && byte <= 0x39 ? Int(byte) - 0x30 : nil
  }

  static func lower(_ byte: UInt8) -> UInt8 {
    byte >= 0x41 && byte <= 0x5A ? byte | 0x20 : byte
  }

  /// Compares names the way HTTP does: ASCII letters in any case.
  static func equalNames(_ a: String, _ b: String) -> Bool {
    guard a.utf8.count == b.utf8.count else { return false }
    return zip(a.utf8, b.utf8).allSatisfy { lower($0) == lower($1) }
  }
}
