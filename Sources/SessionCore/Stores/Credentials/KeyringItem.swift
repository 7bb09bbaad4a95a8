/// Whose credentials: the keyring is asked for all of a host's at once.
struct KeyringParty: Hashable, Sendable {
  let host: String
  let isProxy: Bool

  init(_ pattern: SpacePattern) { (host, isProxy) = (pattern.host, pattern.isProxy) }
}

/// A stored credential as an item of the keyring: attributes, by which it is found and which are no secret, and a secret.
struct KeyringItem {
  let entry: CredentialStorage.Entry
  /// Microseconds since 1970: what came later comes first, and no two items have the same attributes.
  let stored: Int
  let attributes: [String: String]
  let secret: String

  /// Nil for what is not kept: the keyring knows text only.
  init?(_ entry: CredentialStorage.Entry, stored: Int) {
    let realm = entry.pattern.realm
    guard let row = SecretRow(entry.credential.secret), let user = row.user.text, let secret = (row.secret ?? "").text,
      realm == nil || realm?.text != nil
    else { return nil }
    self.entry = entry
    self.stored = stored
    self.secret = secret
    var attributes = Self.attributes(of: KeyringParty(entry.pattern))
    attributes["port"] = entry.pattern.port.map { String($0) }
    attributes["protocol"] = entry.pattern.scheme
    attributes["realm"] = realm?.text
    attributes["authentication_method"] = entry.pattern.method
    attributes["kind"] = row.kind
    attributes["user"] = user
    attributes["key"] = row.key
    attributes["is_default"] = Self.text(entry.isDefault)
    attributes["stored"] = String(stored)
    self.attributes = attributes
  }

  /// What was found; nil for what nobody here has made.
  init?(attributes: [String: String], secret bytes: UnsafeRawBufferPointer) {
    guard let host = attributes["host"], let kind = attributes["kind"],
      let stored = attributes["stored"].flatMap({ Int($0) }),
      let secret = String(validating: bytes, as: UTF8.self)
    else { return nil }
    let row = SecretRow(
      kind: kind, user: Octets(attributes["user"] ?? ""),
      // A certificate's key need have no password.
      secret: kind == "certificate" && secret.isEmpty ? nil : Octets(secret), key: attributes["key"])
    guard let value = row.value else { return nil }
    let pattern = SpacePattern(
      host: host, port: attributes["port"].flatMap { Int($0) }, scheme: attributes["protocol"],
      realm: attributes["realm"].map { Octets($0) }, method: attributes["authentication_method"],
      isProxy: attributes["is_proxy"] == Self.text(true))
    entry = CredentialStorage.Entry(
      pattern: pattern, credential: Credential(value, persistence: .permanent),
      isDefault: attributes["is_default"] == Self.text(true))
    self.stored = stored
    // The service has some of its own beside them.
    self.attributes = attributes.filter { !$0.key.hasPrefix("xdg:") }
    self.secret = secret
  }

  /// What the user is shown in a list of the keyring's items.
  var label: String {
    let user = attributes["user"] ?? ""
    return "httpscript: " + (user.isEmpty ? "" : user + " at ") + entry.pattern.host
  }

  /// By these a party's items are found.
  static func attributes(of party: KeyringParty) -> [String: String] {
    ["host": party.host, "is_proxy": text(party.isProxy)]
  }

  private static func text(_ value: Bool) -> String { value ? "true" : "false" }
}
