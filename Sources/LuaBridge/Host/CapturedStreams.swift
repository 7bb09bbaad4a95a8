import SessionCore

/// Streams whose task is complete and that belong to an input and an output object. By themselves these do not keep
/// the process alive; a read or write that is waited for does.
struct CapturedStreams {
  /// Reads and writes under way.
  private var pending: [Int: Int] = [:]
  private var total = 0

  var hasWork: Bool { total > 0 }

  mutating func add(_ task: TaskID) { pending[task.rawValue] = 0 }

  /// True when it was one.
  mutating func remove(_ task: TaskID) -> Bool {
    guard !pending.isEmpty, let count = pending.removeValue(forKey: task.rawValue) else { return false }
    total -= count
    return true
  }

  mutating func note(_ task: TaskID, _ command: StreamCommand) {
    switch command {
    case .read, .write: count(task, 1)
    case .withdraw: count(task, -1)
    case .closeRead, .closeWrite, .startSecureConnection, .stopSecureConnection, .capture: break
    }
  }

  mutating func note(_ task: TaskID, _ event: StreamEvent) {
    switch event {
    case .read, .written: count(task, -1)
    case .readClosed, .writeClosed, .betterRoute, .captured: break
    }
  }

  private mutating func count(_ task: TaskID, _ step: Int) {
    guard !pending.isEmpty, let count = pending[task.rawValue], count + step >= 0 else { return }
    pending[task.rawValue] = count + step
    total += step
  }
}
