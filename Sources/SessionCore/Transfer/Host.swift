/// A (scheme, host, port) and who wants a connection to it.
final class Host {
  let scheme: String
  let name: String
  let port: Int
  /// The proxy its requests go through; "" is none.
  let proxy: String
  /// Transfers that have or make a connection.
  private(set) var active = 0
  /// It has answered in HTTP/2: many requests share a connection.
  var speaksHTTP2 = false

  private let maximumConnections: Int
  private var waiting: [Waiting] = []

  /// More than a process may have descriptors.
  static let connectionLimit = 1 << 20

  /// What a connection carries at once (RFC 9113 §6.5.2 recommends no less than 100).
  private static let streamsPerConnection = 100

  private struct Waiting {
    let priority: Double
    let order: Int
    let transfer: Transfer

    func precedes(_ other: Waiting) -> Bool {
      priority != other.priority ? priority > other.priority : order < other.order
    }
  }

  init(scheme: String, name: String, port: Int, proxy: String, maximumConnections: Int) {
    self.scheme = scheme
    self.name = name
    self.port = port
    self.proxy = proxy
    self.maximumConnections = min(max(1, maximumConnections), Self.connectionLimit)
  }

  var isIdle: Bool { active == 0 && waiting.isEmpty }

  private var limit: Int { speaksHTTP2 ? maximumConnections * Self.streamsPerConnection : maximumConnections }

  /// Queues a transfer, by priority and then by its number.
  func enqueue(_ transfer: Transfer) {
    waiting.append(
      Waiting(priority: transfer.options.priority, order: transfer.id.rawValue, transfer: transfer))
    var index = waiting.count - 1
    while index > 0, waiting[index].precedes(waiting[(index - 1) / 2]) {
      waiting.swapAt(index, (index - 1) / 2)
      index = (index - 1) / 2
    }
  }

  /// Takes the next transfer that may begin, and counts it. Those that left the queue meanwhile are skipped.
  func next() -> Transfer? {
    while active < limit, let transfer = pop() {
      transfer.isEnqueued = false
      guard transfer.wantsTurn else { continue }
      active += 1
      return transfer
    }
    return nil
  }

  func release() { active -= 1 }

  private func pop() -> Transfer? {
    guard let first = waiting.first else { return nil }
    let last = waiting.removeLast()
    guard !waiting.isEmpty else { return first.transfer }
    waiting[0] = last
    var index = 0
    while true {
      var best = index
      for child in (2 * index + 1)..<(2 * index + 3) where child < waiting.count {
        if waiting[child].precedes(waiting[best]) { best = child }
      }
      if best == index { return first.transfer }
      waiting.swapAt(best, index)
      index = best
    }
  }
}
