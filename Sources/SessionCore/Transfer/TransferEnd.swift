import CCurlShim

/// The end of a task: its completion, and its file.
extension Transfer {
  func complete(_ success: Bool) {
    complete(with: success ? nil : error ?? TaskError(.unknown, "the transfer failed", url: url))
  }

  func complete(with failure: TaskError?) {
    // Before libcurl closes the connection.
    stream?.transferEnded(failure)
    let host = isAttached ? self.host : nil
    letGoOfHandle(keepsNonce: failure == nil)
    if let checkpoints = download?.checkpoints { noteProgress(checkpoints, isLast: true) }
    if failure != nil { sink.file?.discard() }
    reportFinalProgress()
    if failure == nil, let file = sink.file, file.isTemporary {
      core.outbox.append(.finishedDownloading(id, location: file.release()))
    }
    if let failure, failure.code != .cancelled, let rest = sink.takeRest() { tell(piece: rest) }
    var failure = failure
    if failure?.url == nil { failure?.url = url }
    core.complete(self, makeCompletion(failure))
    endQuestion()
    source = nil
    webSocket = nil
    if let host { startNext(host) }
  }

  /// Nothing more is to be had of libcurl, or of the load in its place.
  func letGoOfHandle(keepsNonce: Bool = false) {
    if isAttached, let easy { recordTransaction(easy) }
    if load != nil { recordLoad() }
    load = nil
    caching = nil
    heldEnd = nil
    detach()
    if let easy { session.giveBack(easy, nonce: keepsNonce ? nonceKey : nil) }
    easy = nil
  }

  private func makeCompletion(_ failure: TaskError?) -> Completion {
    var metrics = TaskMetrics()
    metrics.start = startDate
    metrics.duration = MonotonicClock.now - startTime
    metrics.last = lastTransaction
    let hasHead = intake.isHeadComplete && !intake.isInterim
    if let stream {
      return Completion(
        response: hasHead ? intake.head(url: url) : nil, error: failure, redirects: redirects, metrics: metrics,
        bytesSent: stream.totalWritten, bytesReceived: stream.totalRead)
    }
    let completion = Completion(
      response: hasHead ? intake.head(url: url) : nil,
      body: failure == nil ? completionBody : nil, error: failure, redirects: redirects,
      metrics: metrics, bytesSent: sentBefore + bodyBytesOnWire, bytesReceived: progressCounts.received,
      bytesExpectedToSend: source?.length ?? 0,
      bytesExpectedToReceive: hasHead ? progressCounts.expected : -1)
    completion.isResponseKnown = hasHead && hasToldHead
    return completion
  }

  private var completionBody: Bytes? {
    if sink.isMemory { return sink.collected }
    guard let download, download.isWindow, let digester = download.digester else { return nil }
    return Bytes(Hexadecimal.encode(digester.value))
  }

  /// Lets go of everything without a word; the core itself is going.
  func abandon() {
    stream?.abandon()
    if isAttached, let easy { attachedTo?.remove(easy) }
    isAttached = false
    load = nil
    easy?.transfer = nil
    easy = nil
    if let checkpoints = download?.checkpoints { noteProgress(checkpoints, isLast: true) }
    sink.file?.discard()
  }

  // MARK: Files

  func settleFile() {
    guard let file = sink.file else { return }
    if needsReading { return readFile() }
    core.helpers.submit(HelperThreads.Job(task: id.rawValue, work: file.syncWork))
  }

  /// A helper thread is done with the file.
  func fileSettled(_ job: HelperThreads.Job) {
    switch machine.state {
    case .inspecting: return fileInspected(job)
    case .keeping: return fileKept(job)
    default: break
    }
    guard machine.state == .settling, let file = sink.file else { return }
    if case .read = job.work {
      error = problemOfFile(job)
      if error == nil, file.needsSettling {
        return core.helpers.submit(HelperThreads.Job(task: id.rawValue, work: file.syncWork))
      }
      return advance(.settled(success: error == nil))
    }
    if job.result != 0 {
      error = FileErrors.writing(file.path, job.result)
      return advance(.settled(success: false))
    }
    if case .sync = job.work {
      if let problem = file.commit() {
        error = problem
        return advance(.settled(success: false))
      }
      if file.isWindow { return advance(.settled(success: true)) }
      core.helpers.submit(HelperThreads.Job(task: id.rawValue, work: .syncDirectory(path: file.path)))
    } else {
      advance(.settled(success: true))
    }
  }
}
