import SessionCore

/// Which fiber waits in which call. A fiber waits in one call at a time, so the fiber's number is part of the task's:
/// nothing has to be looked up.
///
/// Numbers of calls are negative, so that they never meet those that Lua gives its tasks.
struct CallTable {
  /// A call under way.
  struct Entry {
    let task: TaskID
    let fiber: Int
    /// Nil for work that is no task of a session.
    let session: SessionID?
    /// Which task of its session it is.
    let identifier: Int
    let method: String
    let url: String
  }

  private static let fiberBits = 24
  /// By fiber.
  private var entries: [Entry?] = []
  private var begun = 0

  static func isCall(_ task: TaskID) -> Bool { task.rawValue < 0 }

  /// - Returns: nil for what is no fiber's number.
  mutating func begin(fiber: Int, session: SessionID, identifier: Int, _ request: Request) -> TaskID? {
    begin(fiber) { task in
      Entry(
        task: task, fiber: fiber, session: session, identifier: identifier, method: request.method, url: request.url)
    }
  }

  /// The same for work that is no task of a session.
  mutating func beginWork(fiber: Int) -> TaskID? {
    begin(fiber) { Entry(task: $0, fiber: fiber, session: nil, identifier: 0, method: "", url: "") }
  }

  @inline(__always)
  private mutating func begin(_ fiber: Int, _ entry: (TaskID) -> Entry) -> TaskID? {
    guard fiber > 0, fiber < 1 << Self.fiberBits else { return nil }
    while entries.count <= fiber { entries.append(nil) }
    begun += 1
    let task = TaskID(-(begun << Self.fiberBits | fiber))
    entries[fiber] = entry(task)
    return task
  }

  /// The fiber that waits for this task, which then waits no more.
  mutating func complete(_ task: TaskID) -> Int? {
    let fiber = (0 &- task.rawValue) & (1 << Self.fiberBits - 1)
    guard fiber < entries.count, entries[fiber]?.task == task else { return nil }
    entries[fiber] = nil
    return fiber
  }

  /// The task a fiber waits for, which then waits no more.
  mutating func end(fiber: Int) -> TaskID? {
    guard entries.indices.contains(fiber), let entry = entries[fiber] else { return nil }
    entries[fiber] = nil
    return entry.task
  }

  /// The calls that are waited for: all, or those of one session.
  func calls(of session: SessionID? = nil) -> [Entry] {
    entries.compactMap { $0 }.filter { session == nil || $0.session == session }
  }
}
