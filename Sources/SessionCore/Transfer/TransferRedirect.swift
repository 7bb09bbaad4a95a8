/// Requests that follow a response: redirects, and the same request again.
extension Transfer {
  /// What a redirect's head means, or nil when it is none that is followed.
  func redirectVerdict() -> TaskMachine.Verdict? {
    guard RedirectRules.isRedirect(intake.status), intake.hasLocation, let limit = options.redirectLimit else {
      return nil
    }
    switch evaluateRedirect() {
    case .response: return nil
    case .failure(let problem):
      error = problem
      return .final
    case .follow(let next, let keepsBody, let crossesOrigin):
      guard redirects.count < limit else {
        error = TaskError(.httpTooManyRedirects, "more than \(limit) redirects", url: url)
        return .final
      }
      followUp = FollowUp(
        request: next, keepsBody: keepsBody, crossesOrigin: crossesOrigin, status: intake.status)
      if options.interest.contains(.redirect) { return .redirectAsking }
      return .redirect(needsBody: keepsBody && !canReplayBody)
    }
  }

  private func evaluateRedirect() -> RedirectRules.Outcome {
    var outcome = RedirectRules.Outcome.response
    var isFirst = true
    HeaderText.forEachLine(intake.block.buffer) { line in
      guard isFirst, let location = HeaderText.value(of: "location", in: line) else { return }
      isFirst = false
      outcome = RedirectRules.evaluate(
        request, url: url, status: intake.status, location: location,
        allowsAnyScheme: session.configuration.asksForLoaders)
    }
    return outcome
  }

  var canReplayBody: Bool { source?.canReplay ?? true }

  /// Whether the body must be had anew for a request.
  func needsBody(_ next: FollowUp) -> Bool {
    guard next.keepsBody else { return false }
    if case .stream = next.request.body, source?.isOnce != true { return true }
    return !canReplayBody
  }

  func askRedirect() {
    guard let followUp else { return }
    core.outbox.append(.willRedirect(id, currentHead(), proposed: followUp.request))
  }

  /// The handler's word on a redirect.
  func receiveRedirectAnswer(_ answer: RedirectAnswer) {
    guard case .askingRedirect = machine.state, var next = followUp else { return }
    switch answer {
    case .refuse:
      followUp = nil
      return advance(.redirectAnswered(.refuse(asks: options.interest.contains(.response))))
    case .followProposed: break
    case .follow(let changed):
      next = makeFollowUp(changed, proposed: next)
      followUp = next
    }
    advance(.redirectAnswered(.follow(needsBody: needsBody(next))))
  }

  /// Whether a request goes to another origin than the current one, or to what has none.
  func crossesOrigin(to next: Request) -> Bool {
    guard case .success(let from) = URLParts.parse(url), case .success(let to) = URLParts.parse(next.url) else {
      return true
    }
    return !RedirectRules.sameOrigin(from, to)
  }

  /// A handler's own request: judged by where it goes, and with its own body unless that is the old reader or a stream.
  func makeFollowUp(_ changed: Request, proposed: FollowUp) -> FollowUp {
    var result = proposed
    result.crossesOrigin = crossesOrigin(to: changed)
    result.request = RedirectRules.guarded(changed, previous: request, crossesOrigin: result.crossesOrigin)
    switch (changed.body, request.body) {
    case (.reader, .reader), (.stream, _): result.keepsBody = true
    default: result.keepsBody = false
    }
    return result
  }

  /// Makes the request that has been decided on: the next hop, or the same one again.
  func makeFollowUp() {
    countSent()
    sentReported = 0
    isLoaderChosen = false
    guard let next = followUp else {
      hasFreshBody = false
      guard source?.rewind() ?? true else { return fail(bodyLostError) }
      return enqueue()
    }
    followUp = nil
    if next.isRedirect {
      let target = MaskedURL.withoutCredentials(next.request.url)
      redirects.append(RedirectHop(status: next.status, from: url, to: target))
    }
    originCredentials = next.crossesOrigin ? nil : urlCredentials
    if next.crossesOrigin {
      hasLeftOrigin = true
      authentication = .none
      easy?.clearCredentials()
      auth?.leaveOrigin()
    } else if next.isRedirect {
      auth?.leavePlace()
    }
    takeBody(next)
  }

  private func takeBody(_ next: FollowUp) {
    let body = request.body
    request = next.request
    if next.keepsBody {
      if hasFreshBody { hasFreshBody = false } else { request.body = body }
      guard source?.rewind() ?? true else { return fail(bodyLostError) }
      return checkAndEnqueue()
    }
    switch BodySource.open(request.body) {
    case .failure(let problem): fail(problem)
    case .success(let opened):
      source = opened
      checkAndEnqueue()
    }
  }

  /// A handler may have put anything into the request.
  private func checkAndEnqueue() {
    if let problem = checkRequest() { return fail(problem) }
    enqueue()
  }

  /// Adds what has been sent of the present request to the task's count, once.
  private func countSent() {
    guard !isSentCounted else { return }
    sentBefore += bodyBytesOnWire
    isSentCounted = true
  }

  private var bodyLostError: TaskError {
    TaskError(.requestBodyStreamExhausted, "the request body cannot be sent again", url: url)
  }

  // MARK: A new body

  func askBody() {
    if options.interest.contains(.newBody) {
      core.outbox.append(.needsBodyStream(id))
    } else {
      advance(.newBody(available: false))
    }
  }

  /// The handler's answer.
  func receiveNewBody(_ body: RequestBody?) {
    guard machine.state == .askingBody else { return }
    guard let body else { return advance(.newBody(available: false)) }
    switch BodySource.open(body, isOnce: true) {
    case .failure(let problem): fail(problem)
    case .success(let opened):
      countSent()
      source = opened
      request.body = body
      hasFreshBody = true
      followUp?.request.body = body
      advance(.newBody(available: true))
    }
  }
}
