import SessionCore

/// Which fiber waits in which call. A fiber waits in one call at a time, so the fiber's number is part of the task's:
/// nothing has to be looked up.
///
/// Numbers of calls are negative, so that they never meet those that Lua gives its tasks.
struct CallTable {
  private static let fiberBits = 24
  /// By fiber: the number of the task it waits for, 0 for none.
  private var waiting: [Int] = []
  /// By fiber: the session of that task.
  private var sessions: [Int] = []
  private var begun = 0

  static func isCall(_ task: TaskID) -> Bool { task.rawValue < 0 }

  mutating func begin(fiber: Int, session: SessionID) -> TaskID {
    while waiting.count <= fiber {
      waiting.append(0)
      sessions.append(0)
    }
    begun += 1
    let number = -(begun << Self.fiberBits | fiber)
    waiting[fiber] = number
    sessions[fiber] = session.rawValue
    return TaskID(number)
  }

  /// The fiber that waits for this task, which then waits no more.
  mutating func complete(_ task: TaskID) -> Int? {
    let fiber = -task.rawValue & (1 << Self.fiberBits - 1)
    guard fiber < waiting.count, waiting[fiber] == task.rawValue else { return nil }
    waiting[fiber] = 0
    return fiber
  }

  /// The task a fiber waits for, which then waits no more.
  mutating func end(fiber: Int) -> TaskID? {
    guard fiber < waiting.count, waiting[fiber] != 0 else { return nil }
    defer { waiting[fiber] = 0 }
    return TaskID(waiting[fiber])
  }

  /// The tasks that are waited for: all, or those of one session.
  func tasks(of session: SessionID? = nil) -> [TaskID] {
    waiting.indices
      .filter { waiting[$0] != 0 && (session == nil || sessions[$0] == session?.rawValue) }
      .map { TaskID(waiting[$0]) }
  }
}
