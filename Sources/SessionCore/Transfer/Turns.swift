/// The turns at a host: how many transfers have a connection, and which of them lent or borrowed one.
///
/// A transfer that waits for a handler's word holds its connection and does nothing with it. What that handler waits for
/// may need the same host, so such a transfer can lend its turn: another one then runs beyond the limit. A borrower whose
/// lender goes on counts as any other, so that nobody begins before there is room for it: at each beginning, those that
/// run are no more than the limit and one for each that lends.
struct Turns: Equatable {
  /// Those that began within the limit.
  private(set) var own = 0
  /// Those that began on a lent turn.
  private(set) var borrowed = 0
  /// Those that have their turn lent.
  private(set) var lent = 0

  var isIdle: Bool { own + borrowed == 0 }
  /// A turn has been lent that nobody uses.
  var hasUnusedLoan: Bool { borrowed < lent }

  /// A transfer may begin within the limit.
  func hasRoom(_ limit: Int) -> Bool { own + max(0, borrowed - lent) < limit }

  /// One begins within the limit.
  mutating func begin() { own += 1 }

  /// One begins on a lent turn.
  mutating func borrow() { borrowed += 1 }

  mutating func lend() { lent += 1 }

  /// A lender has been given the word it waited for.
  mutating func takeBack() { lent -= 1 }

  /// One is over, or its connection is the host's no more.
  mutating func end(isBorrower: Bool, isLender: Bool) {
    if isBorrower { borrowed -= 1 } else { own -= 1 }
    if isLender { lent -= 1 }
  }
}
