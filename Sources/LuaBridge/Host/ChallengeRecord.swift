import SessionCore

/// A challenge as the table that stdlib/http/challenge.lua takes.
extension Outbox {
  func append(_ challenge: Challenge) {
    let space = challenge.space
    let hasCredential = challenge.proposedCredential != nil
    beginRecord(7 + (hasCredential ? 1 : 0) + (challenge.error == nil ? 0 : 1))
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
    if let credential = challenge.proposedCredential {
      append("proposed")
      append(credential)
    }
    if let error = challenge.error {
      append("error")
      append(error)
    }
  }

  private func append(_ name: String, _ value: String) {
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
    case .serverTrust:
      beginRecord(2)
      append("trust")
      append(true)
    }
    append("persistence", credential.persistence.rawValue)
  }
}
