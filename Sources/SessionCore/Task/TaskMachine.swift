/// The life of a task, without any I/O: events in, one action out.
///
/// The driver (`TransferDriver`) tells it what libcurl, the clock and the handlers did, and carries out what it
/// answers. Nothing here knows of sockets, so every order of events can be tried in a test. An event that has no
/// meaning in a state (a late answer, a second cancel) gives `.none`.
struct TaskMachine {
  enum State: Equatable {
    /// Waits for a turn at its host. turnGranted → transferring · bodyMissing → askingBody ·
    /// loaderWanted → askingLoader · inspectionWanted → inspecting · failed → completed
    case queued
    /// A helper thread reads what an earlier task left, to see whether it is what it was. inspected → queued ·
    /// failed → completed
    case inspecting
    /// The layer above decides whether it makes the request itself. loaderChosen → queued · failed → completed
    case askingLoader
    /// libcurl connects, sends or receives; no head of a final response yet, or the body is being received.
    /// head → askingRedirect, askingChallenge, askingResponse, draining or transferring · ended → settling,
    /// delivering, completed, askingChallenge, askingBody, unconnected, or queued when the same request must be made
    /// again · failed → completed
    case transferring
    /// There is no network, and the task waits for one. networkChanged → queued · failed → completed
    case unconnected
    /// The body of a response that another request will follow is being dropped. ended → queued (askingBody where
    /// the body must be had anew) · failed → completed
    case draining
    /// A handler decides about a redirect. The transfer is paused, or over. redirectAnswered → draining,
    /// askingResponse, transferring, queued or completed · failed → completed
    case askingRedirect(transferEnded: Bool)
    /// A handler is asked for credentials, about a response whose body is held back or about a connection that was not
    /// made without them. challengeAnswered → askingChallenge (the next challenge), draining, transferring,
    /// askingResponse, queued or as after `ended` · failed → completed
    case askingChallenge(transferEnded: Bool)
    /// A handler decides about the response. responseAnswered → transferring or on as after `ended` ·
    /// failed → completed
    case askingResponse(transferEnded: Bool)
    /// The body is not here, or cannot be read twice and must be replaced. newBody → queued or completed ·
    /// failed → completed
    case askingBody
    /// The transfer is over and the consumer still has pieces to take. consumed → completed · failed → completed
    case delivering
    /// A handler decides whether the response is stored. cacheAnswered → settling or completed · failed → completed
    case askingCache(settles: Bool)
    /// The file is being made durable by a helper thread. settled → completed · failed → completed
    case settling
    /// The connection is a stream. streamEnded → completed · failed → completed
    case streaming
    /// The task has failed, and a helper thread reads what has come, so that another one can go on with it.
    /// kept → completed
    case keeping
    /// The completion has been queued: the end.
    case completed
  }

  private(set) var state = State.queued
  /// A follow-up request waits for a fresh body.
  private var wantsBody = false
  /// How the transfer ended while a handler was being asked.
  private var ending = Ending.failure
  /// Once the consumer has taken all, a handler is asked about storing it.
  private var asksCache = false

  var isComplete: Bool { state == .completed }

  /// True while the task has or makes a connection and nobody above is being waited for: the time that counts for
  /// the request timeout.
  var isOnTheClock: Bool {
    switch state {
    case .transferring, .draining: return true
    case .queued, .askingLoader, .unconnected, .inspecting, .askingRedirect, .askingChallenge, .askingResponse,
      .askingBody, .delivering, .askingCache, .settling, .keeping, .streaming, .completed:
      return false
    }
  }

  /// True while a handler is asked about what has come.
  var isAsking: Bool {
    switch state {
    case .askingRedirect, .askingChallenge, .askingResponse: return true
    case .queued, .askingLoader, .unconnected, .inspecting, .transferring, .draining, .askingBody, .delivering,
      .askingCache, .settling, .keeping, .streaming, .completed:
      return false
    }
  }

