import CCurlShim

/// Failed handshakes in Apple's vocabulary, by what has been seen of them.
enum TLSErrors {
  /// The error for a connection that failed; nil where the certificates are not to blame.
  ///
  /// - Parameter text: libcurl's or OpenSSL's words, which name the alert the server sent.
  static func error(_ trust: ConnectionTrust, text: String) -> TaskError? {
    if let refused = trust.refusal { return error(refused) }
    guard trust.isCertificateRequested, text.contains("alert"), blamesCertificate(text) else { return nil }
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

  /// The alerts of RFC 8446 §6.2 by which servers refuse a certificate or the lack of one, in OpenSSL's words.
  private static func blamesCertificate(_ text: String) -> Bool {
    ["certificate", "unknown ca", "access denied", "handshake failure"].contains { text.contains($0) }
  }
}
