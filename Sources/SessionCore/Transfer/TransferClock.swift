/// The two timeouts of a task.
extension Transfer {
  /// The request timeout runs: a connection is there or being made, and nobody above is being waited for.
  private var isOnTheClock: Bool {
    machine.isOnTheClock && !isSuspended && !isWaitingForChunk && !sink.isWaitedFor && !isThrottled
  }

  /// Data has moved.
  func touch() { lastActivity = core.now }

  /// Sets the timer to what is due first. It is not moved for every byte: when it fires too early it is set anew.
  func updateClock() {
    if machine.isComplete || isSuspended || machine.state == .keeping {
      wasOnTheClock = false
      return core.timers.remove(self)
    }
    let isRunning = isOnTheClock
    if isRunning != wasOnTheClock {
      wasOnTheClock = isRunning
      lastActivity = core.now
      core.timers.set(self, deadline: nextDeadline)
    } else if timerIndex < 0 {
      core.timers.set(self, deadline: nextDeadline)
    }
  }

  var nextDeadline: Double {
    if isThrottled { return min(resourceDeadline, throttleDeadline) }
    return wasOnTheClock ? min(resourceDeadline, lastActivity + requestTimeout) : resourceDeadline
  }

  func timerFired() {
    if let easy, isAttached { lastActivity = max(lastActivity, easy.head.pointee.last) }
    let deadline = nextDeadline
    guard deadline <= core.now else { return core.timers.set(self, deadline: deadline) }
    if core.now < resourceDeadline, releaseThrottled() { return updateClock() }
    let message =
      core.now >= resourceDeadline
      ? "the resource timeout passed" : "no data for \(requestTimeout) seconds (request timeout)"
    if core.now < resourceDeadline, isAttached, fallsBack() { return replaceTransfer() }
    fail(TaskError(.timedOut, message, url: url))
  }
}
