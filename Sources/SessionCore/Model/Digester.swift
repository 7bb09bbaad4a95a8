import COpenSSL

/// A running digest. One thread uses it at a time: where a helper thread reads a file into it, it is left alone until
/// the job is back.
final class Digester: @unchecked Sendable {
  let algorithm: Hash
  private let context: OpaquePointer

  /// Nil where the library does not have the algorithm (or no memory).
  init?(_ algorithm: Hash) {
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
}
