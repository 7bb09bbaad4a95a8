import CCurlShim

/// The end of a task: its completion, and its file.
extension Transfer {
  func complete(_ success: Bool) {
    complete(with: success ? nil : error ?? TaskError(.unknown, "the transfer failed", url: url))
  }

  func complete(with failure: TaskError?) {
    // Before libcurl closes the connection.
    stream?.transferEnded(failure)
    if isAttached, let easy { recordTransaction(easy) }
    if load != nil { recordLoad() }
    load = nil
    caching = nil
    heldEnd = nil
    let host = self.host
    let wasAttached = isAttached
    detach()
    if let easy { session.giveBack(easy, nonce: failure == nil ? nonceKey : nil) }
    easy = nil
    if failure != nil { sink.file?.discard() }
    reportFinalProgress()
    if failure == nil, let file = sink.file, file.isTemporary {
      core.outbox.append(.finishedDownloading(id, location: file.release()))
    }
    if let failure, failure.code != .cancelled, let rest = sink.takeRest() { core.outbox.append(.data(id, rest)) }
    var failure = failure
    if failure?.url == nil { failure?.url = url }
    core.complete(self, makeCompletion(failure))
    source = nil
    webSocket = nil
    if wasAttached, let host { startNext(host) }
  }

  private func makeCompletion(_ failure: TaskError?) -> Completion {
    var metrics = TaskMetrics()
    metrics.start = startDate
    metrics.duration = MonotonicClock.now - startTime
    metrics.transactions = transactions
    let hasHead = intake.isHeadComplete && !intake.isInterim
    if let stream {
      return Completion(
        response: hasHead ? intake.head(url: url) : nil, error: failure, redirects: redirects, metrics: metrics,
        bytesSent: stream.totalWritten, bytesReceived: stream.totalRead)
    }
    return Completion(
      response: hasHead ? intake.head(url: url) : nil,
      body: sink.isMemory && failure == nil ? sink.collected : nil, error: failure, redirects: redirects,
      metrics: metrics, bytesSent: sentBefore + bodyBytesOnWire, bytesReceived: received,
      bytesExpectedToSend: source?.length ?? 0,
      bytesExpectedToReceive: hasHead ? intake.contentLength : -1)
  }

  /// Lets go of everything without a word; the core itself is going.
  func abandon() {
    stream?.abandon()
    if isAttached, let easy { attachedTo?.remove(easy) }
    isAttached = false
    load = nil
    easy?.transfer = nil
    easy = nil
    sink.file?.discard()
  }

  // MARK: Files

  func settleFile() {
    guard let file = sink.file else { return }
    core.helpers.submit(HelperThreads.Job(task: id.rawValue, work: file.syncWork))
  }

  /// A helper thread is done with the file.
  func fileSettled(_ job: HelperThreads.Job) {
    guard machine.state == .settling, let file = sink.file else { return }
    if job.result != 0 {
      error = FileErrors.writing(file.path, job.result)
      return advance(.settled(success: false))
    }
    if case .sync = job.work {
      if let problem = file.commit() {
        error = problem
        return advance(.settled(success: false))
      }
      core.helpers.submit(HelperThreads.Job(task: id.rawValue, work: .syncDirectory(path: file.path)))
    } else {
      advance(.settled(success: true))
    }
  }
}
