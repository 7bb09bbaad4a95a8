/// A (scheme, host, port) and who wants a connection to it.
final class Host {
  let scheme: String
  let name: String
  let port: Int
  /// The proxy its requests go through; "" is none.
  let proxy: String
  /// What is asked of its TLS; nil where there is none.
  let trust: HostTrust?
  /// Why nothing may be asked of it.
  let problem: TaskError?
  /// The proxy is spoken to by TLS.
  let hasSecureProxy: Bool
  /// Where that proxy is, as a protection space names it.
  private(set) lazy var proxyPlace = Place(proxy: proxy)
  /// User and password in the proxy's URL.
  private(set) lazy var proxyCredentials = Place.credentials(proxy: proxy)
  /// The proxy without these.
  private(set) lazy var bareProxy = Place.withoutCredentials(proxy: proxy)
  /// Requests go through a tunnel that the proxy is asked for.
  var hasTunnel: Bool { scheme == "https" && !proxy.isEmpty && proxyPlace?.scheme.hasPrefix("http") == true }

  var place: Place { Place(scheme: scheme, host: name, port: port) }
  /// Transfers that have or make a connection.
  private(set) var active = 0
  /// What it has answered in.
  private(set) var dialect: Dialect

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

  private struct Waiting {
    let priority: Double
    let order: Int
    let transfer: Transfer

    func precedes(_ other: Waiting) -> Bool {
      priority != other.priority ? priority > other.priority : order < other.order
    }
  }

  /// `mayShare`: HTTP/2 is possible there.
  init(
    scheme: String, name: String, port: Int, proxy: String, maximumConnections: Int, mayShare: Bool, trust: SessionTrust
  ) {
    self.scheme = scheme
    self.name = name
    self.port = port
    self.proxy = proxy
    hasSecureProxy = proxy.lowercased().hasPrefix("https://")
    self.maximumConnections = min(max(1, maximumConnections), Self.connectionLimit)
    self.mayShare = mayShare
    dialect = mayShare ? .unknown : .http1
    self.trust = scheme == "https" ? trust.host(name, port: port) : nil
    problem = self.trust?.problem ?? trust.problem(scheme: scheme, host: name)
  }

  var speaksHTTP2: Bool { dialect == .http2 }
  var maySpeakHTTP2: Bool { dialect != .http1 }
  /// Nothing has been learnt yet.
  var isUndecided: Bool { dialect == .unknown }

  var isIdle: Bool { active == 0 && waiting.isEmpty }

  private var limit: Int { speaksHTTP2 ? maximumConnections * Self.streamsPerConnection : maximumConnections }

  /// Queues a transfer, by priority and then by its number.
  func enqueue(_ transfer: Transfer) {
    waiting.append(
      Waiting(priority: transfer.priority, order: transfer.id.rawValue, transfer: transfer))
    var index = waiting.count - 1
    while index > 0, waiting[index].precedes(waiting[(index - 1) / 2]) {
      waiting.swapAt(index, (index - 1) / 2)
      index = (index - 1) / 2
    }
  }

  /// A transfer's priority has changed: the queue is made anew.
  func reorder() {
    let transfers = waiting.map(\.transfer)
    waiting.removeAll(keepingCapacity: true)
    transfers.forEach(enqueue)
  }

  /// Counts a transfer that need not queue: there is room and nobody waits. False: it has to.
  func takeTurn() -> Bool {
    guard waiting.isEmpty, active < limit else { return false }
    active += 1
    return true
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

  /// Counts a transfer that has its connection already, whether there is room or not.
  func takeBack() { active += 1 }

  /// Learns from a response which version it speaks.
  func learn(httpVersion: String) {
    switch httpVersion {
    case "2": if mayShare { dialect = .http2 }
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
