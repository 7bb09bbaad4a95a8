/// A secret as a database or a keyring keeps it.
struct SecretRow {
  let kind: String
  let user: Octets
  let secret: Octets?
  let key: String?

  init(kind: String, user: Octets, secret: Octets?, key: String?) {
    self.kind = kind
    self.user = user
    self.secret = secret
    self.key = key
  }

  init?(_ value: Credential.Secret) {
    switch value {
    case .password(let user, let password): self.init(kind: "password", user: user, secret: password, key: nil)
    case .token(let token): self.init(kind: "token", user: "", secret: token, key: nil)
    case .certificate(let path, let key, let password):
      self.init(kind: "certificate", user: Octets(path), secret: password.map { Octets($0) }, key: key)
    case .serverTrust: return nil
    }
  }

  var value: Credential.Secret? {
    switch kind {
    case "password": .password(user: user, password: secret ?? "")
    case "token": secret.map { .token($0) }
    case "certificate": user.text.map { .certificate(path: $0, key: key, password: secret?.text) }
    default: nil
    }
  }
}
