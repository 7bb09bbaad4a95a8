import CCurlShim

/// Tells when an interface, an address or a route changes, so that tasks that wait for connectivity try again.
final class NetworkWatch {
  /// What the poller knows it by.
  static let owner: Int32 = -2
  private let descriptor: Int32
  private let poller: Poller

  /// Nil where the system has no such socket to give.
  init?(poller: Poller) {
    descriptor = hs_open_network_watch()
    guard descriptor >= 0 else { return nil }
    self.poller = poller
    poller.opened(descriptor)
    poller.want(descriptor, events: UInt8(HS_READABLE), owner: Self.owner)
  }

  deinit { _ = poller.closeSocket(descriptor) }

  func drain() { hs_drain_network_watch(descriptor) }

  /// Whether there is a network beyond this machine.
  static var isThere: Bool { hs_has_network() }
}
