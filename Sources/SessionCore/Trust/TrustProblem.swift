import COpenSSL

/// One thing that is wrong with a server's certificates.
public struct TrustProblem: Equatable, Sendable {
  /// OpenSSL's number (`X509_V_ERR_…`).
  public var code: Int
  /// Where in the chain: 0 is the server's own certificate.
  public var depth: Int

  public init(code: Int, depth: Int = 0) {
    self.code = code
    self.depth = depth
  }

  init(_ code: Int32, depth: Int = 0) { self.init(code: Int(code), depth: depth) }

  static let wrongName = TrustProblem(X509_V_ERR_HOSTNAME_MISMATCH)
  static let wrongAddress = TrustProblem(X509_V_ERR_IP_ADDRESS_MISMATCH)
  static let revoked = TrustProblem(X509_V_ERR_CERT_REVOKED)
  /// None of the certificates is one that is pinned.
  static let notPinned = TrustProblem(X509_V_ERR_APPLICATION_VERIFICATION)

  /// The verifier's words.
  public var text: String {
    if self == .notPinned { return "no certificate of the chain is pinned" }
    return String(cString: X509_verify_cert_error_string(code))
  }

  /// The code of the error a task fails with for it.
  public var errorCode: TaskError.Code {
    switch kind {
    case .expired: .serverCertificateHasBadDate
    case .notYetValid: .serverCertificateNotYetValid
    case .unknownRoot: .serverCertificateHasUnknownRoot
    case .wrongName, .revoked, .structure, .policy: .serverCertificateUntrusted
    }
  }

  enum Kind {
    case expired
    case notYetValid
    case unknownRoot
    case wrongName
    case revoked
    /// The chain does not hold together: a bad signature, an issuer that may issue nothing, a wrong purpose.
    case structure
    /// Not the certificates' fault: what was asked of them beyond.
    case policy
  }

  var kind: Kind {
    switch Int32(truncatingIfNeeded: code) {
    case X509_V_ERR_CERT_HAS_EXPIRED, X509_V_ERR_ERROR_IN_CERT_NOT_AFTER_FIELD: .expired
    case X509_V_ERR_CERT_NOT_YET_VALID, X509_V_ERR_ERROR_IN_CERT_NOT_BEFORE_FIELD: .notYetValid
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT, X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT,
      X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN, X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY,
      X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE, X509_V_ERR_CERT_UNTRUSTED:
      .unknownRoot
    case X509_V_ERR_HOSTNAME_MISMATCH, X509_V_ERR_IP_ADDRESS_MISMATCH: .wrongName
    case X509_V_ERR_CERT_REVOKED: .revoked
    case X509_V_ERR_APPLICATION_VERIFICATION: .policy
    default: .structure
    }
  }
}
