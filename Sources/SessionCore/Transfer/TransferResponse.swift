import CCurlShim

/// What comes in: heads, bodies, and what is to be done about them.
extension Transfer {
  /// The most of a body that is dropped to keep a connection; a larger one costs more than a new connection.
  private static let drainLimit = 64 * 1024
  /// The most of a response that is taken while a handler is asked about it.
  private static let holdLimit = 16 * 1024

  func askResponse() {
    hasToldHead = true
    core.outbox.append(.response(id, currentHead()))
  }

  func currentHead() -> ResponseHead { intake.head(url: url) }

  /// libcurl delivers a line of a head that is more than a field to be collected. Returns what has been taken of it.
  func receiveHeaderLine(_ line: UnsafeRawBufferPointer) -> Int {
    if isTunnelling { return receiveTunnelLine(line) }
    touch()
    sawHeader = true
    takeCollectedFields()
    let isEnd = if case .endOfHead = intake.receive(line) { true } else { false }
    easy?.head.pointee.collects = intake.isWithinHead
    if isEnd { headEnded() }
    return !hasFailed && !dropsConnection ? line.count : 0
  }

  private func takeCollectedFields() {
    guard let head = easy?.head, head.pointee.count > 0 else { return }
    intake.receive(fields: UnsafeRawBufferPointer(start: head.pointee.fields, count: head.pointee.count))
    hs_head_clear(head)
  }

  private func headEnded() {
    if let host, host.isUndecided { learn(host) }
    if intake.isInterim {
      if intake.status != 100, options.interest.contains(.informational) {
        core.outbox.append(.informational(id, currentHead()))
      }
      return
    }
    expectsHead = false
    isRaw = intake.status == 101 || !request.headers.isEmpty && isAnswerRaw()
    if intake.hasSetCookie { takeCookies() }
    if intake.hasTransportSecurity { learnTransportSecurity() }
    if intake.hasAlternativeService { learnAlternatives() }
    if options.interest.contains(.sentBodyData), source != nil { queueFlush() }
    // With credentials in its hands, libcurl may answer by itself.
    let mayBeAnswered = auth != nil && mayAnswerItself
    isVerdictDeferred = mayBeAnswered || isSuspended
    isHeadHeld = isSuspended && !mayBeAnswered
    if !isVerdictDeferred { judge() }
  }

  /// The first response from a host tells how many requests it can be sent at once.
  private func learn(_ host: Host) {
    host.learn(httpVersion: intake.httpVersion)
    guard host.speaksHTTP2 else { return }
    mayStartOthers = true
    queueFlush()
  }

  /// Decides what the head means and tells the machine.
  func judge() {
    isVerdictDeferred = false
    isHeadHeld = false
    advance(.head(verdict()))
  }

  private func verdict() -> TaskMachine.Verdict {
    if let verdict = authVerdict() { return verdict }
    if intake.status == 417, usesExpectation {
      expectation = .never
      return .again(needsBody: !canReplayBody)
    }
    if let caching, let verdict = cacheVerdict(caching) { return verdict }
    if let verdict = redirectVerdict() ?? downloadVerdict() { return verdict }
    if let webSocketHandshake { return webSocketVerdict(webSocketHandshake) }
    return options.interest.contains(.response) ? .finalAsking : .final
  }

  /// What credentials have to do with it.
  private func authVerdict() -> TaskMachine.Verdict? {
    if let auth {
      noteAccepted()
      let wasProbing = auth.isProbing
      auth.isProbing = false
      if wasProbing, (200..<300).contains(intake.status) { return .again(needsBody: false) }
    }
    return intake.status == 401 || intake.status == 407 && isProxysAnswer ? challengeVerdict() : nil
  }

  /// Whether a 407 is a proxy's: of an origin's, nobody could answer the question. In a tunnel, the origin speaks.
  private var isProxysAnswer: Bool {
    guard let host, host.proxy.speaksHTTP else { return false }
    return !host.hasTunnel || auth?.isTunnelRefused == true
  }

  /// A body that is not needed any more, and too large to be read for the connection's sake. An expectation that was
  /// not met leaves the connection in doubt as well.
  private var dropsConnection: Bool {
    guard bodyMode == .drop, caching?.isCompletion != true else { return false }
    return intake.status == 417 || max(dropped, intake.contentLength) > Self.drainLimit
  }

  /// The response is the answer to the task.
  func receiveResponse() {
    bodyMode = .deliver
    if !(200..<300).contains(intake.status) { sink.refuseFile() }
    if options.collectedStatuses.contains(intake.status) { sink.collect() }
    let encodings =
      options.decompress && intake.hasContentEncoding ? HeaderText.values(of: "content-encoding", in: intake.block) : []
    let expected = hasNoBody ? 0 : intake.contentLength
    let unfit = download.map(prepareFile) ?? (sink.file == nil ? nil : unaskedPart)
    if let problem = unfit ?? sink.begin(contentEncodings: encodings, expectedLength: expected) {
      error = problem
      if !isAttached { return fail(problem) }
    }
    beginChecks()
    if let held = early {
      let count = deliver(held.buffer)
      early = nil
      if count == 0, hasFailed, let error { return fail(error) }
    }
    // Before libcurl might be let go on: it would read once more at least.
    if !core.isInsideLibcurl { holdBack() }
    updatePause()
    if !isSuspended, let end = heldEnd {
      heldEnd = nil
      takeEnd(end)
    }
  }

  /// The same where the transfer is over, and had no body but what is here.
  func receiveNothing() {
    receiveResponse()
    guard !machine.isComplete else { return }
    advance(.ended(successfulEnding()))
  }

  var hasNoBody: Bool {
    intake.status == 204 || intake.status == 304 || HeaderText.equalNames(request.method, "HEAD")
  }

