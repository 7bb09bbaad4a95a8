/// Programs that are being asked for credentials, on threads of their own, so that one that waits for its user holds up
/// nothing else. Tasks that want the same wait for the same answer.
final class CredentialLookups {
  private struct Lookup {
    let space: ProtectionSpace
    let storage: CredentialStorage
    var tasks: [TaskID]
  }

  private let threads: HelperThreads
  private var running: [Int: Lookup] = [:]
  private var begun = 0

  init(poller: Poller) { threads = HelperThreads(poller: poller) }

  /// Asks, unless that is under way.
  func begin(_ space: ProtectionSpace, in storage: CredentialStorage, for task: TaskID) {
    for (number, lookup) in running where lookup.space == space && lookup.storage === storage {
      running[number]?.tasks.append(task)
      return
    }
    guard let command = storage.command else { return }
    begun += 1
    running[begun] = Lookup(space: space, storage: storage, tasks: [task])
    threads.submit(HelperThreads.Job(task: begun, work: .ask(command, space)))
  }

  /// Puts the answers that have come into their storages. Returns the tasks that waited for them.
  func finished() -> [TaskID] {
    guard !running.isEmpty else { return [] }
    var tasks: [TaskID] = []
    for job in threads.finished() {
      guard let lookup = running.removeValue(forKey: job.task) else { continue }
      tasks += lookup.tasks
      switch job.answer {
      case .success(let credential): lookup.storage.set(credential, for: SpacePattern(lookup.space))
      case .failure(let failure):
        let program = lookup.storage.command?.arguments.first ?? ""
        Warnings.tell("credential command \(program)", "the credential command \(program) \(failure.text)")
      case nil: break
      }
    }
    return tasks
  }
}

extension CredentialStorage {
  /// Who may know a credential that is not at hand, and has to be asked while the task waits.
  enum Source {
    case keyring
    case command
  }

  /// The next one to be asked about a space; nil where there is none, or what is wanted is at hand.
  func source(for space: ProtectionSpace, of user: Octets?, after asked: [Source], now: Double) -> Source? {
    let pattern = SpacePattern(space)
    if usesKeyring, !asked.contains(.keyring), !keyring.isKnown(KeyringParty(pattern), now: now),
      matches(pattern).isEmpty
    {
      return .keyring
    }
    return command != nil && !asked.contains(.command) && credential(for: space, of: user) == nil ? .command : nil
  }
}
