import CCurlShim

/// Makes a stream task's connection with libcurl, which knows proxies, name resolution and addresses, and then takes
/// the socket from it.
final class StreamConnector: CurlHandle {
  private unowned(unsafe) let core: SessionCore
  private let multi: Multi
  private let start: Double
  private var report: ((Result<Connection, Failure>) -> Void)?
  private var isAdded = false
  /// The proxy's TLS session, once the connection is made.
  private var proxyTLS: TLSLayer?
  private let hasSecureProxy: Bool

  /// What the caller gets. Where there is TLS with a proxy, the connector must stay until the connection is closed.
  struct Connection {
    let descriptor: Int32
    let proxyTLS: TLSLayer?
  }

  struct Failure: Error {
    let error: TaskError
    /// There is no network to make the connection over.
    var isForWantOfNetwork = false
  }

  /// `report` is called once, unless the connector goes before: with a connection, which is then the caller's.
  /// `host`: IPv6 addresses in brackets.
  init?(
    session: Session, host: String, port: Int, proxy: ProxyServer,
    report: @escaping (Result<Connection, Failure>) -> Void
  ) {
    core = session.core
    let lanes = session.lanes(for: session.configuration.serviceType)
    multi = lanes.multi(lanes.leastUsed())
    start = WallClock.now
    self.report = report
    hasSecureProxy = proxy.isSecure
    super.init()
    Callbacks.installSockets(on: curl, poller: core.poller)
    set(CURLOPT_CONNECT_ONLY, 1)
    set(CURLOPT_PROTOCOLS_STR, "http")
    set(CURLOPT_URL, "http://\(host):\(port)/")
    // A proxy is asked for a tunnel, as for https.
    // It would go by none where libcurl did not take it.
    guard set(CURLOPT_PROXY, session.url(of: proxy)) else { return nil }
    set(CURLOPT_NOPROXY, "")
    set(CURLOPT_HTTPPROXYTUNNEL, 1)
    set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
    set(CURLOPT_USERAGENT, session.connectionOptions.userAgent)
    session.connectionOptions.apply(to: self)
    if hasSecureProxy {
      Callbacks.installConnected(on: curl, context: Unmanaged.passUnretained(self).toOpaque())
    }
    if session.configuration.trace { Trace.install(on: curl) }
  }

  /// libcurl has made the connection, TLS with the proxy included; the session can be had now and not later.
  func connected() {
    proxyTLS = hs_easy_get_ssl(curl).flatMap { TLSLayer(adopting: OpaquePointer($0)) }
  }

  /// Begins. False when libcurl does not take it.
  func connect() -> Bool {
    isAdded = multi.add(self)
    return isAdded
  }

  /// Gives up, without a word.
  func cancel() {
    report = nil
    remove()
  }

  override func ended(_ result: CURLcode) {
    let report = self.report
    self.report = nil
    report?(outcome(result))
  }

  private func outcome(_ result: CURLcode) -> Result<Connection, Failure> {
    defer { if proxyTLS == nil { remove() } }
    guard result == CURLE_OK else {
      let text = MaskedURL.masking(errorText)
      let underlying = CurlErrors.underlying(result, text: text)
      let systemError = long(CURLINFO_OS_ERRNO)
      let code = CurlErrors.code(
        for: result, verifyResult: long(hasSecureProxy ? CURLINFO_PROXY_SSL_VERIFYRESULT : CURLINFO_SSL_VERIFYRESULT),
        text: text, systemError: systemError, proxyError: long(CURLINFO_PROXY_ERROR))
      return .failure(
        Failure(
          error: TaskError(code, underlying.message, underlying: underlying),
          isForWantOfNetwork: CurlErrors.isForWantOfNetwork(code, result, systemError: systemError)))
    }
    var descriptor: curl_socket_t = -1
    hs_easy_get_socket(curl, &descriptor)
    guard descriptor >= 0 else {
      return .failure(Failure(error: TaskError(.cannotConnectToHost, "libcurl gives no socket")))
    }
    core.poller.take(descriptor)
    return .success(Connection(descriptor: descriptor, proxyTLS: proxyTLS))
  }

  private func remove() {
    guard isAdded else { return }
    isAdded = false
    multi.remove(self)
  }

  /// What is known of the connection, once it is made or has failed.
  func transaction(isProxied: Bool) -> TransactionMetrics {
    let facts = facts()
    let result = TransactionMetrics()
    result.fetchStart = start
    result.isProxyConnection = isProxied
    result.recordConnection(facts)
    result.ends = ends
    return result
  }
}
