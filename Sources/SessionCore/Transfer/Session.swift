/// A session: its configuration in the form libcurl takes, its connections, its hosts' queues.
final class Session {
  let id: SessionID
  let configuration: SessionConfiguration
  unowned(unsafe) let core: SessionCore
  let connectionOptions: ConnectionOptions
  let proxies: ProxyRules
  let cache: ResponseCache?
  /// See `CacheKey.realm`.
  let cacheRealm: String
  let trust: SessionTrust
  /// Fields a request has unless it has its own: the configuration's, User-Agent, Accept-Encoding.
  let defaultHeaders: [HeaderField]
  /// Why nothing may be sent with these fields.
  let headersProblem: TaskError?
  /// The header list of a request that adds nothing of its own.
  let plainHeaders: HeaderList
  /// Where stored cookies to be sent come from.
  let cookiesToSend: CookieStorage?
  /// Which hosts want https only.
  let hsts: HSTSStorage?
  /// Its multi handles.
  private var lanes: Lanes
  /// Those of requests with a service type of their own, whose connections are marked otherwise.
  private var markedLanes: [ServiceType: Lanes] = [:]
  /// For looking at URLs before there is a handle for them.
  let scratchURL = URLHandle()
  private let receiveLimiter: RateLimiter?
  private let sendLimiter: RateLimiter?
  private var hosts: [String: Host] = [:]
  /// The host that was asked for last, and the text it is known by.
  private var lastHost: Host?
  private let lastAuthority = Bytes()
  private var pool: [EasyHandle] = []
  /// OpenSSL's settings, made with the first stream that needs them.
  private var madeTLSContext: Result<TLSContext, TaskError>?
  /// Handles with a nonce that Digest goes on with, by what it is good for.
  private var keptHandles: [NonceKey: [EasyHandle]] = [:]
  /// Where it has been let in.
  let spaces = AuthenticatedSpaces()
  let credentialStorage: CredentialStorage?
  /// Of the handles: older ones are not used again.
  private var generation = 0
  /// Tasks that are not complete.
  var taskCount = 0
  var isInvalidated = false

  /// Handles kept for later; each costs some 10 KiB.
  private static let poolLimit = 512
  private static let hostLimit = 1024
  private static let crowd = 1024
  private static let nonceLimit = 64

  init?(id: SessionID, configuration: SessionConfiguration, core: SessionCore) {
    guard let lanes = Self.makeLanes(core, configuration) else { return nil }
    self.id = id
    self.configuration = configuration
    self.core = core
    self.lanes = lanes
    receiveLimiter = RateLimiter(configuration.rateLimit.receive)
    sendLimiter = RateLimiter(configuration.rateLimit.send)
    connectionOptions = ConnectionOptions(configuration)
    credentialStorage = configuration.credentialStorage
    proxies = ProxyRules(configuration.proxy)
    hsts = configuration.hstsStorage
    cache = configuration.cache
    cacheRealm = CacheKey.realm(configuration)
    cache.map(core.caches.adopt)
    trust = SessionTrust(configuration)
    cookiesToSend = configuration.shouldSetCookies ? configuration.cookieStorage : nil
    // All of libcurl's own options for fields print each of them twice; a list of lines is printed once.
    defaultHeaders =
      configuration.additionalHeaders
      + [
        HeaderField("User-Agent", connectionOptions.userAgent), ConnectionOptions.acceptEncoding,
      ].filter { field in
        !configuration.additionalHeaders.contains { HeaderText.equalNames($0.name, field.name) }
      }
    headersProblem = RequestCheck.problem(with: defaultHeaders)
    plainHeaders = HeaderList()
    defaultHeaders.forEach(plainHeaders.append)
  }

  /// So much is under way that the memory of each transfer counts.
  var isCrowded: Bool { taskCount > Self.crowd && lanes.running > Self.crowd }

  private static func makeLanes(_ core: SessionCore, _ configuration: SessionConfiguration) -> Lanes? {
    let limit = min(configuration.maximumConnectionsPerHost, Host.connectionLimit)
    return Lanes(core: core, idleConnections: max(64, 2 * limit))
  }

  /// What streams speak TLS with.
  func tlsContext() -> Result<TLSContext, TaskError> {
    let context = madeTLSContext ?? TLSContext.make(configuration)
    madeTLSContext = context
    return context
  }

  func takeHandle() -> EasyHandle? {
    if let pooled = pool.popLast() { return pooled }
    let made = EasyHandle(session: self)
    made?.generation = generation
    return made
  }

  /// - Parameter nonce: what a nonce that it has is good for.
  func giveBack(_ easy: EasyHandle, nonce: NonceKey?) {
    easy.transfer = nil
    if let nonce, easy.generation == generation {
      keep(easy, nonce)
    } else if !easy.isTainted, easy.generation == generation, pool.count < Self.poolLimit {
      pool.append(easy)
    }
  }

