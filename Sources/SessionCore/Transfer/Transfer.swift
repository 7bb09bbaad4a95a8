import CCurlShim

/// One task at work: the machine that knows what comes next, and the hands that do it.
///
/// libcurl's callbacks and the port's commands come in here, become events of `TaskMachine`, and its actions are
/// carried out by `perform`.
final class Transfer: TimerEntry {
  let id: TaskID
  let session: Session
  let options: TaskRequest
  var machine = TaskMachine()
  /// The request being made now.
  var request: Request
  /// Its URL as it is shown: with the fragment, without user and password.
  var url: String
  /// Credentials that still apply: those of the options until another origin is reached.
  var authentication: Authentication
  /// From the current URL's user information.
  var urlCredentials: (user: String, password: String)?

  var easy: EasyHandle?
  var host: Host?
  /// libcurl has the handle.
  var isAttached = false
  /// It is in its host's queue.
  var isEnqueued = false
  var isSuspended = false

  // Clock.
  var wasOnTheClock = false
  var timerIndex = -1
  var lastActivity = 0.0
  let resourceDeadline: Double
  let requestTimeout: Double
  let startTime: Double
  let startDate: Double

  // Response.
  var intake = ResponseIntake()
  var sink: BodySink
  var bodyMode = BodyMode.hold
  var received = 0
  var dropped = 0
  /// The verdict on the head waits for the first byte of the body, since libcurl may answer it by itself.
  var isVerdictDeferred = false
  var isSinkOpen = false

  // Request.
  /// What is known of the URL's text.
  var urlLook = URLLook("")
  var source: BodySource?
  /// libcurl has the whole body and does not ask for it.
  var isBodyInline = false
  var isWaitingForChunk = false
  var expectation: ExpectContinue
  var sentBefore = 0
  var sentReported = 0
  var requestsBegun = 0
  var sawHeader = false
  /// What libcurl gives the body's callback are lines of a head, not the body.
  var expectsHead = true
  var refusedRepeat = false
  var endedEarly = false

  // Follow-ups.
  var followUp: FollowUp?
  var challengeScheme: ChallengeScheme?
  var answeredChallenge = false
  /// The body in `request` has just been given by a handler.
  var hasFreshBody = false
  /// What libcurl has been told to hold back (`CURLPAUSE_…`).
  var pauseMask: Int32 = 0
  var redirects: [RedirectHop] = []
  var transactions: [TransactionMetrics] = []
  /// Of the current request.
  var transaction = TransactionMetrics()

  /// Why it fails; ends the transfer at libcurl's next call.
  var error: TaskError? {
    didSet { hasFailed = error != nil }
  }
  /// `error != nil`, without copying it for every line of a header.
  private(set) var hasFailed = false
  var isFlushQueued = false
  var progressReported = -1

  enum BodyMode {
    /// A handler is being asked: nothing is taken.
    case hold
    /// To the sink.
    case deliver
    /// To nowhere: another request follows.
    case drop
  }

  /// The request that comes after the current one.
  struct FollowUp {
    var request: Request
    var keepsBody: Bool
    var crossesOrigin: Bool
    var status: Int
  }

  init(id: TaskID, session: Session, options: TaskRequest) {
    self.id = id
    self.session = session
    self.options = options
    request = options.request
    url = options.request.url
    authentication = options.authentication
    expectation = options.expectContinue
    sink = BodySink(options.destination, maximum: options.maximumBody)
    startTime = session.core.now
    startDate = WallClock.now
    lastActivity = startTime
    requestTimeout = options.requestTimeout ?? session.configuration.timeoutForRequest
    resourceDeadline = startTime + (options.resourceTimeout ?? session.configuration.timeoutForResource)
  }

  var core: SessionCore { session.core }

  // MARK: Actions

  /// Tells the machine and does what it says.
  func advance(_ event: TaskMachine.Event) { perform(machine.handle(event)) }

  private func perform(_ action: TaskMachine.Action) {
    switch action {
    case .none: break
    case .attach: attach()
    case .askRedirect: askRedirect()
    case .askResponse: core.outbox.append(.response(id, currentHead()))
    case .discardBody:
      bodyMode = .drop
      updatePause()
    case .receiveBody: receiveResponse()
    case .nextRequest: makeFollowUp()
    case .askBody: askBody()
    case .settleFile: settleFile()
    case .complete(let success): complete(success)
    case .refuseResponse: complete(with: TaskError(.cancelled, "the response was refused", url: url))
    case .failForBody:
      complete(
        with: TaskError(
          .requestBodyStreamExhausted, "the request body must be sent again and cannot be read twice", url: url))
    }
    updateClock()
  }

