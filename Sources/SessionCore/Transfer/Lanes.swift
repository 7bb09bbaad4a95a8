/// The multi handles of a session. libcurl looks through a host's connections one by one, and through a handle's
/// timers, so that many transfers cost less when they are spread over several handles; a few are best on one, where
/// they find each other's connections.
final class Lanes {
  private unowned(unsafe) let core: SessionCore
  private let idleConnections: Int
  private var multis: [Multi] = []

  /// What one handle carries well.
  private static let crowd = 16
  private static let usualLimit = 16
  /// With more than a thousand transfers, more handles pay.
  private static let largeLimit = 64
  private static let largeCrowd = 64

  /// `idleConnections`: how many each handle keeps.
  init?(core: SessionCore, idleConnections: Int) {
    self.core = core
    self.idleConnections = idleConnections
    guard grow() else { return nil }
  }

  /// The handle of a lane; another when this one cannot be had.
  func multi(_ lane: Int) -> Multi {
    while multis.count <= lane, grow() {}
    return multis[min(lane, multis.count - 1)]
  }

  /// Transfers under way.
  var running: Int { multis.reduce(0) { $0 + $1.running } }

  /// The lane for a new connection.
  func leastUsed() -> Int {
    let running = running
    let wanted = min(max(running / Self.crowd, 1), Self.usualLimit)
    let count = max(wanted, min(running / Self.largeCrowd, Self.largeLimit))
    while multis.count < count, grow() {}
    var best = 0
    for lane in 1..<max(1, min(count, multis.count)) where multis[lane].running < multis[best].running { best = lane }
    return best
  }

  /// Lets go of all handles, each when its transfers are over.
  func retire() {
    multis.forEach(core.retire)
  }

  private func grow() -> Bool {
    guard let multi = core.makeMulti(connections: idleConnections) else { return false }
    multis.append(multi)
    return true
  }
}
