/// A turn at a host beyond its limit, for what a handler asks while its own task holds a turn.
///
/// Were such requests to wait in the queue as all do, a host's connections could all belong to tasks whose handlers wait
/// for that queue, and nothing would ever go on. Each task lends one turn at a time, so there are never more than twice
/// as many connections as the limit says.
final class TurnLoan {
  /// The transfer that has the turn this one lends.
  fileprivate weak var borrower: Transfer?
  /// Those that wait for it (and in the host's queue as well).
  fileprivate var applicants: [Transfer] = []
  /// The transfer whose turn this one has.
  fileprivate weak var lender: Transfer?
  /// It is over, and the turn can be lent again.
  fileprivate weak var lenderToServe: Transfer?
}

extension Transfer {
  /// True when there was a turn to be had from the task whose handler has begun this one.
  func borrowTurn(at host: Host) -> Bool {
    guard let lender = options.lender.flatMap({ core.transfer($0) }), lender !== self, lender.isAttached else {
      return false
    }
    let loan = lender.madeLoan
    guard loan.borrower == nil else {
      loan.applicants.append(self)
      return false
    }
    lender.lend(to: self, at: host)
    return true
  }

  private var madeLoan: TurnLoan {
    if let loan { return loan }
    let made = TurnLoan()
    loan = made
    return made
  }

  private func lend(to transfer: Transfer, at host: Host) {
    madeLoan.borrower = transfer
    transfer.madeLoan.lender = self
    host.takeBack()
  }

  /// It has no turn any more.
  func returnTurn() {
    guard let loan, let lender = loan.lender else { return }
    loan.lender = nil
    lender.loan?.borrower = nil
    loan.lenderToServe = lender
  }

  /// Has the turn it had borrowed lent to the next.
  func serveLender() {
    guard let loan, let lender = loan.lenderToServe, let offer = lender.loan else { return }
    loan.lenderToServe = nil
    while lender.isAttached, offer.borrower == nil, !offer.applicants.isEmpty {
      let next = offer.applicants.removeFirst()
      guard next.wantsTurn, next.isEnqueued, let host = next.host else { continue }
      lender.lend(to: next, at: host)
      next.isEnqueued = false
      next.advance(.turnGranted)
    }
  }
}
