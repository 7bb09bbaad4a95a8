import CCurlShim

/// The handle: taken for a request, given to libcurl, and taken back when the transfer is over.
extension Transfer {
  func attach() {
    guard let host else { return }
    anticipate()
    guard let easy = easy ?? takeKeptHandle() ?? session.takeHandle() else {
      return failAttach(TaskError(.unknown, "libcurl gives no handle", url: url))
    }
    self.easy = easy
    if let problem = giveURL(to: easy) ?? openSink() { return failAttach(problem) }
    resetForRequest()
    easy.transfer = .passUnretained(self)
    guard easy.configure(makeSetup(host)) else {
      return failAttach(TaskError(.cannotConnectToHost, "libcurl does not take the proxy's URL", url: url))
    }
    prepareCredentials(easy)
    transaction.fetchStart = WallClock.now
    lastActivity = core.now
    let lanes = session.lanes(for: service)
    let lane = host.takeLane(lanes.leastUsed)
    let multi = lanes.multi(lane)
    guard multi.add(easy) else {
      host.giveBack(lane: lane)
      return failAttach(TaskError(.unknown, "libcurl does not take the transfer", url: url))
    }
    self.lane = lane
    attachedTo = multi
    isAttached = true
  }

  private func failAttach(_ problem: TaskError) {
    if let host {
      giveUpTurn(at: host)
      startNext(host)
    }
    host = nil
    fail(problem)
  }

  func openSink() -> TaskError? {
    guard !isSinkOpen else { return nil }
    if case .download = options.destination { becomesDownload = true }
    if becomesDownload {
      switch downloadPlace {
      case .success(let place): sink.use(FileSink(temporaryIn: place))
      case .failure(let problem): return problem
      }
    }
    guard let file = sink.file else { return nil }
    isSinkOpen = true
    return file.open()
  }

  func resetForRequest() {
    intake.reset()
    if let easy { hs_head_clear(easy.head) }
    isRaw = false
    early = nil
    bodyMode = .hold
    received = 0
    sentOnWire = 0
    isSentCounted = false
    dropped = 0
    isVerdictDeferred = false
    isHeadHeld = false
    hasToldHead = false
    connectionTrust = nil
    requestsBegun = 0
    sawHeader = false
    expectsHead = true
    refusedRepeat = false
    endedEarly = false
    isWaitingForChunk = false
    isTunnelling = false
    isRepeating = false
    pauseMask = 0
    hasReleasedSendBuffer = false
    takenBytes = nil
    isStreamWide = false
    isWideningDue = false
    receiving?.isWaiting = false
    sending?.isWaiting = false
    progressReported = -1
    if lastTransaction === transaction { transaction = TransactionMetrics() }
  }

  /// Takes the handle from libcurl; the connection is free for others.
  func detach() {
    guard isAttached, let easy else { return }
    sentOnWire = bodyBytesOnWire
    isAttached = false
    takenBytes = nil
    attachedTo?.remove(easy)
    attachedTo = nil
    easy.transfer = nil
    guard let host, !hasLeftHost else { return }
    if intake.status != 0 { host.learn(httpVersion: intake.httpVersion) }
    host.giveBack(lane: lane)
    giveUpTurn(at: host)
  }

  /// libcurl is done with the transfer.
  func transferEnded(_ result: CURLcode) {
    guard isAttached, let easy else { return }
    // An attempt that only led to a question is none that metrics tell of.
    if connectionTrust?.question == nil { recordTransaction(easy) }
    if result == CURLE_OK { connectionTrust?.succeed() }
    let failure = result == CURLE_OK ? nil : makeError(result, easy)
    if failure != nil { forgetAlternative() }
    detach()
    if let stream {
      stream.linkFailed(failure ?? TaskError(.networkConnectionLost, "libcurl has closed the connection", url: url))
      return
    }
    let host = self.host
    if isEndHeld {
      heldEnd = HeldEnd(result: result, failure: failure)
    } else {
      takeEnd(HeldEnd(result: result, failure: failure))
    }
    if let host { startNext(host) }
  }

  /// Acts on how the transfer ended.
  func takeEnd(_ end: HeldEnd) {
    if isVerdictDeferred {
      // What a raw answer becomes has the end with it.
      if isRaw { heldEnd = end }
      judge()
      if isRaw {
        guard !isEndHeld, heldEnd != nil else { return }
        heldEnd = nil
      }
    }
    let isAnswered = takeTunnelChallenge()
    let result = isAnswered ? CURLE_OK : end.result
    advance(.ended(recorded(ending(result, end.failure), result)))
  }

  /// Gives up on the transfer; a stored response takes its place.
  func replaceTransfer() {
    guard let easy else { return }
    recordTransaction(easy)
    detach()
    let host = self.host
    advance(.ended(.replaced))
    if let host { startNext(host) }
  }

  /// The ending as the cache has it: what has come whole is stored, and what failed may be replaced.
  private func recorded(_ ending: TaskMachine.Ending, _ result: CURLcode) -> TaskMachine.Ending {
    guard caching != nil else { return ending }
    switch ending {
    case .success(let undelivered, let settles, _) where result == CURLE_OK:
      return .success(undelivered: undelivered, settles: settles, asksCache: bodyRecorded())
    case .failure where machine.state == .draining && result == CURLE_OK && !hasFailed: _ = bodyRecorded()
    case .failure where fallsBack(), .unconnected where fallsBack(): return .replaced
    case .success, .failure, .bodyLost, .challenged, .replaced, .unconnected, .incomplete, .interrupted: break
    }
    return ending
  }

