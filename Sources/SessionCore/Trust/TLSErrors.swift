import CCurlShim

/// Failed handshakes in Apple's vocabulary, by what has been seen of them.
enum TLSErrors {
  /// How a connection failed.
  enum Failure {
    /// The server sent an alert (RFC 8446 §6.2), in OpenSSL's words.
    case alert(String)
    /// The server closed it before it had answered anything. In TLS 1.3 it first sees our certificate when we may
    /// already send, and then its alert can be lost.
    case closed
    case other
  }

  /// The error for a connection that failed; nil where the certificates are not to blame.
  static func error(_ trust: ConnectionTrust, _ failure: Failure) -> TaskError? {
    if let refused = trust.refusal { return error(refused) }
    guard trust.question == nil, trust.isCertificateRequested, blamesCertificate(failure) else { return nil }
    let host = trust.host.name
    trust.host.identityRefused()
    guard trust.isCertificateShown else {
      return TaskError(.clientCertificateRequired, "\(host) asks for a client certificate")
    }
    return TaskError(.clientCertificateRejected, "\(host) does not accept the client certificate")
  }

  /// The error for certificates that are not good enough, or that a handler does not want.
  static func error(_ trust: ServerTrust) -> TaskError {
    guard let refusal = trust.refusal else {
      return TaskError(.serverCertificateUntrusted, "the certificate of \(trust.host) was not accepted")
    }
    return TaskError(refusal.errorCode, "the certificate of \(trust.host) is not trusted: \(words(refusal, trust))")
  }

  private static func words(_ problem: TrustProblem, _ trust: ServerTrust) -> String {
    guard trust.certificates.indices.contains(problem.depth) else { return problem.text }
    let certificate = trust.certificates[problem.depth]
    switch problem.kind {
    case .expired: return "\(problem.text) (\(HTTPDate.format(certificate.notAfter)))"
    case .notYetValid: return "\(problem.text) (before \(HTTPDate.format(certificate.notBefore)))"
    case .wrongName: return "it is for \(names(certificate))"
    case .unknownRoot, .revoked, .structure, .policy: return problem.text
    }
  }

  private static func names(_ certificate: Certificate) -> String {
    let names = certificate.subjectAlternativeNames
    if names.isEmpty { return certificate.subject }
    return names.prefix(5).joined(separator: ", ") + (names.count > 5 ? ", …" : "")
  }

  /// Servers have several alerts to refuse a certificate, or the lack of one.
  private static let signsOfRefusal: [StaticString] = [
    "certificate", "unknown ca", "access denied", "handshake failure",
  ]

  private static func blamesCertificate(_ failure: Failure) -> Bool {
    switch failure {
    case .alert(let text):
      signsOfRefusal.contains { text.holds($0) }
    case .closed: true
    case .other: false
    }
  }
}
