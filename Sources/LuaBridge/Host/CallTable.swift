import SessionCore

/// Which fiber waits in which call. A fiber waits in one call at a time, so the fiber's number is part of the task's:
/// nothing has to be looked up.
///
/// Numbers of calls are negative, so that they never meet those that Lua gives its tasks.
struct CallTable {
  /// A call under way, or none.
  struct Entry {
    /// 0 for none.
    var task = TaskID(0)
    var session = SessionID(0)
    /// Which task of its session it is.
    var identifier = 0
    /// Nil for work that is no task of a session.
    var request: TaskRequest?

    var fiber: Int { CallTable.fiber(task) }
    var method: String { request?.request.method ?? "" }
    var url: String { request?.request.url ?? "" }
  }

  private static let fiberBits = 24
  /// By fiber.
  private var entries: [Entry] = []
  private var begun = 0

  static func isCall(_ task: TaskID) -> Bool { task.rawValue < 0 }

  private static func fiber(_ task: TaskID) -> Int { (0 &- task.rawValue) & (1 << fiberBits - 1) }

  /// - Returns: nil for what is no fiber's number.
  mutating func begin(fiber: Int, session: SessionID, identifier: Int, _ request: TaskRequest) -> TaskID? {
    guard let task = begin(fiber) else { return nil }
    entries[fiber] = Entry(task: task, session: session, identifier: identifier, request: request)
    return task
  }

  /// The same for work that is no task of a session.
  mutating func beginWork(fiber: Int) -> TaskID? {
    guard let task = begin(fiber) else { return nil }
    entries[fiber] = Entry(task: task)
    return task
  }

  private mutating func begin(_ fiber: Int) -> TaskID? {
    guard fiber > 0, fiber < 1 << Self.fiberBits else { return nil }
    while entries.count <= fiber { entries.append(Entry()) }
    begun += 1
    return TaskID(-(begun << Self.fiberBits | fiber))
  }

  /// The fiber that waits for this task, which then waits no more.
  mutating func complete(_ task: TaskID) -> Int? {
    let fiber = Self.fiber(task)
    guard fiber < entries.count, entries[fiber].task == task else { return nil }
    entries[fiber] = Entry()
    return fiber
  }

  /// The task a fiber waits for, which then waits no more.
  mutating func end(fiber: Int) -> TaskID? {
    guard entries.indices.contains(fiber), Self.isCall(entries[fiber].task) else { return nil }
    let task = entries[fiber].task
    entries[fiber] = Entry()
    return task
  }

  /// The calls that are waited for: all, or those of one session.
  func calls(of session: SessionID? = nil) -> [Entry] {
    entries.filter {
      guard let session else { return Self.isCall($0.task) }
      return $0.request != nil && $0.session == session
    }
  }
}
