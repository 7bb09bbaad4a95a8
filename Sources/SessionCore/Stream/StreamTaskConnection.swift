import CCurlShim

/// Making the connection, and TLS on it.
extension StreamTask {
  func connect() {
    phaseDeadline = MonotonicClock.now + requestTimeout
    switch place {
    case .host(let name, let port): connect(to: name, port: port)
    case .service(let name, let type, let domain): lookUp(name, type, domain)
    }
  }

  func connect(to name: String, port: Int) {
    let host = Self.bracketed(name)
    guard isHost(host), (1...65535).contains(port) else {
      return fail(TaskError(.badURL, "not a host and port: \(host):\(port)"))
    }
    let proxy = session.proxies.proxy(scheme: "https", host: host)
    if let problem = proxy.problem { return fail(TaskError(.cannotConnectToHost, problem)) }
    connector = StreamConnector(session: session, host: host, port: port, proxy: proxy) { [weak self] result in
      self?.connectorEnded(result, isProxied: !proxy.isNone)
    }
    if connector?.connect() != true {
      fail(TaskError(.unknown, "libcurl does not take the connection"))
    }
  }

  /// Whether a URL with this host would have no more and no less than it.
  private func isHost(_ host: String) -> Bool {
    let url = URLHandle()
    guard url.setAny("http://\(host)/") == CURLUE_OK, let parsed = url.get(CURLUPART_HOST) else { return false }
    return parsed.lowercased() == host.lowercased() && url.get(CURLUPART_USER) == nil
  }

  private func connectorEnded(
    _ result: Result<StreamConnector.Connection, StreamConnector.Failure>, isProxied: Bool
  ) {
    transaction = connector?.transaction(isProxied: isProxied)
    switch result {
    case .failure(let failure):
      connector = nil
      guard let next = candidates.first else { return connectionFailed(failure) }
      candidates.removeFirst()
      connect(to: next.host, port: next.port)
    case .success(let connection):
      phaseDeadline = .infinity
      // The proxy's TLS goes when libcurl closes the connection.
      if connection.proxyTLS == nil { connector = nil }
      let link = makeLink(connection.descriptor, connection.proxyTLS)
      self.link = link
      if watchesRoutes { _ = core.watchNetwork() }
      perform(machine.handle(.connected))
      (link as? SecureLink)?.begin()
    }
  }

  /// There is nowhere else to go: the end, unless the session's tasks wait for a network.
  func connectionFailed(_ failure: StreamConnector.Failure) {
    if failure.isForWantOfNetwork, session.configuration.waitsForConnectivity {
      perform(machine.handle(.unconnected))
    } else {
      fail(failure.error)
    }
  }

  private func makeLink(_ descriptor: Int32, _ proxyTLS: TLSLayer?) -> StreamLink {
    guard let proxyTLS else { return SocketLink(descriptor: descriptor, core: core, owner: self) }
    return SecureLink(proxyTLS, descriptor: descriptor, core: core, owner: self)
  }

  /// Goes on with a connection that is there: through these TLS sessions, with the server and with a proxy, if any, and
  /// with what has come already.
  func begin(on descriptor: Int32, tls layer: TLSLayer?, proxyTLS: TLSLayer?, _ early: Bytes) {
    core.poller.take(descriptor)
    let link = makeLink(descriptor, proxyTLS)
    self.link = link
    defer { (link as? SecureLink)?.begin() }
    tls = layer
    machine.beginConnected(isSecure: layer != nil)
    take(early.buffer)
    if let layer { decrypt(layer) } else { perform(machine.handle(.received(available: inbox.count))) }
  }

  /// Goes on where the connection has ended before the stream could have it: with what has come, and then with the end
  /// of the input or with what went wrong. Nothing can be sent.
  func begin(_ early: Bytes, endedBy loss: TaskError?) {
    self.loss = loss
    hasLinkEnded = true
    machine.beginEnded()
    take(early.buffer)
    perform(machine.handle(.received(available: inbox.count)))
    if loss == nil { perform(machine.handle(.inputEnded)) }
  }

  // MARK: TLS

  /// The name the other side's certificate must be for.
  private var serverName: String {
    switch place {
    case .host(let name, _): name.hasPrefix("[") ? String(name.dropFirst().dropLast()) : name
    case .service(_, _, let domain): domain
    }
  }

  func beginSecure() {
    switch makeLayer() {
    case .failure(let error): return fail(error)
    case .success(let layer):
      tls = layer
      hasTLSEnded = false
      phaseDeadline = MonotonicClock.now + requestTimeout
      transaction?.secureConnectionStart = WallClock.now
      let early = inbox.take(inbox.count)
      totalRead -= early.count
      layer.feed(early.buffer)
      stepHandshake(layer)
      if hasLinkEnded, machine.phase == .securing { endedInsideTLS() }
    }
  }

  private func makeLayer() -> Result<TLSLayer, TaskError> {
    let port = if case .host(_, let port) = place { port } else { 0 }
    let host = session.trust.host(serverName, port: port)
    if let problem = host.problem { return .failure(problem) }
    let trust = ConnectionTrust(host, mayAsk: asksAboutServers, suspends: true)
    return session.tlsContext().flatMap { $0.forHandshake(session.configuration, trust) }.flatMap { context in
      guard let layer = TLSLayer(context, host: serverName, trust: trust) else {
        return .failure(TaskError(.secureConnectionFailed, "OpenSSL does not take the host name \(serverName)"))
      }
      question = (host, nil)
      return .success(layer)
    }
  }

