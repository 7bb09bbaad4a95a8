import CCurlShim

/// The handle: taken for a request, given to libcurl, and taken back when the transfer is over.
extension Transfer {
  func attach() {
    guard let host else { return }
    guard let easy = easy ?? session.takeHandle() else {
      return failAttach(TaskError(.unknown, "libcurl gives no handle", url: url))
    }
    self.easy = easy
    if let problem = giveURL(to: easy) ?? openSink() { return failAttach(problem) }
    resetForRequest()
    easy.transfer = .passUnretained(self)
    easy.configure(makeSetup(host))
    prepareCredentials(easy)
    transaction.fetchStart = WallClock.now
    lastActivity = core.now
    let lane = host.takeLane(session.lanes.leastUsed)
    let multi = session.lanes.multi(lane)
    guard multi.add(easy) else {
      host.giveBack(lane: lane)
      return failAttach(TaskError(.unknown, "libcurl does not take the transfer", url: url))
    }
    self.lane = lane
    attachedTo = multi
    isAttached = true
  }

  private func failAttach(_ problem: TaskError) {
    host?.release()
    if let host { startNext(host) }
    host = nil
    fail(problem)
  }

  func openSink() -> TaskError? {
    guard !isSinkOpen else { return nil }
    if case .download = options.destination {
      switch core.downloadDirectory(in: session.configuration.sharedContainer) {
      case .success(let directory): sink.use(FileSink(temporaryIn: directory))
      case .failure(let problem): return problem
      }
    }
    guard let file = sink.file else { return nil }
    isSinkOpen = true
    return file.open()
  }

  func resetForRequest() {
    intake.reset()
    bodyMode = .hold
    received = 0
    sentOnWire = 0
    dropped = 0
    isVerdictDeferred = false
    requestsBegun = 0
    sawHeader = false
    expectsHead = true
    refusedRepeat = false
    endedEarly = false
    isWaitingForChunk = false
    pauseMask = 0
    receiving?.isWaiting = false
    sending?.isWaiting = false
    progressReported = -1
    if transactions.last === transaction { transaction = TransactionMetrics() }
  }

  /// Takes the handle from libcurl; the connection is free for others.
  func detach() {
    guard isAttached, let easy else { return }
    sentOnWire = bodyBytesOnWire
    isAttached = false
    attachedTo?.remove(easy)
    attachedTo = nil
    easy.transfer = nil
    guard let host else { return }
    if intake.status != 0 { host.learn(httpVersion: intake.httpVersion) }
    host.giveBack(lane: lane)
    host.release()
  }

  /// libcurl is done with the transfer.
  func transferEnded(_ result: CURLcode) {
    guard isAttached, let easy else { return }
    recordTransaction(easy)
    let failure = result == CURLE_OK ? nil : makeError(result, easy)
    detach()
    let host = self.host
    if isVerdictDeferred { judge() }
    advance(.ended(ending(result, failure)))
    if let host { startNext(host) }
  }

  private func ending(_ result: CURLcode, _ failure: TaskError?) -> TaskMachine.Ending {
    if result == CURLE_OK, !intake.isHeadComplete, error == nil {
      let message = "the connection was closed in the middle of the response's head"
      error = TaskError(.networkConnectionLost, message, url: url)
    }
    if hasFailed || machine.state == .draining { return hasFailed && isWorthKeeping ? .interrupted : .failure }
    if result == CURLE_OK || isWhole(result) {
      switch machine.state {
      // Nothing has been given to the sink.
      case .askingRedirect, .askingChallenge: return .success(undelivered: false, settles: false)
      default: return successfulEnding()
      }
    }
    if result == CURLE_SEND_FAIL_REWIND { return .bodyLost }
    error = failure
    return isWorthKeeping ? .interrupted : .failure
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
      undelivered: isConsumer && !sink.isDelivered, settles: needsReading || sink.file?.needsSync ?? false)
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

  private func makeError(_ result: CURLcode, _ easy: EasyHandle) -> TaskError {
    let text = easy.errorText
    let underlying = CurlErrors.underlying(result, text: text)
    if refusedRepeat {
      return TaskError(
        .networkConnectionLost,
        "the connection was lost before a response came, and \(request.method) may not be repeated", url: url,
        underlying: underlying)
    }
    let code = CurlErrors.code(
      for: result, verifyResult: easy.long(CURLINFO_SSL_VERIFYRESULT), text: text,
      systemError: easy.long(CURLINFO_OS_ERRNO))
    return TaskError(code, underlying.message, url: url, underlying: underlying)
  }
}
