import CKeyringShim
import CLateLibraries
import Glibc
import Synchronization

/// The user's keyring: the Secret Service of the session bus (GNOME Keyring, KWallet, KeePassXC), through libsecret.
///
/// What is done here waits for another process, and maybe for the user whom that asks for a password, so it is for a
/// helper thread.
enum Keyring {
  typealias Entry = CredentialStorage.Entry

  /// Something to be done, as values.
  enum Work: Sendable {
    /// Finds what is kept for a host.
    case find(KeyringParty)
    /// Keeps a permanent credential, in the place of the one of the same user.
    case put(Entry)
    /// Removes the credential of that user.
    case remove(Credential.Secret, SpacePattern)
    /// Removes all that scripts have put there.
    case removeAll
  }

  /// A session bus is named, so that there may be one. Read once: it costs every request of a default session.
  private static let isBusNamed = getenv("DBUS_SESSION_BUS_ADDRESS").map { $0.pointee != 0 } ?? false
  /// There is no library, or nobody answers.
  private static let isMissing = Atomic(false)

  /// Whether it is worth asking.
  static var mayBeThere: Bool { isBusNamed && !isMissing.load(ordering: .relaxed) }

  /// How long a service, or the user it asks, may take to answer (seconds).
  private static let patience = 60.0

  /// Does it. Nil: there is no keyring, or it would not.
  static func perform(_ work: Work) -> [Entry]? {
    guard mayBeThere, late_load("libsecret-1.so.0") else {
      isMissing.store(true, ordering: .relaxed)
      return nil
    }
    switch work {
    case .find(let party): return find(party)
    case .put(let entry): return put(entry) ? [] : nil
    case .remove(let secret, let pattern): return remove(secret, pattern) ? [] : nil
    case .removeAll: return clear([:]) ? [] : nil
    }
  }

  /// The entries of a host, in the order of their storing. Nobody who answers this will answer anything else.
  private static func find(_ party: KeyringParty) -> [Entry]? {
    guard let items = search(KeyringItem.attributes(of: party)) else {
      isMissing.store(true, ordering: .relaxed)
      return nil
    }
    return items.sorted { $0.stored < $1.stored }.map(\.entry)
  }

  /// The new item comes first and what it replaces goes afterwards, so that one is there whoever is killed.
  private static func put(_ entry: Entry) -> Bool {
    let party = KeyringParty(entry.pattern)
    guard let new = KeyringItem(entry, stored: Int(WallClock.now * 1e6)),
      let others = search(KeyringItem.attributes(of: party)),
      store(new)
    else { return false }
    for other in others where other.entry.pattern == entry.pattern {
      if other.entry.credential.secret.isSameUser(entry.credential.secret) {
        if other.attributes != new.attributes { _ = clear(other.attributes) }
      } else if entry.isDefault, other.entry.isDefault {
        var changed = other.entry
        changed.isDefault = false
        if let item = KeyringItem(changed, stored: other.stored), store(item) { _ = clear(other.attributes) }
      }
    }
    return true
  }

  private static func remove(_ secret: Credential.Secret, _ pattern: SpacePattern) -> Bool {
    guard let items = search(KeyringItem.attributes(of: KeyringParty(pattern))) else { return false }
    return items.filter { $0.entry.pattern == pattern && $0.entry.credential.secret.isSameUser(secret) }
      .allSatisfy { clear($0.attributes) }
  }

  // MARK: libsecret

  private static func search(_ attributes: [String: String]) -> [KeyringItem]? {
    final class Found {
      var items: [KeyringItem] = []
    }
    let found = Found()
    let isDone = withTexts(attributes) { texts in
      hkeyring_search(
        texts, patience,
        { texts, secret, length, context in
          guard let texts, let context else { return }
          let secret = UnsafeRawBufferPointer(start: secret, count: length)
          if let item = KeyringItem(attributes: Keyring.pairs(texts), secret: secret) {
            Unmanaged<Found>.fromOpaque(context).takeUnretainedValue().items.append(item)
          }
        }, Unmanaged.passUnretained(found).toOpaque())
    }
    return isDone ? found.items : nil
  }

  private static func store(_ item: KeyringItem) -> Bool {
    withTexts(item.attributes) { texts in
      Array(item.secret.utf8).withUnsafeBytes {
        hkeyring_store(texts, item.label, $0.baseAddress, $0.count, patience)
      }
    }
  }

  private static func clear(_ attributes: [String: String]) -> Bool {
    withTexts(attributes) { hkeyring_clear($0, patience) }
  }

  /// Names and values as C has them.
  private static func withTexts<Result>(
    _ attributes: [String: String], _ body: ([UnsafePointer<CChar>?]) -> Result
  ) -> Result {
    let copies = attributes.flatMap { [strdup($0.key), strdup($0.value)] }
    defer { copies.forEach { free($0) } }
    return body(copies.map { UnsafePointer($0) } + [nil])
  }

  private static func pairs(_ texts: UnsafePointer<UnsafePointer<CChar>?>) -> [String: String] {
    var pairs: [String: String] = [:]
    var place = texts
    while let name = place[0], let value = place[1] {
      pairs[String(cString: name)] = String(cString: value)
      place += 2
    }
    return pairs
  }
}