  mutating func handle(_ event: Event) -> Action {
    switch event {
    case .failed: return fail()
    case .failedKeeping: return failKeeping()
    case .kept: return state == .keeping ? complete(success: false) : .none
    case .inspectionWanted: return inspectionWanted()
    case .inspected: return inspected()
    case .turnGranted: return turnGranted()
    case .loaderWanted: return loaderWanted()
    case .loaderChosen: return loaderChosen()
    case .head(let verdict): return head(verdict)
    case .redirectAnswered(let choice): return redirectAnswered(choice)
    case .challengeAnswered(let choice): return challengeAnswered(choice)
    case .responseAnswered(let allow): return responseAnswered(allow)
    case .ended(let ending): return ended(ending)
    case .networkChanged: return networkChanged()
    case .consumed: return state == .delivering ? delivered(settles: false) : .none
    case .cacheAnswered: return cacheAnswered()
    case .bodyMissing: return bodyMissing()
    case .newBody(let available): return newBody(available)
    case .settled(let success): return state == .settling ? complete(success: success) : .none
    case .responseBecomesStream: return responseBecomesStream()
    case .streamEnded(let success): return state == .streaming ? complete(success: success) : .none
    }
  }

  private mutating func responseBecomesStream() -> Action {
    guard case .askingResponse = state else { return .none }
    state = .streaming
    return .becomeStream
  }

  private mutating func fail() -> Action {
    switch state {
    case .keeping, .completed: return .none
    case .queued, .askingLoader, .unconnected, .inspecting, .transferring, .draining, .askingRedirect,
      .askingChallenge, .askingResponse, .askingBody, .delivering, .askingCache, .settling, .streaming:
      return complete(success: false)
    }
  }

  private mutating func failKeeping() -> Action {
    switch state {
    case .keeping, .completed: return .none
    // Nothing has come that was not there before; or all has.
    case .inspecting, .delivering, .askingCache, .settling, .streaming: return complete(success: false)
    case .queued, .askingLoader, .unconnected, .transferring, .draining, .askingRedirect, .askingChallenge,
      .askingResponse, .askingBody:
      state = .keeping
      return .keepFile
    }
  }

  private mutating func inspectionWanted() -> Action {
    guard state == .queued else { return .none }
    state = .inspecting
    return .inspectFile
  }

  private mutating func inspected() -> Action {
    guard state == .inspecting else { return .none }
    state = .queued
    return .nextRequest
  }

  private mutating func bodyMissing() -> Action {
    guard state == .queued else { return .none }
    wantsBody = true
    return followUp()
  }

  private mutating func turnGranted() -> Action {
    guard state == .queued else { return .none }
    state = .transferring
    return .attach
  }

  private mutating func loaderWanted() -> Action {
    guard state == .queued else { return .none }
    state = .askingLoader
    return .askLoader
  }

  private mutating func loaderChosen() -> Action {
    guard state == .askingLoader else { return .none }
    state = .queued
    return .enqueue
  }

  private mutating func head(_ verdict: Verdict) -> Action {
    guard state == .transferring else { return .none }
    switch verdict {
    case .final: return .receiveBody
    case .stream:
      state = .streaming
      return .becomeStream
    case .finalAsking:
      state = .askingResponse(transferEnded: false)
      return .askResponse
    case .redirect(let needsBody), .again(let needsBody):
      state = .draining
      wantsBody = needsBody
      return .discardBody
    case .redirectAsking:
      state = .askingRedirect(transferEnded: false)
      return .askRedirect
    case .challengeAsking:
      state = .askingChallenge(transferEnded: false)
      return .askChallenge
    }
  }

  private mutating func redirectAnswered(_ choice: RedirectChoice) -> Action {
    guard case .askingRedirect(let transferEnded) = state else { return .none }
    switch choice {
    case .follow(let needsBody):
      wantsBody = needsBody
      if transferEnded { return followUp() }
      state = .draining
      return .discardBody
    case .refuse(asks: true):
      state = .askingResponse(transferEnded: transferEnded)
      return .askResponse
    case .refuse(asks: false):
      if transferEnded, case .failure = ending { return complete(success: false) }
      state = .transferring
      return transferEnded ? .receiveNothing : .receiveBody
    }
  }