  private func ending(_ result: CURLcode, _ failure: TaskError?) -> TaskMachine.Ending {
    if result == CURLE_OK, !intake.isHeadComplete, error == nil {
      let message = "the connection was closed in the middle of the response's head"
      error = TaskError(.networkConnectionLost, message, url: url)
    }
    if hasFailed || machine.state == .draining { return hasFailed && isWorthKeeping ? .interrupted : .failure }
    if connectionTrust?.question != nil, machine.state == .transferring { return .challenged }
    if result == CURLE_OK || isWhole(result) {
      switch machine.state {
      // Nothing has been given to the sink.
      case .askingRedirect, .askingChallenge: return .success(undelivered: false, settles: false)
      case .askingResponse where download != nil || early != nil:
        return .success(undelivered: false, settles: false)
      default: return successfulEnding()
      }
    }
    if result == CURLE_SEND_FAIL_REWIND {
      // Before any answer, it is the connection that died: what was sent may have been acted on.
      if sawHeader || isRepeating || RequestCheck.isIdempotent(request.method) { return .bodyLost }
      error = repeatRefused(CurlErrors.underlying(result, text: ""))
      return .failure
    }
    if isUnconnected(result, failure) { return .unconnected }
    error = failure
    return isWorthKeeping ? .interrupted : .failure
  }

  /// There is no network to make the request over, and the session's tasks wait for one.
  private func isUnconnected(_ result: CURLcode, _ failure: TaskError?) -> Bool {
    guard session.configuration.waitsForConnectivity, requestsBegun == 0, let failure else { return false }
    return CurlErrors.isForWantOfNetwork(failure.code, result, systemError: lastSystemError)
  }

  /// The transfer waits for a network, with nothing of libcurl's.
  func awaitNetwork() {
    guard core.waitForNetwork(self) else {
      return fail(TaskError(.notConnectedToInternet, "there is no network", url: url))
    }
    if hasToldWait { return }
    hasToldWait = true
    core.outbox.append(.waitingForConnectivity(id))
  }

  func successfulEnding() -> TaskMachine.Ending {
    if let ending = downloadEnding() { return ending }
    if sink.isMemory || sink.file != nil || sink.isDelivered, let problem = sink.finish() {
      error = problem
      return .failure
    }
    if let problem = checksProblem {
      error = problem
      return .failure
    }
    let isConsumer = !sink.isMemory && sink.file == nil
    return .success(
      undelivered: isConsumer && !sink.isDelivered, settles: needsReading || sink.file?.needsSettling ?? false)
  }

  /// The response is complete although libcurl reports a failure: it could not send the rest of the request's body.
  private func isWhole(_ result: CURLcode) -> Bool {
    guard intake.isHeadComplete, !intake.isInterim, machine.state != .draining else { return false }
    if endedEarly { return true }
    return result == CURLE_SEND_ERROR && isResponseWhole
  }

  /// All bytes the head promised are there.
  var isResponseWhole: Bool {
    intake.contentLength >= 0 && received >= intake.contentLength
  }

  private func repeatRefused(_ underlying: TaskError.Underlying) -> TaskError {
    TaskError(
      .networkConnectionLost,
      "the connection was lost before a response came, and \(request.method) may not be repeated", url: url,
      underlying: underlying)
  }

  private func makeError(_ result: CURLcode, _ easy: EasyHandle) -> TaskError {
    // Of a proxy that is none libcurl shows all.
    let text = MaskedURL.masking(easy.errorText)
    let underlying = CurlErrors.underlying(result, text: text)
    if refusedRepeat { return repeatRefused(underlying) }
    if var error = connectionError(result, text) {
      error.url = url
      error.underlying = underlying
      return error
    }
    if CurlErrors.isUserTooLong(text) {
      let message = "the user is too long for NTLM: \(text)"
      return TaskError(.userAuthenticationRequired, message, url: url, underlying: underlying)
    }
    // What libcurl says of a line that is longer than it takes.
    if result == CURLE_OUT_OF_MEMORY, requestsBegun > 0, !intake.isHeadComplete {
      return TaskError(
        .badServerResponse, "a line of the response's head is too long", url: url, underlying: underlying)
    }
    lastSystemError = easy.long(CURLINFO_OS_ERRNO)
    // Of servers' certificates the verdict is our own; what is left is the proxy's.
    let isProxys = result == CURLE_PEER_FAILED_VERIFICATION && host?.proxy.isSecure == true
    let verifyResult = easy.long(isProxys ? CURLINFO_PROXY_SSL_VERIFYRESULT : CURLINFO_SSL_VERIFYRESULT)
    let code = CurlErrors.code(
      for: result, verifyResult: verifyResult, text: text, systemError: lastSystemError,
      proxyError: easy.long(CURLINFO_PROXY_ERROR))
    let message = isProxys ? "the proxy's certificate is not trusted: \(underlying.message)" : underlying.message
    return TaskError(code, message, url: url, underlying: underlying)
  }
}
