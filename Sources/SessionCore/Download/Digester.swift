import COpenSSL

/// The digests that files are checked with.
public enum DigestAlgorithm: String, CaseIterable, Sendable {
  case md5, sha1, sha256, sha512

  /// Bytes of a digest.
  public var size: Int {
    switch self {
    case .md5: return 16
    case .sha1: return 20
    case .sha256: return 32
    case .sha512: return 64
    }
  }

  fileprivate var method: OpaquePointer? {
    switch self {
    case .md5: return EVP_md5()
    case .sha1: return EVP_sha1()
    case .sha256: return EVP_sha256()
    case .sha512: return EVP_sha512()
    }
  }
}

/// A running digest. One thread uses it at a time: where a helper thread reads a file into it, it is left alone until
/// the job is back.
final class Digester: @unchecked Sendable {
  let algorithm: DigestAlgorithm
  private let context: OpaquePointer

  /// Nil where the library does not have the algorithm (or no memory).
  init?(_ algorithm: DigestAlgorithm) {
    guard let context = EVP_MD_CTX_new() else { return nil }
    guard EVP_DigestInit_ex(context, algorithm.method, nil) == 1 else {
      EVP_MD_CTX_free(context)
      return nil
    }
    self.algorithm = algorithm
    self.context = context
  }

  deinit { EVP_MD_CTX_free(context) }

  func update(_ bytes: UnsafeRawBufferPointer) {
    if bytes.count > 0 { EVP_DigestUpdate(context, bytes.baseAddress, bytes.count) }
  }

  /// The digest of what has come so far; more may follow.
  var value: [UInt8] {
    guard let copy = EVP_MD_CTX_new() else { return [] }
    defer { EVP_MD_CTX_free(copy) }
    guard EVP_MD_CTX_copy_ex(copy, context) == 1 else { return [] }
    var digest = [UInt8](repeating: 0, count: algorithm.size)
    return EVP_DigestFinal_ex(copy, &digest, nil) == 1 ? digest : []
  }

  /// As if nothing had come.
  func reset() { EVP_DigestInit_ex(context, algorithm.method, nil) }

  /// The digest of bytes; empty where it cannot be had.
  static func digest(_ bytes: [UInt8], _ algorithm: DigestAlgorithm = .sha256) -> [UInt8] {
    guard let digester = Digester(algorithm) else { return [] }
    bytes.withUnsafeBytes(digester.update)
    return digester.value
  }
}
