import COpenSSL
import Glibc

/// Certificates and keys in PEM (RFC 7468).
enum PEM {
  static func isPEM(_ bytes: Bytes) -> Bool { bytes.text.holds("-----BEGIN ") }

  /// All certificates in a text, in order.
  static func certificates(_ bytes: Bytes) -> [Certificate] {
    reading(bytes) { memory in
      var found: [Certificate] = []
      while let x509 = PEM_read_bio_X509(memory, nil, withoutPassword, nil) {
        found.append(Certificate(x509))
        X509_free(x509)
      }
      return found
    } ?? []
  }

  /// All public keys (`BEGIN PUBLIC KEY`) in a text, as their fingerprints.
  static func publicKeys(_ bytes: Bytes) -> [Fingerprint] {
    reading(bytes) { memory in
      var found: [Fingerprint] = []
      while let key = PEM_read_bio_PUBKEY(memory, nil, withoutPassword, nil) {
        found.append(Fingerprint(of: OpenSSL.encode { i2d_PUBKEY(key, $0) }))
        EVP_PKEY_free(key)
      }
      return found
    } ?? []
  }

  /// The first private key in a text, or the key that the bytes are in DER; the caller releases it.
  static func key(_ bytes: Bytes, password: String?) -> OpaquePointer? {
    reading(bytes) { memory in
      guard let password else { return PEM_read_bio_PrivateKey(memory, nil, withoutPassword, nil) }
      return password.withCString { text in
        PEM_read_bio_PrivateKey(memory, nil, copyPassword, UnsafeMutableRawPointer(mutating: text))
      }
    } ?? keyInDER(bytes)
  }

  private static func keyInDER(_ bytes: Bytes) -> OpaquePointer? {
    guard !isPEM(bytes) else { return nil }
    return reading(bytes) { d2i_PrivateKey_bio($0, nil) }
  }

  private static func reading<Result>(_ bytes: Bytes, _ body: (OpaquePointer) -> Result?) -> Result? {
    guard let memory = BIO_new_mem_buf(bytes.base, Int32(clamping: bytes.count)) else { return nil }
    defer { BIO_free(memory) }
    return body(memory)
  }
}

/// There is none; without a callback OpenSSL would ask the terminal.
private func withoutPassword(
  _ buffer: UnsafeMutablePointer<CChar>?, _ size: Int32, _ isWriting: Int32, _ password: UnsafeMutableRawPointer?
) -> Int32 { -1 }

private func copyPassword(
  _ buffer: UnsafeMutablePointer<CChar>?, _ size: Int32, _ isWriting: Int32, _ password: UnsafeMutableRawPointer?
) -> Int32 {
  guard let buffer, let text = password?.assumingMemoryBound(to: CChar.self) else { return -1 }
  let length = strlen(text)
  guard length <= Int(size) else { return -1 }
  buffer.update(from: text, count: length)
  return Int32(length)
}
