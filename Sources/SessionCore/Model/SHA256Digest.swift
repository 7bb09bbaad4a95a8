import COpenSSL

/// SHA-256, at once or piece by piece.
final class SHA256Digest {
  private let context = EVP_MD_CTX_new()

  init() { EVP_DigestInit_ex(context, EVP_sha256(), nil) }

  deinit { EVP_MD_CTX_free(context) }

  func update(_ bytes: UnsafeRawBufferPointer) {
    EVP_DigestUpdate(context, bytes.baseAddress, bytes.count)
  }

  /// The digest of what was given. Only once.
  func finish() -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: 32) { buffer, count in
      var length: UInt32 = 0
      EVP_DigestFinal_ex(context, buffer.baseAddress, &length)
      count = Int(length)
    }
  }

  static func of(_ bytes: [UInt8]) -> [UInt8] { bytes.withUnsafeBytes { of($0) } }

  static func of(_ bytes: UnsafeRawBufferPointer) -> [UInt8] {
    let digest = SHA256Digest()
    digest.update(bytes)
    return digest.finish()
  }

  static func text(_ bytes: [UInt8]) -> String {
    bytes.reduce(into: "") { $0 += ($1 < 16 ? "0" : "") + String($1, radix: 16) }
  }

  /// The bytes of a hexadecimal text, or nil.
  static func bytes(_ text: String) -> [UInt8]? {
    let digits = Array(text.utf8)
    guard digits.count.isMultiple(of: 2) else { return nil }
    var result: [UInt8] = []
    for index in stride(from: 0, to: digits.count, by: 2) {
      guard let byte = UInt8(String(decoding: digits[index...(index + 1)], as: UTF8.self), radix: 16) else {
        return nil
      }
      result.append(byte)
    }
    return result
  }
}
