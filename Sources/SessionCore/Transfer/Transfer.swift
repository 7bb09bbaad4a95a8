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
  /// Its place in the queue, and the weight of its stream.
  var priority: Double
  /// What its traffic is for.
  let service: ServiceType
  /// The layer above has been told that it waits for a network.
  var hasToldWait = false
  /// Credentials that still apply: those of the options until another origin is reached.
  var authentication: Authentication
  /// From the current URL's user information.
  var urlCredentials: (user: Octets, password: Octets)?
  /// Those of an earlier URL, which hold as long as the origin is the same.
  var originCredentials: (user: Octets, password: Octets)?

  var easy: EasyHandle?
  var host: Host?
  /// What makes the request in libcurl's place.
  var load: LocalLoad?
  var isLoadQueued = false
  /// What the cache has to do with the current request; nil for nothing.
  var caching: CacheTransaction?
  /// The layer above has said who makes the request.
  var isLoaderChosen = false
  /// libcurl has the handle.
  var isAttached = false
  /// It is in its host's queue.
  var isEnqueued = false
  /// Its turn is another transfer's.
  var isBorrowing = false
  var isSuspended = false

  // Clock.
  var wasOnTheClock = false
  var timerIndex = -1
  var lastActivity = 0.0
  var resourceDeadline: Double
  var suspendedAt = 0.0
  let requestTimeout: Double
  let startTime: Double
  let startDate: Double

  // Response.
  var intake = ResponseIntake()
  var sink: BodySink
  var bodyMode = BodyMode.hold
  /// Of a download task.
  let download: Download?
  // Limits.
  var receiving: Throttle?
  var sending: Throttle?
  var hasToldOffset = false
  var received = 0
  var dropped = 0
  /// The verdict on the head waits for the first byte of the body, since libcurl may answer it by itself.
  var isVerdictDeferred = false
  /// The layer above knows the head.
  var hasToldHead = false
  /// The head came while the task was suspended.
  var isHeadHeld = false
  /// The transfer ended while the task was suspended, or a handler was asked about what has come.
  var heldEnd: HeldEnd?
  var isSinkOpen = false

  // Request.
  /// What is known of the URL's text.
  var urlLook = URLLook("")
  var source: BodySource?
  /// Where the request goes in its origin's stead (Alt-Svc): host and port.
  var alternativeUsed: String?
  /// libcurl has the whole body and does not ask for it.
  var isBodyInline = false
  var isWaitingForChunk = false
  var expectation: ExpectContinue
  var sentBefore = 0
  /// What has been sent of the present request is in that already.
  var isSentCounted = false
  /// A redirect has led away from where the request was meant to go.
  var hasLeftOrigin = false
  /// Of the body of the request that is over.
  var sentOnWire = 0
  var sentReported = 0
  var requestsBegun = 0
  var sawHeader = false
  /// What libcurl gives the body's callback are lines of a head, not the body.
  var expectsHead = true {
    didSet { easy?.head.pointee.expects_lines = expectsHead }
  }
  var refusedRepeat = false
  var endedEarly = false
  /// A connection is being made through a proxy, and the request has not begun.
  var isTunnelling = false
  /// libcurl has answered a challenge by itself and makes the request again.
  var isRepeating = false
  /// errno of the last attempt to connect.
  var lastSystemError = 0

  /// Of the connection it has made itself.
  var connectionTrust: ConnectionTrust?
  /// Its handler is being asked about that connection.
  var isAskingAboutConnection = false

  /// The body goes to a file of a download's.
  var becomesDownload = false

  // Streams.
  let webSocketHandshake: WebSocketHandshake?
  var agreement: WebSocketHandshake.Agreement?
  /// What follows the head has no end of its own.
  var isRaw = false
  /// What came behind a head while nobody knew what to do with it.
  var early: Bytes?
  /// The stream begins at the end of the turn.
  var isTakeOverDue = false
  var stream: StreamTask?
  var webSocket: WebSocketTask?
  /// The connection is not among its host's any more.
  var hasLeftHost = false

  // Follow-ups.
  var followUp: FollowUp?
  /// nil until credentials play a part.
  var auth: TransferAuth?
  /// The body in `request` has just been given by a handler.
  var hasFreshBody = false
  /// Its host has turned out to take more requests at once.
  var mayStartOthers = false
  /// While a handler is waited for, another transfer may have its turn.
  var hasLentTurn = false
  /// Its HTTP/2 stream has the larger window, or needs none.
  var isStreamWide = false
  var isWideningDue = false
  /// What libcurl has been told to hold back (`CURLPAUSE_…`).
  var pauseMask: Int32 = 0
  /// The piece of the body that has paused the transfer since, where it lies in libcurl's buffer.
  var takenBytes: UnsafeRawBufferPointer?
  /// libcurl is told to go on. What it has been refused before it delivers from elsewhere.
  var isLettingGoOn = false
  /// There is nothing more to be let go of what the request was sent from.
  var hasReleasedSendBuffer = false
  var redirects: [RedirectHop] = []
  /// Of the last request that is over; those before hang on it.
  var lastTransaction: TransactionMetrics?
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
    /// To nowhere: it says what need not be known.
    case ignore
  }

  /// How libcurl ended.
  struct HeldEnd {
    let result: CURLcode
    let failure: TaskError?
  }

  /// The request that comes after the current one.
  struct FollowUp {
    var request: Request
    var keepsBody: Bool
    var crossesOrigin: Bool
    var status: Int
    /// It belongs into the list of hops.
    var isRedirect = true
  }

  init(id: TaskID, session: Session, options: TaskRequest) {
    self.id = id
    self.session = session
    self.options = options
    request = options.request
    webSocketHandshake = options.webSocketRequest.map { Self.handshake($0) }
    webSocketHandshake?.apply(to: &request)
    url = options.request.url
    authentication = options.authentication
    priority = options.priority
    service = options.serviceType == .standard ? session.configuration.serviceType : options.serviceType
    expectation = options.expectContinue
    sink = BodySink(options.destination, maximum: options.maximumBody)
    download = Download.make(options)
    if let limits = session.rateLimits(options) { (receiving, sending) = limits }
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

  func perform(_ action: TaskMachine.Action) {
    switch action {
    case .none: break
    case .attach: if load == nil { attach() } else { beginLoad() }
    case .askLoader: core.outbox.append(.needsLoader(id, request))
    case .enqueue: enqueue()
    case .askRedirect: askRedirect()
    case .askChallenge: askChallenge()
    case .askResponse: askResponse()
    case .discardBody:
      bodyMode = .drop
      updatePause()
    case .receiveBody: receiveResponse()
    case .receiveNothing: receiveNothing()
    case .nextRequest: makeFollowUp()
    case .askBody: askBody()
    case .askCache: askCache()
    case .awaitNetwork: awaitNetwork()
    case .settleFile: settleFile()
    case .becomeStream: becomeStream()
    case .inspectFile: inspectFile()
    case .keepFile: keepFile()
    case .complete(let success): complete(success)
    case .refuseResponse: complete(with: TaskError(.cancelled, "the response was refused", url: url))
    case .failForBody: complete(with: TaskError(.requestBodyStreamExhausted, bodyProblem, url: url))
    }
    updateClock()
  }

  /// Takes the first step.
  func begin() {
    if let problem = session.headersProblem ?? checkRequest() ?? RequestCheck.problem(with: authentication) {
      return fail(problem)
    }
    if request.hasBody {
      switch BodySource.open(request.body) {
      case .failure(let error): return fail(error)
      case .success(let source): self.source = source
      }
      if case .stream = request.body { return advance(.bodyMissing) }
    }
    if case .download(let blob?) = options.destination {
      beginResuming(blob)
    } else {
      enqueue()
    }
    updateClock()
  }

  private var bodyProblem: String {
    if case .stream = request.body { return "the request's body is a stream, and no handler gave one" }
    return "the request body must be sent again and cannot be read twice"
  }

  /// What must not be sent.
  func checkRequest() -> TaskError? {
    urlLook = URLLook(request.url)
    if request.method == "GET", request.headers.isEmpty, !urlLook.hasControlCharacter { return nil }
    return RequestCheck.problem(with: request, look: urlLook)
  }

  /// Finds the host and waits for a turn there. A load that needs no host begins at once.
  func enqueue() {
    if session.configuration.asksForLoaders, !isLoaderChosen {
      return isSuspended ? () : advance(.loaderWanted)
    }
    guard load != nil || findHost() else { return }
    guard !isSuspended else { return }
    if load == nil, mayUseCache, consultCache(), load == nil { return }
    guard let host else { return advance(.turnGranted) }
    if host.takeTurn() { return advance(.turnGranted) }
    let served = servedTransfer
    isEnqueued = true
    host.enqueue(self, isServing: served != nil)
    core.queues.add(host, now: core.now)
    if let served, served.host === host { served.lendTurn() }
    startNext(host)
  }

  /// Download tasks (Apple's rule) and streams have no part in the cache.
  private var mayUseCache: Bool {
    (session.cache != nil && download == nil || cachePolicy == .returnCacheDataDontLoad) && !asksForStream
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
    advance(isWorthKeeping ? .failedKeeping : .failed)
  }

  /// The multi handle it runs on, and its place in the session's lanes.
  var attachedTo: Multi?
  var lane = 0
}
