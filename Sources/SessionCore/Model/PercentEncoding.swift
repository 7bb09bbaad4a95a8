/// Percent-encoding of URL components (RFC 3986 §2).
public enum PercentEncoding {
  /// Encodes every byte that is not unreserved (letters, digits, `-._~`). NUL-clean.
  public static func encode(_ bytes: UnsafeRawBufferPointer) -> [UInt8] {
    var result: [UInt8] = []
    result.reserveCapacity(bytes.count)
    for byte in bytes {
      if isUnreserved(byte) { result.append(byte) } else { append(byte, to: &result) }
    }
    return result
  }

  /// Undoes `encode`; a percent sign without two hexadecimal digits stays as it is. `plusIsSpace`: as in forms.
  public static func decode(_ bytes: UnsafeRawBufferPointer, plusIsSpace: Bool = false) -> [UInt8] {
    var result: [UInt8] = []
    result.reserveCapacity(bytes.count)
    var index = 0
    while index < bytes.count {
      if let byte = escape(in: bytes, at: index) {
        result.append(byte)
        index += 3
      } else {
        result.append(plusIsSpace && bytes[index] == 0x2B ? 0x20 : bytes[index])
        index += 1
      }
    }
    return result
  }

  /// A URL's bytes as text: where they are not UTF-8, those beyond ASCII are encoded one by one.
  public static func text(_ bytes: UnsafeRawBufferPointer) -> String {
    // Which is most of them; and the check of any UTF-8 takes ten times as long.
    if isASCII(bytes) { return String(decoding: bytes, as: UTF8.self) }
    if let text = String(validating: bytes, as: UTF8.self) { return text }
    var result: [UInt8] = []
    for byte in bytes {
      if byte >= 0x80 { append(byte, to: &result) } else { result.append(byte) }
    }
    return String(decoding: result, as: UTF8.self)
  }

  private static func isASCII(_ bytes: UnsafeRawBufferPointer) -> Bool {
    var index = 0
    while index + 8 <= bytes.count {
      if bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self) & 0x8080_8080_8080_8080 != 0 { return false }
      index += 8
    }
    return bytes[index...].allSatisfy { $0 < 0x80 }
  }

  /// The same for text's UTF-8.
  static func encode(_ text: String) -> String {
    var text = text
    return text.withUTF8 { String(decoding: encode(UnsafeRawBufferPointer($0)), as: UTF8.self) }
  }

  /// Encodes only these ASCII characters, raw spaces and bytes beyond ASCII; escapes that are there stay.
  static func encode(_ text: String, only characters: String) -> String {
    guard text.utf8.contains(where: { isRaw($0) || characters.utf8.contains($0) }) else { return text }
    var result: [UInt8] = []
    for byte in text.utf8 {
      if isRaw(byte) || characters.utf8.contains(byte) { append(byte, to: &result) } else { result.append(byte) }
    }
    return String(decoding: result, as: UTF8.self)
  }

  /// Encodes what can stand in no URL: spaces and bytes beyond ASCII.
  static func encodeRaw(_ text: String) -> String { encode(text, only: "") }

  private static func isRaw(_ byte: UInt8) -> Bool { byte == 0x20 || byte >= 0x7F }

  /// Decodes text; what is not UTF-8 then becomes replacement characters.
  static func decode(_ text: String) -> String {
    var text = text
    return text.withUTF8 { String(decoding: decode(UnsafeRawBufferPointer($0)), as: UTF8.self) }
  }

  /// Decodes text that stands for bytes of any encoding.
  static func octets(_ text: String) -> Octets {
    var text = text
    return text.withUTF8 { Octets(bytes: decode(UnsafeRawBufferPointer($0))) }
  }

  /// Decodes what need not be encoded and writes the other escapes in upper case (RFC 3986 §6.2.2.1, §6.2.2.2).
  static func normalize(_ text: String) -> String {
    var text = text
    return text.withUTF8 { utf8 in
      let bytes = UnsafeRawBufferPointer(utf8)
      var result: [UInt8] = []
      var index = 0
      while index < bytes.count {
        if let byte = escape(in: bytes, at: index) {
          if isUnreserved(byte) { result.append(byte) } else { append(byte, to: &result) }
          index += 3
        } else {
          result.append(bytes[index])
          index += 1
        }
      }
      return String(decoding: result, as: UTF8.self)
    }
  }

  private static func escape(in bytes: UnsafeRawBufferPointer, at index: Int) -> UInt8? {
    guard bytes[index] == 0x25, index + 2 < bytes.count else { return nil }
    guard let high = hexValue(bytes[index + 1]), let low = hexValue(bytes[index + 2]) else { return nil }
    return high << 4 | low
  }

  static func append(_ byte: UInt8, to result: inout [UInt8]) {
    let digits: StaticString = "0123456789ABCDEF"
    result.append(0x25)
    result.append(digits.utf8Start[Int(byte >> 4)])
    result.append(digits.utf8Start[Int(byte & 15)])
  }

  static func hexValue(_ byte: UInt8) -> UInt8? {
    switch byte {
    case 0x30...0x39: return byte - 0x30
    case 0x41...0x46: return byte - 0x41 + 10
    case 0x61...0x66: return byte - 0x61 + 10
    default: return nil
    }
  }

  static func isUnreserved(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F, 0x7E: return true
    default: return false
    }
  }
}
