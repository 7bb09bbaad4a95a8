import Glibc

@testable import SessionCore

/// The server's side of Digest (RFC 7616 with MD5 and qop=auth), written from the RFC.
enum DigestCheck {
  static func accepts(_ field: String, method: String, target: String, user: String, password: String) -> Bool {
    guard let challenge = ChallengeParser.parse([Octets(field)]).first else { return false }
    func value(_ name: String) -> String { challenge.parameter(name) ?? "" }
    let one = md5("\(user):\(value("realm")):\(password)")
    let two = md5("\(method):\(target)")
    let parts = [one, value("nonce"), value("nc"), value("cnonce"), value("qop"), two]
    return value("uri") == target && value("qop") == "auth" && value("response") == md5(parts.joined(separator: ":"))
  }

  /// RFC 1321, in hexadecimal.
  static func md5(_ text: String) -> String {
    var message = Array(text.utf8)
    let bits = UInt64(message.count) * 8
    message.append(0x80)
    while message.count % 64 != 56 { message.append(0) }
    for shift in stride(from: 0, to: 64, by: 8) { message.append(UInt8(truncatingIfNeeded: bits >> UInt64(shift))) }
    var state: [UInt32] = [0x6745_2301, 0xEFCD_AB89, 0x98BA_DCFE, 0x1032_5476]
    for start in stride(from: 0, to: message.count, by: 64) {
      let words = (0..<16).map { word in
        (0..<4).reduce(UInt32(0)) { $0 | UInt32(message[start + word * 4 + $1]) << UInt32($1 * 8) }
      }
      let round = block(words, state)
      state = zip(state, round).map { $0 &+ $1 }
    }
    return state.flatMap { word in (0..<4).map { UInt8(truncatingIfNeeded: word >> UInt32($0 * 8)) } }
      .map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
  }

  private static let shifts: [[UInt32]] = [[7, 12, 17, 22], [5, 9, 14, 20], [4, 11, 16, 23], [6, 10, 15, 21]]

  private static func block(_ words: [UInt32], _ start: [UInt32]) -> [UInt32] {
    var (a, b, c, d) = (start[0], start[1], start[2], start[3])
    for step in 0..<64 {
      let mixed: UInt32
      let word: Int
      switch step / 16 {
      case 0: (mixed, word) = ((b & c) | (~b & d), step)
      case 1: (mixed, word) = ((d & b) | (~d & c), (5 * step + 1) % 16)
      case 2: (mixed, word) = (b ^ c ^ d, (3 * step + 5) % 16)
      default: (mixed, word) = (c ^ (b | ~d), (7 * step) % 16)
      }
      let sum = mixed &+ a &+ constants[step] &+ words[word]
      let shift = shifts[step / 16][step % 4]
      (a, d, c, b) = (d, c, b, b &+ (sum << shift | sum >> (32 - shift)))
    }
    return [a, b, c, d]
  }

  private static let constants: [UInt32] = (0..<64).map { UInt32(abs(sine(Double($0 + 1))) * 4_294_967_296) }

  private static func sine(_ x: Double) -> Double { Glibc.sin(x) }
}
