/// Bytes as pairs of hexadecimal digits.
enum Hexadecimal {
  /// In lower case.
  static func encode(_ bytes: some Sequence<UInt8>) -> String {
    let digits: StaticString = "0123456789abcdef"
    var text: [UInt8] = []
    for byte in bytes {
      text.append(digits.utf8Start[Int(byte >> 4)])
      text.append(digits.utf8Start[Int(byte & 15)])
    }
    return String(decoding: text, as: UTF8.self)
  }

  /// In either case; nil for what is not pairs of digits.
  static func decode(_ text: some StringProtocol) -> [UInt8]? {
    var bytes: [UInt8] = []
    var high: UInt8?
    for digit in text.utf8 {
      guard let value = PercentEncoding.hexValue(digit) else { return nil }
      if let first = high {
        bytes.append(first << 4 | value)
        high = nil
      } else {
        high = value
      }
    }
    return high == nil ? bytes : nil
  }
}
