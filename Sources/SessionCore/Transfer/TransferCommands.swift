/// The port's commands for one task.
extension Transfer {
  func suspend() {
    guard !isSuspended, !machine.isComplete else { return }
    isSuspended = true
    suspendedAt = core.now
    updatePause()
    updateClock()
  }

  func resume() {
    guard isSuspended, !machine.isComplete else { return }
    isSuspended = false
    resourceDeadline += max(0, core.now - suspendedAt)
    if machine.state == .queued {
      if !isEnqueued { enqueue() } else if let host { startNext(host) }
    }
    if isHeadHeld, isAttached { judge() }
    if sink.wantsDelivery { queueFlush() }
    if !isEndHeld, let end = heldEnd {
      heldEnd = nil
      takeEnd(end)
    }
    updatePause()
    updateClock()
  }

  func setPriority(_ new: Double) {
    guard new != priority else { return }
    priority = new
    if isEnqueued { host?.reorder() }
    if isAttached { easy?.setStreamWeight(RequestSetup.weight(priority: new)) }
  }

  func receive(_ answer: Answer) {
    takeTurnBack()
    switch answer {
    case .redirect(let answer): receiveRedirectAnswer(answer)
    case .response(let disposition): receiveDisposition(disposition)
    case .challenge(let answer): receiveChallengeAnswer(answer)
    case .dataConsumed: dataConsumed()
    case .bodyChunk(let bytes): receiveChunk(bytes)
    case .bodyFailed(let error):
      if isWaitingForChunk { fail(error) }
    case .newBody(let body): receiveNewBody(body)
    case .cache(let answer): receiveCacheAnswer(answer)
    case .loader(let loader): receiveLoader(loader)
    case .load(let step): receiveLoadStep(step)
    }
  }

  private func receiveDisposition(_ disposition: ResponseDisposition) {
    switch disposition {
    case .allow: advance(.responseAnswered(allow: true))
    case .cancel: advance(.responseAnswered(allow: false))
    case .becomeStream: advance(.responseBecomesStream)
    case .becomeDownload:
      guard case .askingResponse = machine.state else { return }
      becomesDownload = true
      // A consumer is told with each piece how far it is; now it gets none.
      options.interest.insert(.progress)
      sink.becomeDownload()
      if let problem = openSink() { return fail(problem) }
      advance(.responseAnswered(allow: true))
    }
  }

  private func receiveChunk(_ bytes: Bytes?) {
    guard isWaitingForChunk else { return }
    isWaitingForChunk = false
    source?.give(bytes)
    updatePause()
    updateClock()
  }

  private func dataConsumed() {
    if case .failure(let problem) = sink.pieceConsumed() { return fail(problem) }
    if sink.wantsDelivery { queueFlush() }
    if machine.state == .delivering, sink.isDelivered {
      if let problem = sink.finish() { return fail(problem) }
      return advance(.consumed)
    }
    updatePause()
    updateClock()
  }
}
