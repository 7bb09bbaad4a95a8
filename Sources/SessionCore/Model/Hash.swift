import COpenSSL

/// Digests, keyed digests and random bytes, from OpenSSL.
public enum Hash: String, CaseIterable, Sendable {
  case md5, sha1, sha256, sha384, sha512

  /// Bytes of a digest.
  public var size: Int {
    switch self {
    case .md5: 16
    case .sha1: 20
    case .sha256: 32
    case .sha384: 48
    case .sha512: 64
    }
  }

  var method: OpaquePointer? {
    switch self {
    case .md5: EVP_md5()
    case .sha1: EVP_sha1()
    case .sha256: EVP_sha256()
    case .sha384: EVP_sha384()
    case .sha512: EVP_sha512()
    }
  }

  /// nil where the library refuses (MD5 under a FIPS policy).
  public func digest(_ bytes: UnsafeRawBufferPointer) -> [UInt8]? {
    Self.result { EVP_Digest(bytes.baseAddress, bytes.count, $0, $1, method, nil) == 1 }
  }

  /// The same; empty where the library refuses.
  func digest(of bytes: [UInt8]) -> [UInt8] { bytes.withUnsafeBytes { digest($0) } ?? [] }

  /// HMAC (RFC 2104).
  public func hmac(key: UnsafeRawBufferPointer, _ bytes: UnsafeRawBufferPointer) -> [UInt8]? {
    // A null key would mean the one of the call before.
    var none: UInt8 = 0
    return withUnsafePointer(to: &none) { none in
      let data = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self) ?? none
      return Self.result {
        HMAC(method, key.baseAddress ?? UnsafeRawPointer(none), Int32(key.count), data, bytes.count, $0, $1) != nil
      }
    }
  }

  /// Bytes nobody can foretell; nil where the system has none.
  public static func random(_ count: Int) -> [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: count)
    return RAND_bytes(&bytes, Int32(count)) == 1 ? bytes : nil
  }

  private static func result(
    _ fill: (UnsafeMutablePointer<UInt8>?, UnsafeMutablePointer<UInt32>?) -> Bool
  ) -> [UInt8]? {
    var length: UInt32 = 0
    var isFilled = false
    let bytes = [UInt8](unsafeUninitializedCapacity: Int(EVP_MAX_MD_SIZE)) { buffer, count in
      isFilled = fill(buffer.baseAddress, &length)
      count = isFilled ? Int(length) : 0
    }
    return isFilled ? bytes : nil
  }
}
