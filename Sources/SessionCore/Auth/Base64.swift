/// Base64 (RFC 4648 §4), for Basic credentials.
enum Base64 {
  static func encode(_ text: String) -> String {
    let alphabet: StaticString = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
    let bytes = Array(text.utf8)
    var result: [UInt8] = []
    result.reserveCapacity((bytes.count + 2) / 3 * 4)
    for start in stride(from: 0, to: bytes.count, by: 3) {
      let group = (0..<3).map { start + $0 < bytes.count ? UInt32(bytes[start + $0]) : 0 }
      let bits = group[0] << 16 | group[1] << 8 | group[2]
      for digit in 0..<4 {
        let isPadding = start + digit > bytes.count
        result.append(isPadding ? UInt8(ascii: "=") : alphabet.utf8Start[Int(bits >> UInt32(18 - 6 * digit) & 63)])
      }
    }
    return String(decoding: result, as: UTF8.self)
  }
}
