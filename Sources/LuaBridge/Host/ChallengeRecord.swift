import SessionCore

/// A challenge as the table that stdlib/http/challenge.lua takes.
extension Outbox {
  func append(_ challenge: Challenge) {
    let space = challenge.space
    let hasCredential = challenge.proposedCredential != nil
    let further = [hasCredential, challenge.error != nil, challenge.serverTrust != nil].count { $0 }
    beginRecord(9 + further)
    append("host", space.host)
    append("port")
    append(space.port)
    append("protocol", space.scheme)
    append("method", space.method)
    append("is_proxy")
    append(space.isProxy)
    append("failures")
    append(challenge.previousFailureCount)
    append("parameters")
    beginList(challenge.parameters.count * 2)
    for parameter in challenge.parameters {
      append(parameter.name)
      append(parameter.value)
    }
    append("later")
    append(challenge.laterMethods)
    append("distinguished_names")
    append(challenge.distinguishedNames)
    if let trust = challenge.serverTrust {
      append("server_trust")
      append(trust)
    }
    if let credential = challenge.proposedCredential {
      append("proposed")
      append(credential)
    }
    if let error = challenge.error {
      append("error")
      append(error)
    }
  }

  private func append(_ texts: [String]) {
    beginList(texts.count)
    texts.forEach { append($0) }
  }

  /// The fields that `http.server_trust` takes: the certificates in DER.
  private func append(_ trust: ServerTrust) {
    beginRecord(7)
    append("host", trust.host)
    append("port")
    append(trust.port)
    append("certificates")
    beginList(trust.certificates.count)
    for certificate in trust.certificates { certificate.der.withUnsafeBytes(append(copying:)) }
    append("problems")
    beginList(trust.problems.count)
    for problem in trust.problems { append(problem) }
    append("refusal")
    if let refusal = trust.refusal { append(refusal) } else { append(false) }
    append("revocation", word(trust.revocation))
    append("revoked_at")
    if case .revoked(let date) = trust.revocation { append(date) } else { append(false) }
  }

  private func word(_ revocation: Revocation) -> String {
    switch revocation {
    case .notKnown: "not_known"
    case .good: "good"
    case .revoked: "revoked"
    }
  }

  private func append(_ problem: TrustProblem) {
    beginRecord(4)
    append("code")
    append(problem.code)
    append("depth")
    append(problem.depth)
    append("text", problem.text)
    append("error", problem.errorCode.name)
  }

  private func append(_ name: String, _ value: String) {
    append(name)
    append(value)
  }

  private func append(_ name: String, _ value: Octets) {
    append(name)
    append(value)
  }

  /// The fields that `http.credential` takes.
  func append(_ credential: Credential) {
    switch credential.secret {
    case .password(let user, let password):
      beginRecord(3)
      append("user", user)
      append("password", password)
    case .token(let token):
      beginRecord(2)
      append("token", token)
    case .certificate(let path, let key, let password):
      beginRecord(2 + (key == nil ? 0 : 1) + (password == nil ? 0 : 1))
      append("certificate", path)
      if let key { append("key", key) }
      if let password { append("password", password) }
    case .serverTrust(let leaf):
      beginRecord(2)
      append("trust", leaf.hexadecimal)
    }
    append("persistence", credential.persistence.rawValue)
  }
}
