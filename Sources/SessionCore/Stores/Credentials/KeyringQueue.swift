import Glibc

/// What keyrings are asked and told, one thing after another on a thread of its own, so that a user who is asked for a
/// password holds up nothing but who waits for that.
final class KeyringQueue {
  /// Who is told that something has been done.
  enum Waiter: Equatable {
    case task(TaskID)
    /// A number that the layer above knows.
    case caller(Int)

    var isCaller: Bool { if case .caller = self { true } else { false } }
  }

  private struct Job {
    let storage: CredentialStorage
    let work: Keyring.Work
    var waiters: [Waiter]

    var isChange: Bool { if case .find = work { false } else { true } }
  }

  private let threads: HelperThreads
  private var jobs: [Int: Job] = [:]
  private var begun = 0
  private var hasCalmed = false

  /// How long the end of the process waits for what is to be kept (seconds).
  private static let lastPatience = 5.0

  init(poller: Poller) { threads = HelperThreads(poller: poller, limit: 1) }

  /// Something is under way that the process must not end before.
  var isBusy: Bool { jobs.values.contains { $0.isChange || $0.waiters.contains(where: \.isCaller) } }

  /// Whether the last of that has just ended; once.
  func takeCalm() -> Bool {
    defer { hasCalmed = false }
    return hasCalmed
  }

  /// Asks for what is kept for a party, and tells the waiter when the storage knows it.
  func find(_ party: KeyringParty, in storage: CredentialStorage, for waiter: Waiter) {
    for (number, job) in jobs {
      if job.storage === storage, case .find(party) = job.work {
        jobs[number]?.waiters.append(waiter)
        return
      }
    }
    submit(.find(party), storage, [waiter])
  }

  /// Tells the keyring what a storage wants kept. False: there is nothing to wait for.
  @discardableResult
  func tell(_ storage: CredentialStorage, waiter: Waiter? = nil) -> Bool {
    while let work = storage.keyring.takeWork() { submit(work, storage, []) }
    guard let waiter else { return false }
    guard jobs[begun] != nil else { return false }
    jobs[begun]?.waiters.append(waiter)
    return true
  }

  private func submit(_ work: Keyring.Work, _ storage: CredentialStorage, _ waiters: [Waiter]) {
    begun += 1
    jobs[begun] = Job(storage: storage, work: work, waiters: waiters)
    threads.submit(HelperThreads.Job(task: begun, work: .keyring(work)))
  }

  /// Lets the storages know what has been done. Returns who waited for it.
  func finished() -> [Waiter] {
    guard !jobs.isEmpty else { return [] }
    let wasBusy = isBusy
    var waiters: [Waiter] = []
    for done in threads.finished() {
      guard let job = jobs.removeValue(forKey: done.task) else { continue }
      waiters += job.waiters
      job.storage.keyringDid(job.work, done.entries)
    }
    if wasBusy, !isBusy { hasCalmed = true }
    return waiters
  }

  /// The process is about to end: what has been kept is kept.
  func drain() {
    let deadline = MonotonicClock.now + Self.lastPatience
    while jobs.values.contains(where: \.isChange), MonotonicClock.now < deadline {
      if finished().isEmpty { usleep(2000) }
    }
  }
}
