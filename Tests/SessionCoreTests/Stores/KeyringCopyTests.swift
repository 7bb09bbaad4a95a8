import Testing

@testable import SessionCore

@Suite struct KeyringCopyTests {
  let pattern = SpacePattern(host: "h.test", realm: "r")

  private func entry(_ user: String, _ password: String = "p", isDefault: Bool = false) -> CredentialStorage.Entry {
    CredentialStorage.Entry(
      pattern: pattern,
      credential: Credential(.password(user: Octets(user), password: Octets(password)), persistence: .permanent),
      isDefault: isDefault)
  }

  private func users(_ copy: KeyringCopy) -> [String] {
    copy.entries(of: KeyringParty(pattern)).compactMap {
      guard case .password(let user, let password) = $0.credential.secret else { return nil }
      return "\(user.text ?? "?"):\(password.text ?? "?")" + ($0.isDefault ? "!" : "")
    }
  }

  private func name(_ work: Keyring.Work?) -> String {
    switch work {
    case .find(let party): "find \(party.host)"
    case .put(let entry): "put \(entry.credential.secret)"
    case .remove: "remove"
    case .removeAll: "remove all"
    case nil: "nothing"
    }
  }

  @Test("What is known holds for a while")
  func knowledge() {
    var copy = KeyringCopy()
    let party = KeyringParty(pattern)
    #expect(!copy.isKnown(party, now: 10))
    copy.read([entry("a")], of: party, now: 10)
    #expect(copy.isKnown(party, now: 12) && !copy.isKnown(party, now: 100))
    #expect(!copy.isKnown(KeyringParty(SpacePattern(host: "h.test", isProxy: true)), now: 12))
    #expect(users(copy) == ["a:p"])
  }

  @Test("Changes are seen at once, told in order, and made again over what was found before they were")
  func changes() {
    var copy = KeyringCopy()
    let party = KeyringParty(pattern)
    copy.read([entry("a", isDefault: true), entry("b")], of: party, now: 1)
    copy.put(entry("b", "new", isDefault: true))
    #expect(users(copy) == ["a:p", "b:new!"])
    let isRemoved = copy.remove(.password(user: "a", password: ""), for: pattern)
    let isThere = copy.remove(.password(user: "a", password: ""), for: pattern)
    #expect(isRemoved && !isThere)
    #expect(copy.hasWork)
    let first = copy.takeWork()
    #expect(name(first).hasPrefix("put"))
    copy.read([entry("a", isDefault: true), entry("b")], of: party, now: 2)
    #expect(users(copy) == ["b:new!"])
    copy.confirm(isDone: true)
    let (second, third) = (copy.takeWork(), copy.takeWork())
    #expect(name(second) == "remove" && name(third) == "nothing")
    copy.confirm(isDone: true)
    copy.read([entry("c")], of: party, now: 3)
    #expect(users(copy) == ["c:p"])
    copy.removeAll()
    let last = copy.takeWork()
    #expect(users(copy).isEmpty && name(last) == "remove all")
  }

  @Test("What the keyring would not take is not in it")
  func refused() {
    var copy = KeyringCopy()
    copy.put(entry("a"))
    #expect(users(copy) == ["a:p"])
    _ = copy.takeWork()
    copy.confirm(isDone: false)
    #expect(users(copy).isEmpty && !copy.hasWork)
  }

  static let entries: [CredentialStorage.Entry] = [
    .init(
      pattern: SpacePattern(host: "h", port: 8080, scheme: "https", realm: "ä \"r\"", method: "digest", isProxy: true),
      credential: Credential(.password(user: "u", password: ""), persistence: .permanent), isDefault: true),
    .init(
      pattern: SpacePattern(host: "h"), credential: Credential(.token("t"), persistence: .permanent), isDefault: false),
    .init(
      pattern: SpacePattern(host: "h"),
      credential: Credential(.certificate(path: "/c", key: "/k", password: nil), persistence: .permanent),
      isDefault: false),
  ]

  @Test("An item says all that is to be kept", arguments: entries)
  func items(entry: CredentialStorage.Entry) throws {
    let item = try #require(KeyringItem(entry, stored: 5))
    let attributes = item.attributes.merging(["xdg:schema": "org.httpscript.Credential"]) { $1 }
    let read = try #require(Array(item.secret.utf8).withUnsafeBytes { KeyringItem(attributes: attributes, secret: $0) })
    #expect(read.entry == entry && read.stored == 5 && read.attributes == item.attributes)
    #expect(!item.attributes.values.contains("t"))
  }

  @Test("Other programs' items are none")
  func others() {
    let bytes: [UInt8] = [0x70]
    #expect(bytes.withUnsafeBytes { KeyringItem(attributes: ["host": "h", "user": "u"], secret: $0) } == nil)
  }
}