  private mutating func challengeAnswered(_ choice: ChallengeChoice) -> Action {
    guard case .askingChallenge(let transferEnded) = state else { return .none }
    switch choice {
    case .follow(let needsBody):
      wantsBody = needsBody
      if transferEnded { return followUp() }
      state = .draining
      return .discardBody
    case .askNext: return .askChallenge
    case .deliver(let asking):
      if transferEnded, case .failure = ending { return complete(success: false) }
      if asking {
        state = .askingResponse(transferEnded: transferEnded)
        return .askResponse
      }
      state = .transferring
      return transferEnded ? .receiveNothing : .receiveBody
    }
  }

  private mutating func responseAnswered(_ allow: Bool) -> Action {
    guard case .askingResponse(let transferEnded) = state else { return .none }
    guard allow else {
      state = .completed
      return .refuseResponse
    }
    if transferEnded, case .failure = ending { return complete(success: false) }
    state = .transferring
    if transferEnded, case .success = ending { return .receiveNothing }
    return transferEnded ? ended(ending) : .receiveBody
  }

  private mutating func ended(_ ending: Ending) -> Action {
    switch state {
    case .transferring: return transferEnded(ending)
    case .draining: return followUp()
    case .askingRedirect:
      self.ending = ending
      state = .askingRedirect(transferEnded: true)
      return .none
    case .askingChallenge:
      self.ending = ending
      state = .askingChallenge(transferEnded: true)
      return .none
    case .askingResponse:
      self.ending = ending
      if case .failure = ending { return complete(success: false) }
      if case .interrupted = ending { return failKeeping() }
      state = .askingResponse(transferEnded: true)
      return .none
    case .queued, .askingLoader, .unconnected, .inspecting, .askingBody, .delivering, .askingCache, .settling,
      .keeping, .streaming, .completed:
      return .none
    }
  }

  private mutating func transferEnded(_ ending: Ending) -> Action {
    switch ending {
    case .failure: return complete(success: false)
    case .interrupted: return failKeeping()
    case .incomplete:
      state = .queued
      return .nextRequest
    case .bodyLost:
      wantsBody = true
      return followUp()
    case .replaced: return followUp()
    case .unconnected:
      state = .unconnected
      return .awaitNetwork
    case .challenged:
      self.ending = .failure
      state = .askingChallenge(transferEnded: true)
      return .askChallenge
    case .success(let undelivered, let settles, let asksCache):
      self.asksCache = asksCache
      if undelivered {
        state = .delivering
        return .none
      }
      return delivered(settles: settles)
    }
  }

  /// The consumer has everything, or there is none.
  private mutating func delivered(settles: Bool) -> Action {
    if asksCache {
      state = .askingCache(settles: settles)
      return .askCache
    }
    guard settles else { return complete(success: true) }
    state = .settling
    return .settleFile
  }

  private mutating func cacheAnswered() -> Action {
    guard case .askingCache(let settles) = state else { return .none }
    asksCache = false
    return delivered(settles: settles)
  }

  private mutating func followUp() -> Action {
    if wantsBody {
      state = .askingBody
      return .askBody
    }
    state = .queued
    return .nextRequest
  }

  private mutating func networkChanged() -> Action {
    guard state == .unconnected else { return .none }
    state = .queued
    return .nextRequest
  }

  private mutating func newBody(_ available: Bool) -> Action {
    guard state == .askingBody else { return .none }
    wantsBody = false
    guard available else {
      state = .completed
      return .failForBody
    }
    state = .queued
    return .nextRequest
  }

  private mutating func complete(success: Bool) -> Action {
    state = .completed
    return .complete(success: success)
  }
}
