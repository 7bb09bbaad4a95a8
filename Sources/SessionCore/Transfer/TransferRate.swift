/// Limits on how fast bodies move, in both directions. What is held back counts neither as received nor as sent, and the
/// request timeout does not run meanwhile.
extension Transfer {
  /// Whether a piece must wait for its turn; what libcurl is to be told then.
  func waitsToReceive(_ count: Int) -> Int? {
    guard receiving != nil else { return nil }
    if receiving?.admits(count, now: core.now) == true { return nil }
    throttled()
    return pauseReceiving()
  }

  func waitsToSend(_ count: Int) -> Int? {
    guard sending != nil, count > 0 else { return nil }
    if sending?.admits(count, now: core.now) == true { return nil }
    throttled()
    return pauseSending()
  }

  /// Sees to it that the transfer goes on when its turn has come.
  private func throttled() {
    updateClock()
    core.timers.set(self, deadline: nextDeadline)
  }

  /// When a direction may go on that waits for that.
  var throttleDeadline: Double {
    var deadline = Double.infinity
    if let receiving, receiving.isWaiting { deadline = receiving.time }
    if let sending, sending.isWaiting { deadline = min(deadline, sending.time) }
    return deadline
  }

  var isThrottled: Bool { receiving?.isWaiting == true || sending?.isWaiting == true }

  /// Lets go on what has waited long enough. False when there is nothing.
  func releaseThrottled() -> Bool {
    guard throttleDeadline <= core.now else { return false }
    if let time = receiving?.time, time <= core.now { receiving?.isWaiting = false }
    if let time = sending?.time, time <= core.now { sending?.isWaiting = false }
    updatePause()
    return true
  }
}
