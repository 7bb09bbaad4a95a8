/// Names a session across the door. The caller chooses the number and never reuses it.
public struct SessionID: Hashable, Sendable {
  public let rawValue: Int
  public init(_ rawValue: Int) { self.rawValue = rawValue }
}

/// Names a task across the door. The caller chooses the number and never reuses it.
public struct TaskID: Hashable, Sendable {
  public let rawValue: Int
  public init(_ rawValue: Int) { self.rawValue = rawValue }
}
