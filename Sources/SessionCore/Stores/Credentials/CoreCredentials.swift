/// What the core asks of others about credentials, and waits for beside the loop: programs and the keyring. Their
/// threads are made when they are first needed.
final class CoreCredentials {
  private let poller: Poller
  private var lookups: CredentialLookups?
  private var queue: KeyringQueue?

  init(poller: Poller) { self.poller = poller }

  private var keyring: KeyringQueue {
    let made = queue ?? KeyringQueue(poller: poller)
    queue = made
    return made
  }

  /// Asks about a space; the task is told when the storage knows what there is.
  func lookUp(
    _ space: ProtectionSpace, by source: CredentialStorage.Source, in storage: CredentialStorage, for task: TaskID
  ) {
    switch source {
    case .keyring: keyring.find(KeyringParty(SpacePattern(space)), in: storage, for: .task(task))
    case .command:
      let lookups = self.lookups ?? CredentialLookups(poller: poller)
      self.lookups = lookups
      lookups.begin(space, in: storage, for: task)
    }
  }

  /// Has a keyring know what a storage wants kept.
  func tellKeyring(_ storage: CredentialStorage) {
    if storage.keyring.hasWork { keyring.tell(storage) }
  }

  /// `Command.useKeyring`. False: there is nothing to wait for.
  func useKeyring(_ storage: CredentialStorage, _ party: SpacePattern?, waiter: Int) -> Bool {
    guard storage.usesKeyring || storage.keyring.hasWork || queue != nil else { return false }
    let isWaiting = keyring.tell(storage, waiter: party == nil ? .caller(waiter) : nil)
    guard let party, storage.usesKeyring else { return isWaiting }
    keyring.find(KeyringParty(party), in: storage, for: .caller(waiter))
    return true
  }

  /// There are threads that somebody may wait for.
  var isInUse: Bool { lookups != nil || queue != nil }

  /// Who has waited for what has come.
  func finished() -> [KeyringQueue.Waiter] {
    (lookups?.finished().map { .task($0) } ?? []) + (queue?.finished() ?? [])
  }

  var isBusy: Bool { queue?.isBusy ?? false }

  func takeCalm() -> Bool { queue?.takeCalm() ?? false }

  /// The process is about to end.
  func abandon() {
    if lookups != nil { ChildProgram.killAll() }
    queue?.drain()
  }
}
