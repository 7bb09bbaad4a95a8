/// Bytes from a terminal until they make a whole key, so that the line editor, given a key, never waits for its rest.
struct KeyBuffer {
  private static let escape = UInt8(0x1B)
  private var bytes: [UInt8] = []

  var isEmpty: Bool { bytes.isEmpty }

  mutating func append(_ byte: UInt8) { bytes.append(byte) }

  mutating func removeAll() { bytes.removeAll(keepingCapacity: true) }

  /// Whether there is a whole character, or a whole escape sequence (ECMA-48 §5.4: ESC [, parameters, a final byte).
  var isComplete: Bool {
    guard let first = bytes.first else { return false }
    guard first == Self.escape else { return bytes.count >= Self.length(of: first) }
    guard bytes.count > 1 else { return false }
    switch bytes[1] {
    case UInt8(ascii: "["): return bytes.count > 2 && (0x40...0x7E).contains(bytes[bytes.count - 1])
    case UInt8(ascii: "O"): return bytes.count > 2
    default: return bytes.count > Self.length(of: bytes[1])
    }
  }

  /// Takes the first character out, as its Unicode scalar; a byte that begins none is taken as it is.
  mutating func next() -> UInt32? {
    guard let first = bytes.first else { return nil }
    let length = Self.length(of: first)
    if length > 1, bytes.count >= length,
      let scalar = String(validating: bytes.prefix(length), as: UTF8.self)?.unicodeScalars.first
    {
      bytes.removeFirst(length)
      return scalar.value
    }
    bytes.removeFirst()
    return UInt32(first)
  }

  /// Of a character in UTF-8, by its first byte (RFC 3629 §3).
  private static func length(of first: UInt8) -> Int {
    switch first {
    case 0xC2...0xDF: 2
    case 0xE0...0xEF: 3
    case 0xF0...0xF4: 4
    default: 1
    }
  }
}
