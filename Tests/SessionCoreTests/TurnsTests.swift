import Testing

@testable import SessionCore

/// Who may begin at a host while turns are lent, without sockets.
@Suite("Turns at a host") struct TurnsTests {
  @Test("Without loans, as many begin as the limit says")
  func limit() {
    var turns = Turns()
    #expect(turns.isIdle && !turns.hasUnusedLoan)
    for _ in 0..<2 {
      #expect(turns.hasRoom(2))
      turns.begin()
    }
    #expect(!turns.hasRoom(2) && turns.hasRoom(3))
    turns.end(isBorrower: false, isLender: false)
    #expect(turns.hasRoom(2))
    turns.end(isBorrower: false, isLender: false)
    #expect(turns == Turns())
  }

  @Test("A lent turn is good for one at a time, and for the next when that is over")
  func oneAtATime() {
    var turns = Turns()
    turns.begin()
    turns.lend()
    #expect(turns.hasUnusedLoan && !turns.hasRoom(1))
    turns.borrow()
    #expect(!turns.hasUnusedLoan && !turns.hasRoom(1))
    turns.end(isBorrower: true, isLender: false)
    #expect(turns.hasUnusedLoan && !turns.hasRoom(1))
    turns.takeBack()
    #expect(!turns.hasUnusedLoan && !turns.hasRoom(1))
    turns.end(isBorrower: false, isLender: false)
    #expect(turns == Turns())
  }

  @Test("Nobody begins in a lender's place while its borrower still runs")
  func borrowerStays() {
    var turns = Turns()
    turns.begin()
    turns.lend()
    turns.borrow()
    // The lender's handler has answered, and then it is over: its borrower counts in its stead.
    turns.takeBack()
    #expect(!turns.hasRoom(1) && !turns.hasUnusedLoan)
    turns.end(isBorrower: false, isLender: false)
    #expect(!turns.hasRoom(1))
    turns.end(isBorrower: true, isLender: false)
    #expect(turns.hasRoom(1) && turns.isIdle)
  }

  @Test("Loans two deep: a borrower lends what it has borrowed")
  func nested() {
    var turns = Turns()
    turns.begin()
    turns.lend()
    turns.borrow()
    turns.lend()
    #expect(turns.hasUnusedLoan)
    turns.borrow()
    #expect(!turns.hasUnusedLoan && !turns.hasRoom(1))
    // The one in the middle is cancelled while it lends.
    turns.end(isBorrower: true, isLender: true)
    #expect(!turns.hasUnusedLoan && !turns.hasRoom(1))
    turns.end(isBorrower: true, isLender: false)
    #expect(turns.hasUnusedLoan && !turns.hasRoom(1))
    turns.end(isBorrower: false, isLender: true)
    #expect(turns == Turns())
  }

  @Test("Whatever happens, no more begin than the limit and one for each that lends", arguments: 0..<50)
  func anyOrder(seed: UInt64) {
    struct Running {
      let isBorrower: Bool
      var isLender = false
    }
    var random = seed &* 0x9E37_79B9_7F4A_7C15 | 1
    func pick(_ count: Int) -> Int {
      random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Int(random >> 33) % count
    }
    let limit = 1 + Int(seed % 3)
    var turns = Turns()
    var running: [Running] = []
    for _ in 0..<2000 {
      switch pick(5) {
      case 0 where turns.hasRoom(limit):
        turns.begin()
        running.append(Running(isBorrower: false))
        #expect(running.count <= limit + running.count { $0.isLender })
      case 1 where turns.hasUnusedLoan:
        turns.borrow()
        running.append(Running(isBorrower: true))
        #expect(running.count <= limit + running.count { $0.isLender })
      case 2:
        guard let place = running.firstIndex(where: { !$0.isLender }) else { break }
        running[place].isLender = true
        turns.lend()
      case 3:
        guard let place = running.lastIndex(where: { $0.isLender }) else { break }
        running[place].isLender = false
        turns.takeBack()
      case 4 where !running.isEmpty:
        let gone = running.remove(at: pick(running.count))
        turns.end(isBorrower: gone.isBorrower, isLender: gone.isLender)
      default: break
      }
      #expect(turns.own + turns.borrowed == running.count && turns.own <= limit)
      #expect(turns.lent == running.count { $0.isLender })
      // Turns are not lost: with nobody lending, there is room wherever fewer run than may.
      if turns.lent == 0 { #expect(turns.hasRoom(limit) == (running.count < limit)) }
    }
    for gone in running { turns.end(isBorrower: gone.isBorrower, isLender: gone.isLender) }
    #expect(turns == Turns())
  }
}
