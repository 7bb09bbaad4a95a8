import COpenSSL
import CTLSShim
import Glibc

/// Where a certificate of our own is to be found.
public struct ClientCertificate: Sendable, Equatable {
  /// The path of a file: PEM (with or without the key and further certificates), or PKCS#12.
  public var certificate: String
  /// The path of the key's file where that is another one.
  public var key: String?
  /// Of the key, or of the PKCS#12 file.
  public var password: String?

  public init(certificate: String, key: String? = nil, password: String? = nil) {
    self.certificate = certificate
    self.key = key
    self.password = password
  }
}

/// A certificate of our own with its key, ready to be shown to servers (`SecIdentity`).
final class ClientIdentity {
  private let key: OpaquePointer
  private let certificate: Certificate
  private let chain: [Certificate]

  private init(key: OpaquePointer, certificate: Certificate, chain: [Certificate]) {
    self.key = key
    self.certificate = certificate
    self.chain = chain
  }

  deinit { EVP_PKEY_free(key) }

  /// Gives it to a connection.
  func use(on ssl: OpaquePointer) -> Bool {
    guard SSL_use_certificate(ssl, certificate.x509) == 1, SSL_use_PrivateKey(ssl, key) == 1 else { return false }
    guard !chain.isEmpty, let stack = OPENSSL_sk_new_null() else { return true }
    defer { OPENSSL_sk_free(stack) }
    for certificate in chain { OPENSSL_sk_push(stack, UnsafeRawPointer(certificate.x509)) }
    return htls_use_chain(ssl, stack) == 1
  }

  // MARK: Reading

  static func load(_ source: ClientCertificate) -> Result<ClientIdentity, TaskError> {
    defer { OpenSSL.forgetErrors() }
    switch KeyFile.read(source.certificate) {
    case .failure(let error): return .failure(error)
    case .success(let bytes):
      return PEM.isPEM(bytes) ? fromPEM(source, bytes) : fromPKCS12(source, bytes)
    }
  }

  private static func fromPEM(_ source: ClientCertificate, _ bytes: Bytes) -> Result<ClientIdentity, TaskError> {
    let certificates = PEM.certificates(bytes)
    guard let first = certificates.first else { return .failure(problem(source.certificate, "no certificate in it")) }
    var keyBytes = bytes
    if let path = source.key {
      switch KeyFile.read(path) {
      case .failure(let error): return .failure(error)
      case .success(let read): keyBytes = read
      }
    }
    guard let key = PEM.key(keyBytes, password: source.password) else {
      return .failure(keyProblem(source.key ?? source.certificate, source))
    }
    return make(source, key, first, Array(certificates.dropFirst()))
  }

  private static func fromPKCS12(_ source: ClientCertificate, _ bytes: Bytes) -> Result<ClientIdentity, TaskError> {
    var start = bytes.buffer.bindMemory(to: UInt8.self).baseAddress
    guard bytes.count > 0, let store = d2i_PKCS12(nil, &start, bytes.count) else {
      return .failure(problem(source.certificate, "neither PEM nor PKCS#12"))
    }
    defer { PKCS12_free(store) }
    var key: OpaquePointer?
    var certificate: OpaquePointer?
    var others: OpaquePointer?
    guard PKCS12_parse(store, source.password, &key, &certificate, &others) == 1 else {
      return .failure(keyProblem(source.certificate, source))
    }
    defer { X509_free(certificate) }
    let chain = OpenSSL.elements(others).map(Certificate.init)
    for other in OpenSSL.elements(others) { X509_free(other) }
    OPENSSL_sk_free(others)
    guard let key, let certificate else {
      EVP_PKEY_free(key)
      return .failure(problem(source.certificate, "no certificate with its key in it"))
    }
    return make(source, key, Certificate(certificate), chain)
  }

  /// The key goes with the identity, or is released.
  private static func make(
    _ source: ClientCertificate, _ key: OpaquePointer, _ certificate: Certificate, _ chain: [Certificate]
  ) -> Result<ClientIdentity, TaskError> {
    guard X509_check_private_key(certificate.x509, key) == 1 else {
      EVP_PKEY_free(key)
      return .failure(problem(source.key ?? source.certificate, "the key is not the certificate's"))
    }
    return .success(ClientIdentity(key: key, certificate: certificate, chain: chain))
  }

  private static func keyProblem(_ path: String, _ source: ClientCertificate) -> TaskError {
    let reason = OpenSSL.takeError()
    let hint = source.password == nil ? "no key that can be read without a password" : "no key the password opens"
    return problem(path, reason.isEmpty ? hint : "\(hint) (\(reason))")
  }

  private static func problem(_ path: String, _ what: String) -> TaskError {
    TaskError(.clientCertificateRejected, "the client certificate cannot be used: \(path): \(what)")
  }
}