  /// Asks a handler; the handshake waits, and so does its time limit.
  private func ask(_ asked: ConnectionTrust.Question) {
    guard let host = question?.host, question?.asked == nil else { return }
    question = (host, asked)
    phaseDeadline = .infinity
    core.outbox.append(.challenge(id, host.challenge(asked)))
  }

  /// The handler's word on it.
  func receive(_ answer: ChallengeAnswer) {
    guard let (host, asked) = question, let asked, let layer = tls else { return }
    question = (host, nil)
    let problem =
      switch asked {
      case .serverTrust(let server): settle(answer, server, host)
      case .clientCertificate: settle(answer, host)
      }
    if let problem { return fail(problem) }
    phaseDeadline = MonotonicClock.now + requestTimeout
    stepHandshake(layer)
  }

  private static let cancelled = TaskError(.userCancelledAuthentication, "authentication was cancelled")

  /// An answer about the server. Nil: the handshake goes on.
  private func settle(_ answer: ChallengeAnswer, _ server: ServerTrust, _ host: HostTrust) -> TaskError? {
    switch answer {
    case .cancel, .request: return Self.cancelled
    case .rejectProtectionSpace: return TLSErrors.error(server)
    case .performDefaultHandling, .deliverResponse:
      guard server.refusal == nil, let leaf = server.leaf else { return TLSErrors.error(server) }
      host.leaveToVerification(leaf)
    case .useCredential(let credential):
      guard case .serverTrust(let leaf) = credential.secret, leaf == server.leaf else {
        let message = "the credential is not for the certificate that \(server.host) shows"
        return TaskError(.serverCertificateUntrusted, message)
      }
      host.accept(leaf)
    }
    return nil
  }

  /// An answer about a certificate of our own. Nil: the handshake goes on.
  private func settle(_ answer: ChallengeAnswer, _ host: HostTrust) -> TaskError? {
    switch answer {
    case .cancel, .request: return Self.cancelled
    case .performDefaultHandling, .deliverResponse, .rejectProtectionSpace:
      host.show(nil)
      return nil
    case .useCredential(let credential): return host.show(credential)
    }
  }

  private func stepHandshake(_ layer: TLSLayer) {
    let progress = layer.handshake()
    layer.drain(into: linkOutput)
    switch progress {
    case .waiting: pump()
    case .asking(let question):
      pump()
      ask(question)
    case .failure(let error):
      // The alert that tells the other side why.
      link?.push()
      fail(error)
    case .done:
      phaseDeadline = .infinity
      transaction?.secureConnectionEnd = WallClock.now
      transaction?.tlsVersion = layer.version
      transaction?.tlsCipher = layer.cipher
      pump()
      perform(machine.handle(.secured))
      decrypt(layer)
    }
  }

  func receiveSecure(_ bytes: UnsafeRawBufferPointer) {
    guard let tls else { return }
    tls.feed(bytes)
    if machine.phase == .securing { return stepHandshake(tls) }
    decrypt(tls)
  }

  private func decrypt(_ layer: TLSLayer) {
    var outcome = TLSLayer.Input.waiting
    withUnsafeTemporaryAllocation(byteCount: 16 * 1024, alignment: 16) { piece in
      while true {
        outcome = layer.read(into: piece)
        guard case .bytes(let count) = outcome else { return }
        take(UnsafeRawBufferPointer(rebasing: piece[..<count]))
      }
    }
    // Answers of TLS itself (a new key).
    layer.drain(into: linkOutput)
    if linkOutput.count > 0 { pump() }
    perform(machine.handle(.received(available: inbox.count)))
    switch outcome {
    case .bytes, .waiting: break
    case .failure(let error): fail(error)
    case .ended: secureInputEnded()
    }
  }

  private func secureInputEnded() {
    guard tls != nil, !hasTLSEnded else { return }
    hasTLSEnded = true
    if machine.phase == .unsecuring { return leaveSecure() }
    perform(machine.handle(.inputEnded))
  }

  /// The connection has ended without the word that TLS has for it. Where our end is closed the other side need not
  /// answer any more; else somebody may have cut what it said.
  func endedInsideTLS() {
    if machine.phase == .securing {
      return fail(TaskError(.secureConnectionFailed, "the connection was closed in the middle of the TLS handshake"))
    }
    if tls?.isClosed == true { return secureInputEnded() }
    let message = "the connection was closed without the end of TLS: something may be missing"
    fail(tls?.lossError ?? TaskError(.networkConnectionLost, message))
  }

  func endSecure() {
    guard let tls else { return }
    phaseDeadline = MonotonicClock.now + requestTimeout
    tls.close()
    tls.drain(into: linkOutput)
    pump()
    if hasTLSEnded || hasLinkEnded { leaveSecure() }
  }

  /// Both ends of TLS are closed: what follows is plain.
  private func leaveSecure() {
    guard let layer = tls else { return }
    phaseDeadline = .infinity
    tls = nil
    let rest = Bytes()
    layer.takeRest(into: rest)
    take(rest.buffer)
    perform(machine.handle(.unsecured))
    perform(machine.handle(.received(available: inbox.count)))
    if hasLinkEnded { perform(machine.handle(.inputEnded)) }
  }
}
