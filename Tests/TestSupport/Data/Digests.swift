import Foundation

/// MD5 of bytes in lower-case hexadecimal (RFC 1321), for checking Digest by independent means.
public func md5(_ bytes: [UInt8]) -> String {
  var state: [UInt32] = [0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476]
  let shifts = [[7, 12, 17, 22], [5, 9, 14, 20], [4, 11, 16, 23], [6, 10, 15, 21]]
  let sines = (1...64).map { UInt32(truncatingIfNeeded: Int64(abs(sin(Double($0))) * 4_294_967_296)) }
  for block in padded(bytes) {
    var (a, b, c, d) = (state[0], state[1], state[2], state[3])
    for step in 0..<64 {
      let (mixed, word) = mix(step, b, c, d)
      let sum = a &+ mixed &+ sines[step] &+ block[word]
      let shift = shifts[step / 16][step % 4]
      (a, d, c, b) = (d, c, b, b &+ ((sum << UInt32(shift)) | (sum >> UInt32(32 - shift))))
    }
    state = zip(state, [a, b, c, d]).map { $0 &+ $1 }
  }
  return state.map { hexadecimal($0.byteSwapped) }.joined()
}

private func hexadecimal(_ word: UInt32) -> String {
  let digits = String(word, radix: 16)
  return String(repeating: "0", count: 8 - digits.count) + digits
}

private func mix(_ step: Int, _ b: UInt32, _ c: UInt32, _ d: UInt32) -> (UInt32, Int) {
  switch step / 16 {
  case 0: ((b & c) | (~b & d), step)
  case 1: ((d & b) | (~d & c), (5 * step + 1) % 16)
  case 2: (b ^ c ^ d, (3 * step + 5) % 16)
  default: (c ^ (b | ~d), (7 * step) % 16)
  }
}

private func padded(_ bytes: [UInt8]) -> [[UInt32]] {
  var message = bytes + [0x80]
  message += [UInt8](repeating: 0, count: (120 - message.count % 64) % 64)
  let bits = bytes.count * 8
  message += (0..<8).map { UInt8(truncatingIfNeeded: bits >> ($0 * 8)) }
  let words: [UInt32] = stride(from: 0, to: message.count, by: 4).map { start in
    message[start..<start + 4].reversed().reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
  }
  return stride(from: 0, to: words.count, by: 16).map { Array(words[$0..<$0 + 16]) }
}