  /// Takes the first step.
  func begin() {
    if let problem = session.headersProblem ?? checkRequest() ?? RequestCheck.problem(with: authentication) {
      return fail(problem)
    }
    switch BodySource.open(request.body) {
    case .failure(let error): return fail(error)
    case .success(let source): self.source = source
    }
    enqueue()
    updateClock()
  }

  /// What must not be sent.
  func checkRequest() -> TaskError? {
    urlLook = URLLook(request.url)
    return RequestCheck.problem(with: request, look: urlLook)
  }

  /// Finds the host and waits for a turn there.
  func enqueue() {
    guard findHost(), let host else { return }
    guard !isSuspended else { return }
    if host.takeTurn() { return advance(.turnGranted) }
    isEnqueued = true
    host.enqueue(self)
    startNext(host)
  }

  /// True when it is still there and may begin.
  var wantsTurn: Bool { machine.state == .queued && !isSuspended }

  func startNext(_ host: Host) {
    while let transfer = host.next() { transfer.advance(.turnGranted) }
  }

  /// Ends the task with an error, unless it has ended.
  func fail(_ error: TaskError) {
    guard !machine.isComplete else { return }
    if self.error == nil { self.error = error }
    advance(.failed)
  }

  // MARK: The handle

  private func attach() {
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

  /// The multi handle it runs on, and its place in the session's lanes.
  private var attachedTo: Multi?
  private var lane = 0

  private func failAttach(_ problem: TaskError) {
    host?.release()
    if let host { startNext(host) }
    host = nil
    fail(problem)
  }

  private func openSink() -> TaskError? {
    guard !isSinkOpen, let file = sink.file else { return nil }
    isSinkOpen = true
    return file.open()
  }

  private func resetForRequest() {
    intake.reset()
    bodyMode = .hold
    received = 0
    dropped = 0
    isVerdictDeferred = false
    requestsBegun = 0
    sawHeader = false
    expectsHead = true
    refusedRepeat = false
    endedEarly = false
    isWaitingForChunk = false
    pauseMask = 0
    progressReported = -1
    if transactions.last === transaction { transaction = TransactionMetrics() }
  }

  /// Takes the handle from libcurl; the connection is free for others.
  private func detach() {
    guard isAttached, let easy else { return }
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
    if hasFailed || machine.state == .draining { return .failure }
    if result == CURLE_OK || isWhole(result) {
      if case .askingRedirect = machine.state { return .success(undelivered: false, settles: false) }
      return successfulEnding()
    }
    if result == CURLE_SEND_FAIL_REWIND { return .bodyLost }
    error = failure
    return .failure
  }

  private func successfulEnding() -> TaskMachine.Ending {
    if sink.isMemory || sink.file != nil || sink.isDelivered, let problem = sink.finish() {
      error = problem
      return .failure
    }
    let isConsumer = !sink.isMemory && sink.file == nil
    return .success(undelivered: isConsumer && !sink.isDelivered, settles: sink.file?.needsSync ?? false)
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

  // MARK: The end

  private func complete(_ success: Bool) {
    complete(with: success ? nil : error ?? TaskError(.unknown, "the transfer failed", url: url))
  }

  private func complete(with failure: TaskError?) {
    if isAttached, let easy { recordTransaction(easy) }
    let host = self.host
    let wasAttached = isAttached
    detach()
    if let easy { session.giveBack(easy) }
    easy = nil
    if failure != nil { sink.file?.discard() }
    reportFinalProgress()
    var failure = failure
    if failure?.url == nil { failure?.url = url }
    core.complete(self, makeCompletion(failure))
    source = nil
    if wasAttached, let host { startNext(host) }
  }

  private func makeCompletion(_ failure: TaskError?) -> Completion {
    var metrics = TaskMetrics()
    metrics.start = startDate
    metrics.duration = MonotonicClock.now - startTime
    metrics.transactions = transactions
    let hasHead = intake.isHeadComplete && !intake.isInterim
    return Completion(
      response: hasHead ? intake.head(url: url) : nil,
      body: sink.isMemory && failure == nil ? sink.collected : nil, error: failure, redirects: redirects,
      metrics: metrics, bytesSent: sentBefore + bodyBytesSent, bytesReceived: received,
      bytesExpectedToSend: source?.length ?? 0,
      bytesExpectedToReceive: hasHead ? intake.contentLength : -1)
  }

  /// Lets go of everything without a word; the core itself is going.
  func abandon() {
    if isAttached, let easy { attachedTo?.remove(easy) }
    isAttached = false
    easy?.transfer = nil
    easy = nil
    sink.file?.discard()
  }

  // MARK: Files

  private func settleFile() {
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