  /// libcurl delivers a piece of the body. Returns what has been taken, or that the transfer must pause.
  func receiveBody(_ bytes: UnsafeRawBufferPointer) -> Int {
    // Lines of heads come here too.
    if isTunnelling { return bytes.count }
    if expectsHead { return acceptHeadLine(bytes) }
    touch()
    if isRaw, bodyMode == .hold, !hasFailed { return stash(bytes) }
    if isSuspended { return pauseReceiving() }
    if isVerdictDeferred { judge() }
    if hasFailed { return 0 }
    switch bodyMode {
    case .hold: return hold(bytes)
    case .drop:
      dropped += bytes.count
      caching?.record(bytes)
      return dropsConnection ? 0 : bytes.count
    case .ignore: return bytes.count
    case .deliver:
      if sink.refuses(bytes.count) {
        updateClock()
        return pauseReceiving()
      }
      if let throttled = waitsToReceive(bytes.count) { return throttled }
      return deliver(bytes)
    }
  }

  /// A short refusal is taken while a handler is asked for credentials: its connection is then free for what the handler
  /// itself may ask of the same host. Of a response that a handler is asked about, so much is taken that a short one need
  /// not be paused: most handlers answer before more has come.
  private func hold(_ bytes: UnsafeRawBufferPointer) -> Int {
    let limit = takesRefusal ? Self.drainLimit : takesResponse ? Self.holdLimit : 0
    let count = (early?.count ?? 0) + bytes.count
    guard count <= limit else { return pauseReceiving() }
    guard keep(early: bytes) else { return 0 }
    if !takesRefusal, count > Self.holdLimit / 2, pausesFromWithin {
      pauseFromWithin(taken: bytes)
      giveMemoryBack()
    }
    return bytes.count
  }

  /// False when there is no memory.
  func keep(early bytes: UnsafeRawBufferPointer) -> Bool {
    let block = early ?? Bytes()
    early = block
    return block.append(bytes)
  }

  private var takesResponse: Bool { machine.state == .askingResponse(transferEnded: false) && receiving == nil }

  /// The transfer is over, and what it brought waits for a handler's word or for the stream that it becomes: so does
  /// its end.
  var isEndHeld: Bool {
    if isSuspended { return true }
    if isRaw { return isTakeOverDue || machine.state == .askingResponse(transferEnded: false) }
    return takesResponse && early != nil
  }

  var takesRefusal: Bool {
    if case .askingChallenge = machine.state { return intake.contentLength <= Self.drainLimit }
    return false
  }

  /// A line of a head, before libcurl has stored it. libcurl 7.88 joins a folded line to the header stored last, which
  /// on a handle that has been used before can be one it has freed: a head that begins with such a line must not get
  /// that far.
  private func acceptHeadLine(_ line: UnsafeRawBufferPointer) -> Int {
    guard let first = line.first, first == 0x20 || first == 0x09 else { return line.count }
    takeCollectedFields()
    guard !intake.isInHead else { return line.count }
    error = TaskError(.cannotParseResponse, "the response's head begins with a folded line", url: url)
    return 0
  }

  func deliver(_ bytes: UnsafeRawBufferPointer) -> Int {
    var wanted = bytes
    if let download {
      guard let admitted = download.admit(bytes) else {
        error = TaskError(.badServerResponse, "the server sent more of the file than it said", url: url)
        return 0
      }
      wanted = admitted
    }
    switch sink.receive(wanted) {
    case .taken:
      download?.wrote(wanted)
      if let checkpoints = download?.checkpoints { noteProgress(checkpoints) }
      sink.checks?.take(transferred: bytes)
      received += bytes.count
      caching?.record(bytes)
      if sink.wantsDelivery || options.interest.contains(.progress) { queueFlush() }
      if !isStreamWide, received > StreamWindow.narrow / 2 { noteLongBody() }
      if sink.isConsumer, pausesFromWithin, sink.holdBack() { pauseFromWithin(taken: bytes) }
      return bytes.count
    case .full:
      updateClock()
      return pauseReceiving()
    case .failure(let problem):
      error = problem
      return 0
    }
  }

  // MARK: Events at the end of a turn

  func queueFlush() {
    guard !isFlushQueued else { return }
    isFlushQueued = true
    core.flushList.append(self)
  }

  func flush() {
    isFlushQueued = false
    guard !machine.isComplete else { return }
    if mayStartOthers {
      mayStartOthers = false
      if let host { startNext(host) }
    }
    if isTakeOverDue { return becomeStream() }
    if isRaw, bodyMode == .hold { updatePause() }
    if isWideningDue { widenStream() }
    reportSent()
    reportProgress()
    if isSuspended { return }
    if let piece = sink.takePiece() {
      tell(piece: piece)
      core.delivering.append(self)
      updatePause()
      updateClock()
    }
  }

  func tell(piece: Bytes) {
    let counts = progressCounts
    core.outbox.append(.data(id, piece, received: counts.received, expected: counts.expected))
  }

  private func reportSent() {
    guard options.interest.contains(.sentBodyData), let source else { return }
    let sent = bodyBytesOnWire
    guard sent > sentReported else { return }
    let step = sent - sentReported
    sentReported = sent
    core.outbox.append(.sentBodyData(id, sent: step, total: sentReported, expected: source.length))
  }

  private func reportProgress() {
    guard options.interest.contains(.progress), bodyMode == .deliver, received != progressReported else { return }
    progressReported = received
    let counts = progressCounts
    core.outbox.append(.progress(id, received: counts.received, expected: counts.expected))
  }

  /// What has not been told when the task ends.
  func reportFinalProgress() {
    reportSent()
    reportProgress()
  }
}
