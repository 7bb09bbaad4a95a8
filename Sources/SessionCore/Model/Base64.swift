/// Base64 (RFC 4648 §4).
public enum Base64 {
  private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

  /// The six bits of each byte; 64 for one that is skipped, 255 for one that does not belong.
  private static let values: [UInt8] = {
    var values = [UInt8](repeating: 255, count: 256)
    for (value, byte) in alphabet.enumerated() { values[Int(byte)] = UInt8(value) }
    values[Int(UInt8(ascii: "-"))] = 62
    values[Int(UInt8(ascii: "_"))] = 63
    for byte in " \t\r\n".utf8 { values[Int(byte)] = 64 }
    return values
  }()

  /// With padding, on one line.
  public static func encode(_ bytes: UnsafeRawBufferPointer) -> [UInt8] {
    var text: [UInt8] = []
    text.reserveCapacity((bytes.count + 2) / 3 * 4)
    for start in stride(from: 0, to: bytes.count, by: 3) {
      let count = min(3, bytes.count - start)
      var group = 0
      for index in 0..<3 { group = group << 8 | (index < count ? Int(bytes[start + index]) : 0) }
      for index in 0..<4 {
        text.append(index <= count ? alphabet[group >> (18 - 6 * index) & 63] : UInt8(ascii: "="))
      }
    }
    return text
  }

  /// The same for text.
  static func encode(_ text: Octets) -> Octets { Octets(bytes: text.bytes.withUnsafeBytes { encode($0) }) }

  /// nil when the text is not Base64. White space is skipped; padding may be missing but not be wrong.
  public static func decode(_ text: UnsafeRawBufferPointer) -> [UInt8]? {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(text.count / 4 * 3 + 3)
    var bits: UInt32 = 0
    var digits = 0
    var padding = 0
    for byte in text {
      if byte == UInt8(ascii: "=") {
        padding += 1
        continue
      }
      let value = values[Int(byte)]
      if value == 64 { continue }
      if value == 255 || padding > 0 { return nil }
      bits = bits << 6 | UInt32(value)
      digits += 1
      if digits % 4 != 1 { bytes.append(UInt8(truncatingIfNeeded: bits >> (6 - 2 * UInt32((digits + 3) % 4)))) }
    }
    let isWhole = digits % 4 != 1 && (padding == 0 || (digits + padding) % 4 == 0 && padding <= 2)
    return isWhole ? bytes : nil
  }
}
