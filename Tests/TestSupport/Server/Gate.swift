import Foundation

/// A one-way door between threads: closed until somebody opens it, then open for good.
///
/// Tests use it in place of sleeping: a server handler waits at a gate, the test opens it once
/// the thing it wants to observe has happened.
public final class Gate: @unchecked Sendable {
  private let condition = NSCondition()
  private var opened = false

  /// A closed gate.
  public init() {}

  /// Lets every present and future waiter pass.
  public func open() {
    condition.lock()
    opened = true
    condition.broadcast()
    condition.unlock()
  }

  /// Whether `open()` has been called.
  public var isOpen: Bool {
    condition.lock()
    defer { condition.unlock() }
    return opened
  }

  /// Blocks the calling thread until the gate opens.
  ///
  /// - Parameter seconds: the longest time to wait.
  /// - Returns: false when the time passed with the gate still closed.
  @discardableResult
  public func wait(seconds: Double = 20) -> Bool {
    let deadline = Date(timeIntervalSinceNow: seconds)
    condition.lock()
    defer { condition.unlock() }
    while !opened {
      if !condition.wait(until: deadline) { return opened }
    }
    return true
  }

  /// Suspends the calling task until the gate opens or the time has passed.
  ///
  /// - Returns: false when the time passed with the gate still closed.
  @discardableResult
  public func opened(within seconds: Double = 20) async -> Bool {
    await withCheckedContinuation { continuation in
      Thread.detachNewThread { continuation.resume(returning: self.wait(seconds: seconds)) }
    }
  }
}
