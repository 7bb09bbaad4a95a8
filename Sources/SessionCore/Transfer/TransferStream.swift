import CCurlShim

/// Transfers whose connection becomes a stream: after 101, and after what CONNECT and its like are answered with.
///
/// libcurl keeps the handle and the connection, paused in both directions so that it never touches the socket; the
/// stream reads and writes the socket itself, through libcurl's TLS session where there is one. When the stream has
/// ended, libcurl closes what it has opened.
///
/// Where the transfer has ended before the stream begins, the stream has what has come, and then that end.
extension Transfer {
  static func handshake(_ request: WebSocketRequest) -> WebSocketHandshake {
    WebSocketHandshake(protocols: request.protocols, nonce: (0..<16).map { _ in UInt8.random(in: 0...255) })
  }

  /// The connection may be wanted as a stream: it must not be shared, and a proxy must not look at what is said.
  var asksForStream: Bool {
    if webSocketHandshake != nil { return true }
    if request.method == "CONNECT" { return true }
    return !request.headers.isEmpty && request.headers.contains { HeaderText.equalNames($0.name, "upgrade") }
  }

  /// What follows the head is not a message's body: bytes without an end of their own.
  func isAnswerRaw() -> Bool {
    if intake.httpVersion == "2" || intake.httpVersion == "3" { return false }
    if intake.status == 101 { return true }
    return asksForStream && (200..<300).contains(intake.status) && intake.status != 204 && intake.contentLength < 0
      && !intake.isChunked && !hasNoBody
  }

  /// Keeps what came with the head of a raw answer until somebody says what is to be done with it.
  func stash(_ bytes: UnsafeRawBufferPointer) -> Int {
    guard keep(early: bytes) else { return 0 }
    queueFlush()
    return bytes.count
  }

  /// The head's verdict for a WebSocket. The task fails when it opens none.
  func webSocketVerdict(_ webSocket: WebSocketHandshake) -> TaskMachine.Verdict {
    guard intake.status == 101 else {
      error = TaskError(.badServerResponse, "the server opens no WebSocket: it answers \(intake.status)", url: url)
      return .final
    }
    switch webSocket.check(intake.block) {
    case .success(let agreement):
      self.agreement = agreement
      return .stream
    case .failure(let problem):
      error = problem
      return .final
    }
  }

  /// The machine wants the stream. libcurl may be on the stack; then it begins at the end of the turn.
  func becomeStream() {
    isTakeOverDue = true
    if core.isInsideLibcurl { return queueFlush() }
    // Where the transfer ends in here, that is kept for the stream.
    if isRaw { updatePause() }
    isTakeOverDue = false
    let end = heldEnd
    heldEnd = nil
    guard isRaw, let easy, isAttached || end != nil else {
      let message = "the response cannot become a stream: it is no 101, and its body has an end of its own"
      return fail(TaskError(.badServerResponse, message, url: url))
    }
    let hasSecureProxy = host?.proxy.isSecure == true
    let isSecure = URLParts.leadingScheme(request.url)?.lowercased() == "https"
    if hasSecureProxy, isSecure {
      let message = "no stream goes through TLS with the server inside of TLS with a proxy"
      return fail(TaskError(.badServerResponse, message, url: url))
    }
    if let end {
      guard let stream = makeStream() else { return }
      stream.begin(early ?? Bytes(), endedBy: end.failure)
      webSocket?.begin()
      return
    }
    guard let descriptor = core.poller.descriptor(of: easy.curl) else {
      return fail(TaskError(.networkConnectionLost, "the connection was closed", url: url))
    }
    leaveHost()
    guard let stream = makeStream() else { return }
    let layer = hs_easy_get_ssl(easy.curl).flatMap { TLSLayer(adopting: OpaquePointer($0)) }
    stream.begin(
      on: descriptor, tls: hasSecureProxy ? nil : layer, proxyTLS: hasSecureProxy ? layer : nil,
      early ?? Bytes())
    webSocket?.begin()
  }

  /// The stream, and what uses it; nil where that cannot be had.
  private func makeStream() -> StreamTask? {
    let stream = StreamTask(transfer: self)
    self.stream = stream
    core.adopt(stream)
    return beginWebSocket(on: stream) ? stream : nil
  }

  private func beginWebSocket(on stream: StreamTask) -> Bool {
    guard let agreement else { return true }
    guard
      let webSocket = WebSocketTask(
        id: id, stream: stream, maximum: options.webSocketRequest?.maximumMessage ?? 0,
        compression: agreement.compression)
    else {
      fail(TaskError(.resourceUnavailable, "WebSockets need libwslay, which cannot be loaded", url: url))
      return false
    }
    self.webSocket = webSocket
    stream.consumer = webSocket
    core.outbox.append(.webSocket(id, .opened(subprotocol: agreement.subprotocol, currentHead())))
    return true
  }

  /// The connection is not the host's any more: others may have its place.
  private func leaveHost() {
    guard let host, !hasLeftHost else { return }
    hasLeftHost = true
    giveUpTurn(at: host)
    startNext(host)
  }

  /// The stream is over, and so is the task.
  func streamEnded(_ failure: TaskError?) {
    if let failure, error == nil { error = failure }
    advance(.streamEnded(success: failure == nil))
  }
}
