/// Turns that are lent while a handler is waited for (see `Turns`).
///
/// What a handler itself asks of its task's host has that task's turn at once. What it waits for without having begun it
/// (a fetch that another fiber made) is not known; where all of a host's transfers wait for handlers, the next in its
/// queue has a turn from one of them.
extension Transfer {
  /// So long a host stands still before a turn is lent: most handlers have answered by then.
  static let patience = 0.25

  /// The transfer whose handler has begun this one, as long as it has a connection.
  var servedTransfer: Transfer? {
    guard let id = options.lender, let served = core.transfer(id), served !== self, served.isAttached else {
      return nil
    }
    return served
  }

  /// A handler is waited for, and the connection with it.
  private var isParked: Bool {
    isAttached && !hasLeftHost && (machine.isAsking || isWaitingForChunk || sink.isWaitedFor)
  }

  var mayLend: Bool { isParked && !hasLentTurn }

  /// It will not go on by itself, and has not for a while.
  var standsStill: Bool { (isParked || isSuspended) && core.now - lastActivity >= Self.patience }

  func lendTurn() {
    guard isAttached, !hasLentTurn, !hasLeftHost, let host else { return }
    hasLentTurn = true
    host.turns.lend()
  }

  /// Its handler has answered.
  func takeTurnBack() {
    guard hasLentTurn else { return }
    hasLentTurn = false
    host?.turns.takeBack()
  }

  /// It has no turn any more.
  func giveUpTurn(at host: Host) {
    host.turns.end(isBorrower: isBorrowing, isLender: hasLentTurn)
    isBorrowing = false
    hasLentTurn = false
  }
}

/// Hosts with a queue, which are looked at now and then as long as they have one.
struct QueueWatch {
  private(set) var hosts: [Host] = []
  private var next = Double.infinity

  /// When to look.
  var deadline: Double? { hosts.isEmpty ? nil : next }

  mutating func add(_ host: Host, now: Double) {
    guard !host.isWatched else { return }
    host.isWatched = true
    if hosts.isEmpty { next = now + Transfer.patience }
    hosts.append(host)
  }

  mutating func isDue(now: Double) -> Bool {
    guard !hosts.isEmpty, next <= now else { return false }
    next = now + Transfer.patience
    hosts.removeAll { host in
      if host.hasQueue { return false }
      host.isWatched = false
      return true
    }
    return !hosts.isEmpty
  }

  mutating func removeAll() { hosts.removeAll() }
}

extension SessionCore {
  /// Where all of a host's transfers stand still and others wait, one of them lends its turn.
  func lendTurns() {
    let hosts = queues.hosts
    for host in hosts { (host.isMoving, host.possibleLender) = (false, nil) }
    for transfer in allTransfers {
      guard transfer.isAttached, !transfer.hasLeftHost, let host = transfer.host, host.isWatched else { continue }
      if !transfer.standsStill { host.isMoving = true }
      if transfer.mayLend { host.possibleLender = transfer }
    }
    for host in hosts {
      let lender = host.possibleLender
      host.possibleLender = nil
      // Those that left the queue are not worth a turn.
      while let transfer = host.next() { transfer.advance(.turnGranted) }
      guard !host.isMoving, host.hasQueue else { continue }
      if !host.turns.hasUnusedLoan { lender?.lendTurn() }
      host.nextOnLoan()?.advance(.turnGranted)
    }
  }
}
