/// The time limits of a stream: of each read and write, of connecting and handshakes, and of the whole.
extension StreamTask {
  func updateClock() {
    var deadline = resourceDeadline
    if !isSuspended {
      deadline = min(deadline, phaseDeadline)
      for read in reads.values where read < deadline { deadline = read }
      for write in writes.values where write.deadline < deadline { deadline = write.deadline }
    }
    guard deadline != timerDeadline || timerIndex < 0 else { return }
    timerDeadline = deadline
    core.streamTimers.set(self, deadline: deadline)
  }

  func timerFired() {
    timerDeadline = .infinity
    let now = core.now
    if now >= resourceDeadline { return fail(TaskError(.timedOut, "the resource timeout passed")) }
    if !isSuspended {
      if now >= phaseDeadline { return phaseTimedOut() }
      for (operation, deadline) in reads where deadline <= now { readTimedOut(operation) }
      for (operation, write) in writes where write.deadline <= now { writeTimedOut(operation, write) }
    }
    update()
  }

  private func phaseTimedOut() {
    if isEnding { return complete() }
    let what: String
    switch machine.phase {
    case .connecting: what = "no connection"
    case .securing, .unsecuring: what = "TLS was not done"
    case .open, .unconnected, .closed: what = "not closed"
    }
    fail(TaskError(.timedOut, "\(what) after \(requestTimeout) seconds (request timeout)"))
  }

  /// The read is taken back; what has come stays for the next one.
  private func readTimedOut(_ operation: Int) {
    refuse(read: operation, TaskError(.timedOut, "the read's time has passed", url: shownPlace))
    perform(machine.handle(.withdrawn(id: operation)))
  }

  /// A write that has not begun is taken back. One of which some is sent leaves the other side in the middle of it:
  /// the stream is of no use then.
  private func writeTimedOut(_ operation: Int, _ write: Write) {
    let error = TaskError(.timedOut, "the write's time has passed", url: shownPlace)
    if write.offset > 0 { return fail(error) }
    refuse(write: operation, error)
    if current == operation { current = nil }
    perform(machine.handle(.withdrawn(id: operation)))
  }
}
