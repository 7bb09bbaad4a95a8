/// What a storage knows of the keyring, and what it has still to tell it. No I/O.
struct KeyringCopy {
  typealias Entry = CredentialStorage.Entry

  private struct Reading {
    var entries: [Entry]
    /// MonotonicClock.
    let time: Double
  }

  private var readings: [KeyringParty: Reading] = [:]
  /// Told to the keyring, or about to be, in order; it has not said that it has done it.
  private var unconfirmed: [Keyring.Work] = []
  /// How many of these have been taken to be told.
  private var takenCount = 0

  /// For how long (seconds) what was found holds: another process may have stored something since.
  private static let staleness = 5.0

  var hasWork: Bool { unconfirmed.count > takenCount }

  func isKnown(_ party: KeyringParty, now: Double) -> Bool {
    readings[party].map { now - $0.time < Self.staleness } ?? false
  }

  func entries(of party: KeyringParty) -> [Entry] { readings[party]?.entries ?? [] }

  // MARK: Changes

  mutating func put(_ entry: Entry) { change(.put(entry)) }

  /// - Returns: whether there was one, as far as is known.
  @discardableResult
  mutating func remove(_ secret: Credential.Secret, for pattern: SpacePattern) -> Bool {
    guard entries(of: KeyringParty(pattern)).contains(where: { Self.isSame($0, secret, pattern) }) else { return false }
    change(.remove(secret, pattern))
    return true
  }

  mutating func removeAll() { change(.removeAll) }

  private mutating func change(_ work: Keyring.Work) {
    apply(work)
    unconfirmed.append(work)
  }

  private mutating func apply(_ work: Keyring.Work) {
    switch work {
    case .find: break
    case .put(let entry):
      let party = KeyringParty(entry.pattern)
      var entries = entries(of: party)
      entries.removeAll { Self.isSame($0, entry.credential.secret, entry.pattern) }
      if entry.isDefault {
        for index in entries.indices where entries[index].pattern == entry.pattern { entries[index].isDefault = false }
      }
      readings[party] = Reading(entries: entries + [entry], time: readings[party]?.time ?? -.infinity)
    case .remove(let secret, let pattern):
      readings[KeyringParty(pattern)]?.entries.removeAll { Self.isSame($0, secret, pattern) }
    case .removeAll: for party in readings.keys { readings[party]?.entries = [] }
    }
  }

  private static func isSame(_ entry: Entry, _ secret: Credential.Secret, _ pattern: SpacePattern) -> Bool {
    entry.pattern == pattern && entry.credential.secret.isSameUser(secret)
  }

  // MARK: The keyring's side

  /// The oldest change that it has not been told.
  mutating func takeWork() -> Keyring.Work? {
    guard hasWork else { return nil }
    takenCount += 1
    return unconfirmed[takenCount - 1]
  }

  /// The oldest change that was taken has been done. Where it has not, the caller sees to it.
  mutating func confirm(isDone: Bool) {
    guard takenCount > 0 else { return }
    let work = unconfirmed.removeFirst()
    takenCount -= 1
    if !isDone, case .put(let entry) = work { apply(.remove(entry.credential.secret, entry.pattern)) }
  }

  /// What was found for a party; changes it may not have seen are made again.
  mutating func read(_ entries: [Entry], of party: KeyringParty, now: Double) {
    readings[party] = Reading(entries: entries, time: now)
    unconfirmed.forEach { apply($0) }
  }
}
