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

private func padded(_ bytes: [UInt8], bigEndian: Bool = false) -> [[UInt32]] {
  var message = bytes + [0x80]
  message += [UInt8](repeating: 0, count: (120 - message.count % 64) % 64)
  let bits = bytes.count * 8
  message += (0..<8).map { UInt8(truncatingIfNeeded: bits >> ((bigEndian ? 7 - $0 : $0) * 8)) }
  let words: [UInt32] = stride(from: 0, to: message.count, by: 4).map { start in
    let word = message[start..<start + 4].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
    return bigEndian ? word : word.byteSwapped
  }
  return stride(from: 0, to: words.count, by: 16).map { Array(words[$0..<$0 + 16]) }
}

/// SHA-256 of text in lower-case hexadecimal.
public func sha256Text(_ text: String) -> String {
  sha256(Array(text.utf8)).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
}

/// HMAC with SHA-256 (RFC 2104).
public func hmacSHA256(key: [UInt8], _ bytes: [UInt8]) -> [UInt8] {
  let block = (key.count > 64 ? sha256(key) : key) + [UInt8](repeating: 0, count: max(0, 64 - key.count))
  return sha256(block.map { $0 ^ 0x5c } + sha256(block.map { $0 ^ 0x36 } + bytes))
}

/// SHA-256 of bytes (FIPS 180-4), for checking by independent means.
public func sha256(_ bytes: [UInt8]) -> [UInt8] {
  let primes = firstPrimes(64)
  let constants = primes.map { fraction(cbrt(Double($0))) }
  var state = primes[..<8].map { fraction(Double($0).squareRoot()) }
  for block in padded(bytes, bigEndian: true) {
    var words = block
    for step in 16..<64 {
      let (early, late) = (words[step - 15], words[step - 2])
      let first = rotated(early, 7) ^ rotated(early, 18) ^ (early >> 3)
      let second = rotated(late, 17) ^ rotated(late, 19) ^ (late >> 10)
      words.append(words[step - 16] &+ first &+ words[step - 7] &+ second)
    }
    var v = state
    for step in 0..<64 {
      let choice = (v[4] & v[5]) ^ (~v[4] & v[6])
      let first = v[7] &+ (rotated(v[4], 6) ^ rotated(v[4], 11) ^ rotated(v[4], 25)) &+ choice
      let sum = first &+ constants[step] &+ words[step]
      let majority = (v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2])
      let second = (rotated(v[0], 2) ^ rotated(v[0], 13) ^ rotated(v[0], 22)) &+ majority
      v = [sum &+ second, v[0], v[1], v[2], v[3] &+ sum, v[4], v[5], v[6]]
    }
    state = zip(state, v).map { $0 &+ $1 }
  }
  return state.flatMap { word in stride(from: 24, through: 0, by: -8).map { UInt8(word >> UInt32($0) & 255) } }
}

private func rotated(_ word: UInt32, _ count: UInt32) -> UInt32 { word >> count | word << (32 - count) }

private func firstPrimes(_ count: Int) -> [Int] {
  var primes: [Int] = []
  var candidate = 2
  while primes.count < count {
    if primes.allSatisfy({ candidate % $0 != 0 }) { primes.append(candidate) }
    candidate += 1
  }
  return primes
}

/// The first 32 bits behind the point.
private func fraction(_ value: Double) -> UInt32 { UInt32((value - value.rounded(.down)) * 4_294_967_296) }
