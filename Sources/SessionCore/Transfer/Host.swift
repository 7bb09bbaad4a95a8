/// A (scheme, host, port) and who wants a connection to it.
final class Host {
  let scheme: String
  let name: String
  let port: Int
  /// It is spoken to over TLS.
  let isSecure: Bool
  /// The proxy its requests go through.
  let proxy: ProxyServer
  /// What is asked of its TLS; nil where there is none.
  let trust: HostTrust?
  /// Why nothing may be asked of it.
  let problem: TaskError?
  /// Requests go through a tunnel that the proxy is asked for.
  var hasTunnel: Bool { isSecure && proxy.speaksHTTP }

  var place: Place { Place(scheme: scheme, host: name, port: port) }
  /// Of transfers that have or make a connection.
  var turns = Turns()
  /// What it has answered in.
  private(set) var dialect: Dialect {
    didSet { usualSetup = nil }
  }
  /// What most of its requests ask for, once one has been made.
  var usualSetup: RequestSetup?

  enum Dialect {
    /// It may turn out to speak HTTP/2.
    case unknown
    /// Every request under way has a connection of its own.
    case http1
    /// Many requests share a connection.
    case http2
  }

  /// The lanes (see `Lanes`) of connections that are there and idle, the one used last at the end. A connection that
  /// the server has closed meanwhile is made again in its lane, so there are never more than were in use at once.
  private var idleLanes: [Int] = []
  /// Where all connections are as long as they may be shared.
  private var sharedLane: Int?

  private let mayShare: Bool
  private let maximumConnections: Int
  private var waiting: [Waiting] = []

  /// More than a process may have descriptors.
  static let connectionLimit = 1 << 20

  /// What a connection carries at once (RFC 9113 §6.5.2 recommends no less than 100).
  private static let streamsPerConnection = 100

  // What `QueueWatch` knows of it.
  var isWatched = false
  /// One of its transfers goes on without a handler's word.
  var isMoving = false
  var possibleLender: Transfer?

  private struct Waiting {
    let priority: Double
    let order: Int
    let transfer: Transfer
    /// A handler waits for it.
    let isServing: Bool

    func precedes(_ other: Waiting) -> Bool {
      if isServing != other.isServing { return isServing }
      return priority != other.priority ? priority > other.priority : order < other.order
    }
  }

  /// `mayShare`: HTTP/2 is possible there.
  init(
    scheme: String, name: String, port: Int, proxy: ProxyServer, maximumConnections: Int, mayShare: Bool,
    trust: SessionTrust
  ) {
    self.scheme = scheme
    self.name = name
    self.port = port
    isSecure = scheme == "https"
    self.proxy = proxy
    self.maximumConnections = min(max(1, maximumConnections), Self.connectionLimit)
    self.mayShare = mayShare
    dialect = mayShare ? .unknown : .http1
    self.trust = isSecure ? trust.host(name, port: port) : nil
    problem =
      self.trust?.problem ?? trust.problem(scheme: scheme, host: name)
      ?? proxy.problem.map { TaskError(.cannotConnectToHost, $0) }
      ?? (proxy.isSecure ? trust.authoritiesProblem : nil)
  }

  var speaksHTTP2: Bool { dialect == .http2 }
  var maySpeakHTTP2: Bool { dialect != .http1 }
  /// Nothing has been learnt yet.
  var isUndecided: Bool { dialect == .unknown }

  var isIdle: Bool { turns.isIdle && waiting.isEmpty }
  var hasQueue: Bool { !waiting.isEmpty }

  private var limit: Int { speaksHTTP2 ? maximumConnections * Self.streamsPerConnection : maximumConnections }

  /// Queues a transfer: those first that a handler waits for, then by priority and number.
  func enqueue(_ transfer: Transfer, isServing: Bool) {
    waiting.append(
      Waiting(
        priority: transfer.priority, order: transfer.id.rawValue, transfer: transfer, isServing: isServing))
    var index = waiting.count - 1
    while index > 0, waiting[index].precedes(waiting[(index - 1) / 2]) {
      waiting.swapAt(index, (index - 1) / 2)
      index = (index - 1) / 2
    }
  }

  /// A transfer's priority has changed: the queue is made anew.
  func reorder() {
    let entries = waiting
    waiting.removeAll(keepingCapacity: true)
    for entry in entries { enqueue(entry.transfer, isServing: entry.isServing) }
  }

  /// Counts a transfer that need not queue: there is room and nobody waits. False: it has to.
  func takeTurn() -> Bool {
    guard waiting.isEmpty, turns.hasRoom(limit) else { return false }
    turns.begin()
    return true
  }

  /// Takes the next transfer that may begin, and counts it. Those that left the queue meanwhile are skipped.
  func next() -> Transfer? {
    while let first = waiting.first {
      let isWithinLimit = turns.hasRoom(limit)
      guard isWithinLimit || first.isServing && turns.hasUnusedLoan else { return nil }
      guard let transfer = pop(), transfer.wantsTurn else { continue }
      begin(transfer, isBorrowing: !isWithinLimit)
      return transfer
    }
    return nil
  }

  /// The same on a turn that has been lent, whether a handler is known to wait for it or not.
  func nextOnLoan() -> Transfer? {
    while turns.hasUnusedLoan, let transfer = pop() {
      guard transfer.wantsTurn else { continue }
      begin(transfer, isBorrowing: true)
      return transfer
    }
    return nil
  }

  private func begin(_ transfer: Transfer, isBorrowing: Bool) {
    transfer.isBorrowing = isBorrowing
    if isBorrowing { turns.borrow() } else { turns.begin() }
  }

  /// Learns from a response which version it speaks.
  func learn(httpVersion: String) {
    guard mayShare else { return }
    switch httpVersion {
    case "2": if dialect != .http2 { dialect = .http2 }
    case "1.0", "1.1": if dialect == .unknown { dialect = .http1 }
    default: break
    }
  }

  /// The lane of a transfer that begins: that of an idle connection, else what `choose` says.
  func takeLane(_ choose: () -> Int) -> Int {
    if dialect == .http1 { return idleLanes.popLast() ?? choose() }
    if let sharedLane { return sharedLane }
    let lane = choose()
    sharedLane = lane
    return lane
  }

  /// A transfer in this lane is over; its connection is free.
  func giveBack(lane: Int) {
    if dialect == .http1 { idleLanes.append(lane) }
  }

  /// Its idle connections are gone.
  func forgetIdleConnections() { idleLanes.removeAll() }

  /// Takes the first from the queue.
  private func pop() -> Transfer? {
    guard let first = waiting.first else { return nil }
    first.transfer.isEnqueued = false
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
