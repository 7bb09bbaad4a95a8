/// A session: its configuration in the form libcurl takes, its connections, its hosts' queues.
final class Session {
  let id: SessionID
  let configuration: SessionConfiguration
  unowned(unsafe) let core: SessionCore
  let connectionOptions: ConnectionOptions
  let proxies: ProxyRules
  /// Fields a request has unless it has its own: the configuration's, User-Agent, Accept-Encoding.
  let defaultHeaders: [HeaderField]
  /// The header list of a request that adds nothing of its own.
  let plainHeaders: HeaderList
  private(set) var multi: Multi
  /// For looking at URLs before there is a handle for them.
  let scratchURL = URLHandle()
  private var hosts: [String: Host] = [:]
  private var pool: [EasyHandle] = []
  /// Tasks that are not complete.
  var taskCount = 0
  var isInvalidated = false

  /// Handles kept for later; each costs some 10 KiB.
  private static let poolLimit = 512
  private static let hostLimit = 1024

  init?(id: SessionID, configuration: SessionConfiguration, core: SessionCore) {
    guard let multi = core.makeMulti(connections: Self.idleConnections(configuration)) else { return nil }
    self.id = id
    self.configuration = configuration
    self.core = core
    self.multi = multi
    connectionOptions = ConnectionOptions(configuration)
    proxies = ProxyRules(configuration.proxy)
    // All of libcurl's own options for fields print each of them twice; a list of lines is printed once.
    defaultHeaders =
      configuration.additionalHeaders
      + [
        HeaderField("User-Agent", connectionOptions.userAgent),
        HeaderField("Accept-Encoding", "gzip, deflate, br, zstd"),
      ].filter { field in
        !configuration.additionalHeaders.contains { HeaderText.equalNames($0.name, field.name) }
      }
    plainHeaders = HeaderList()
    defaultHeaders.forEach(plainHeaders.append)
  }

  private static func idleConnections(_ configuration: SessionConfiguration) -> Int {
    max(64, 2 * min(configuration.maximumConnectionsPerHost, Host.connectionLimit))
  }

  func takeHandle() -> EasyHandle? {
    pool.popLast() ?? EasyHandle(session: self)
  }

  func giveBack(_ easy: EasyHandle) {
    easy.transfer = nil
    if !easy.isTainted, pool.count < Self.poolLimit { pool.append(easy) }
  }

  /// The queue for a host that has been met under this text (scheme and authority of a URL).
  func knownHost(authority: String) -> Host? { hosts[authority] }

  /// The queue for a parsed URL's host. `authority`: the text to know it by the next time.
  func host(of url: URLHandle, authority: String?) -> Host? {
    let parts = URLParts(of: url)
    guard let name = parts.host else { return nil }
    let port = parts.port ?? URLParts.defaultPort(parts.scheme) ?? 0
    let key = "\(parts.scheme)://\(name.lowercased()):\(port)"
    let host =
      hosts[key]
      ?? Host(
        scheme: parts.scheme, name: name, port: port, proxy: proxies.proxy(scheme: parts.scheme, host: name),
        maximumConnections: configuration.maximumConnectionsPerHost)
    if hosts.count >= Self.hostLimit { hosts = hosts.filter { !$0.value.isIdle } }
    hosts[key] = host
    if let authority { hosts[authority] = host }
    return host
  }

  /// Forgets handles and queues, whose entries would keep the session alive.
  func close() {
    hosts.removeAll()
    pool.removeAll()
  }

  /// Lets go of the connections that no transfer uses: new transfers get new ones.
  func closeIdleConnections() {
    guard let fresh = core.makeMulti(connections: Self.idleConnections(configuration)) else { return }
    core.retire(multi)
    multi = fresh
  }
}