  private func keep(_ easy: EasyHandle, _ nonce: NonceKey) {
    if keptHandles.count >= Self.nonceLimit, keptHandles[nonce] == nil { keptHandles.removeAll() }
    if keptHandles[nonce, default: []].count < configuration.maximumConnectionsPerHost {
      keptHandles[nonce, default: []].append(easy)
    }
  }

  var keepsHandles: Bool { !keptHandles.isEmpty }

  func hasKeptHandle(_ nonce: NonceKey) -> Bool { keptHandles[nonce]?.isEmpty == false }

  func takeKeptHandle(_ nonce: NonceKey) -> EasyHandle? { keptHandles[nonce]?.popLast() }

  /// A challenge may be answered without a handler.
  var hasStoredCredentials: Bool {
    !spaces.isEmpty || credentialStorage?.mayHold(core.now) ?? false
  }

  /// Forgets what it has learnt of hosts: who wants https, and who takes which credentials.
  func forget() {
    hsts?.removeAll()
    configuration.alternativeServices?.removeAll()
    spaces.removeAll()
    keptHandles.removeAll()
  }

  /// The queue for a host that has been met under this text (scheme and authority of a URL).
  func knownHost(authority: UnsafeRawBufferPointer) -> Host? {
    if let lastHost, lastAuthority.equals(authority) { return lastHost }
    guard let host = hosts[String(decoding: authority, as: UTF8.self)] else { return nil }
    lastHost = host
    lastAuthority.removeAll()
    lastAuthority.append(authority)
    return host
  }

  /// The handles whose connections carry what a service type marks.
  func lanes(for service: ServiceType) -> Lanes {
    if service == configuration.serviceType { return lanes }
    if let marked = markedLanes[service] { return marked }
    guard let marked = Self.makeLanes(core, configuration) else { return lanes }
    markedLanes[service] = marked
    return marked
  }

  /// The queue for a parsed URL's host. `authority`: the text to know it by the next time.
  func host(of url: URLHandle, authority: String?, service: ServiceType) -> Host? {
    let parts = URLParts(of: url)
    guard let name = parts.host else { return nil }
    let port = parts.port ?? URLParts.defaultPort(parts.scheme) ?? 0
    let mark = service == configuration.serviceType ? "" : "#\(service)"
    let key = "\(parts.scheme)://\(name.lowercased()):\(port)\(mark)"
    let host =
      hosts[key]
      ?? Host(
        scheme: parts.scheme, name: name, port: port, proxy: proxies.proxy(scheme: parts.scheme, host: name),
        maximumConnections: configuration.maximumConnectionsPerHost, mayShare: mayShare(parts.scheme), trust: trust)
    if hosts.count >= Self.hostLimit { forgetIdleHosts() }
    hosts[key] = host
    if let authority { hosts[authority] = host }
    return host
  }

  private func mayShare(_ scheme: String) -> Bool {
    switch configuration.httpVersion {
    case .http1_0, .http1_1: return false
    case .http2PriorKnowledge:
      _ = CurlLibrary.narrowsStreams
      return CurlLibrary.reusesPriorKnowledge
    case .automatic, .http2:
      guard scheme == "https" else { return false }
      _ = CurlLibrary.narrowsStreams
      return true
    }
  }

  private func forgetIdleHosts() {
    hosts = hosts.filter { !$0.value.isIdle }
    lastHost = nil
  }

  /// The limits of a task: its own, and those it shares with the session's other tasks. Nil where there are none.
  func rateLimits(_ options: TaskRequest) -> (receiving: Throttle?, sending: Throttle?)? {
    guard options.rateLimit != nil || receiveLimiter != nil || sendLimiter != nil else { return nil }
    return (
      Throttle([RateLimiter(options.rateLimit?.receive), receiveLimiter]),
      Throttle([RateLimiter(options.rateLimit?.send), sendLimiter])
    )
  }

  /// Forgets handles and queues, whose entries would keep the session alive.
  func close() {
    retireLanes()
    lastHost = nil
    hosts.removeAll()
    pool.removeAll()
    keptHandles.removeAll()
  }

  private func retireLanes() {
    lanes.retire()
    markedLanes.values.forEach { $0.retire() }
    markedLanes.removeAll()
  }

  /// Lets go of the connections that no transfer uses: new transfers get new ones.
  func closeIdleConnections() {
    guard let fresh = Self.makeLanes(core, configuration) else { return }
    retireLanes()
    lanes = fresh
    hosts.values.forEach { $0.forgetIdleConnections() }
    // The handles have TLS sessions that would be gone on with, unasked.
    pool.removeAll()
    generation += 1
    trust.forget()
  }
}
