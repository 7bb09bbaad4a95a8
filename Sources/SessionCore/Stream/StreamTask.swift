/// A stream at work: the machine that knows what comes next, the connection, and the bytes on their way.
///
/// A stream task makes its connection itself; what a data task became has that of its transfer.
final class StreamTask: TimerEntry {
  let id: TaskID
  let session: Session
  /// Where it leads, and how that is shown in errors.
  let place: StreamPlace
  let shownPlace: String
  /// The transfer whose connection it has, which has the last word.
  private weak var transfer: Transfer?
  /// Who is told, if not the layer above.
  weak var consumer: StreamConsumer?
  var machine = StreamMachine()
  var link: StreamLink?
  var connector: StreamConnector?
  /// Where a service may be besides, should the connection not be made.
  var candidates: [ServiceRecords.Place] = []
  var tls: TLSLayer?
  /// There is a handler for challenges about servers.
  let asksAboutServers: Bool
  /// There is a handler for better routes, and it has been told of the one there is.
  let watchesRoutes: Bool
  private var hasToldRoute = false
  /// The layer above has been told that it waits for a network.
  private var hasToldWait = false
  /// Who keeps what is said of the server, and what a handler is being asked.
  var question: (host: HostTrust, asked: ConnectionTrust.Question?)?

  // Bytes.
  let linkOutput = Bytes()
  var inbox = ByteQueue()
  var writes: [Int: Write] = [:]
  /// The reads that are waited for, and until when.
  var reads: [Int: Double] = [:]
  /// The write under way.
  var current: Int?
  var isPumping = false
  var didSend = false
  var totalRead = 0
  var totalWritten = 0
  var hasLinkEnded = false
  /// What the connection ended with before the stream had it: it comes after what can be read.
  var loss: TaskError?
  /// The other side has closed its end of TLS.
  var hasTLSEnded = false
  /// The output is to be shut down once it is empty.
  var shutsDown = false
  /// The completion is due once the output is empty.
  private(set) var isEnding = false
  private var isComplete = false

  // Time.
  var timerIndex = -1
  var timerDeadline = Double.infinity
  private let startTime: Double
  private let startDate = WallClock.now
  let resourceDeadline: Double
  let requestTimeout: Double
  /// Of connecting, of a handshake, or of the last bytes.
  var phaseDeadline = Double.infinity
  private(set) var suspendedAt: Double?
  var transaction: TransactionMetrics?
  var failure: TaskError?

  /// What is read without being asked for, and what is handed to the link at once.
  static let pieceSize = 64 * 1024

  struct Write {
    let bytes: Bytes
    var offset = 0
    var deadline: Double
  }

  /// A task of its own.
  init(id: TaskID, session: Session, request: StreamRequest) {
    self.id = id
    self.session = session
    place = request.place
    shownPlace = Self.shown(request.place)
    asksAboutServers = request.asksAboutServers
    watchesRoutes = request.watchesRoutes
    startTime = session.core.now
    requestTimeout = request.requestTimeout ?? session.configuration.timeoutForRequest
    resourceDeadline = startTime + (request.resourceTimeout ?? session.configuration.timeoutForResource)
  }

  /// What a task's connection has become.
  init(transfer: Transfer) {
    id = transfer.id
    session = transfer.session
    place = .host(transfer.host?.name ?? "", port: transfer.host?.port ?? 0)
    shownPlace = transfer.url
    asksAboutServers = transfer.options.interest.contains(.connectionChallenge)
    watchesRoutes = false
    startTime = session.core.now
    requestTimeout = transfer.requestTimeout
    resourceDeadline = transfer.resourceDeadline
    self.transfer = transfer
  }

  var core: SessionCore { session.core }
  var isSuspended: Bool { suspendedAt != nil }

  // MARK: Commands

  func begin() { perform(machine.begin()) }

  func receive(_ command: StreamCommand) {
    switch command {
    case .read(let operation, let minimum, let maximum, let timeout):
      reads[operation] = timeout.map { MonotonicClock.now + $0 } ?? .infinity
      perform(machine.handle(.read(id: operation, minimum: minimum, maximum: maximum)))
    case .write(let operation, let bytes, let timeout):
      let deadline = timeout.map { MonotonicClock.now + $0 } ?? .infinity
      writes[operation] = Write(bytes: bytes, deadline: deadline)
      perform(machine.handle(.write(id: operation)))
    case .withdraw(let operation): withdraw(operation)
    case .closeRead: perform(machine.handle(.closeRead))
    case .closeWrite: perform(machine.handle(.closeWrite))
    case .startSecureConnection: perform(machine.handle(.startSecure))
    case .stopSecureConnection: perform(machine.handle(.stopSecure))
    case .capture: perform(machine.handle(.capture))
    }
  }

  func suspend() {
    guard suspendedAt == nil, !machine.isClosed else { return }
    suspendedAt = MonotonicClock.now
    update()
  }

  func resume() {
    guard let start = suspendedAt else { return }
    suspendedAt = nil
    let pause = MonotonicClock.now - start
    phaseDeadline += pause
    for operation in reads.keys { reads[operation]? += pause }
    for operation in writes.keys { writes[operation]?.deadline += pause }
    pump()
    update()
  }

  private func withdraw(_ operation: Int) {
    reads[operation] = nil
    perform(machine.handle(.withdrawn(id: operation)))
    if current != operation { writes[operation] = nil }
  }

  // MARK: Actions

  func perform(_ actions: [StreamMachine.Action]) {
    for action in actions { perform(action) }
    update()
  }

  private func perform(_ action: StreamMachine.Action) {
    switch action {
    case .connect: connect()
    case .awaitNetwork: awaitNetwork()
    case .deliver(let operation, let count, let atEnd):
      reads[operation] = nil
      tell(.read(operation: operation, .success(inbox.take(count)), atEnd: atEnd, total: totalRead))
    case .refuseRead(let operation):
      refuse(read: operation, failure ?? TaskError(.networkConnectionLost, "the stream is closed for reading"))
    case .send(let operation):
      current = operation
      pump()
    case .written(let operation):
      writes[operation] = nil
      tell(.written(operation: operation, nil, total: totalWritten))
    case .refuseWrite(let operation):
      refuse(write: operation, failure ?? TaskError(.networkConnectionLost, "the stream is closed for writing"))
    case .shutDownInput: shutDownInput()
    case .shutDownOutput: shutDownOutput()
    case .beginSecure: beginSecure()
    case .endSecure: endSecure()
    case .tellReadClosed: tell(.readClosed)
    case .tellWriteClosed: tell(.writeClosed)
    case .tellCaptured: tell(.captured)
    case .complete(let success): success ? finish() : complete()
    }
  }

  /// Waits for a network, within the limit for the whole.
  private func awaitNetwork() {
    phaseDeadline = .infinity
    guard core.watchNetwork() else { return fail(TaskError(.notConnectedToInternet, "there is no network")) }
    if hasToldWait { return }
    hasToldWait = true
    core.outbox.append(.waitingForConnectivity(id))
  }

  /// The network has changed. A connection bound to an interface has no other way.
  func networkChanged() {
    if machine.phase == .unconnected { return perform(machine.handle(.networkChanged)) }
    guard watchesRoutes, let link, session.configuration.interface == nil else { return }
    let isOther = link.hasOtherRoute
    if isOther, !hasToldRoute { tell(.betterRoute) }
    hasToldRoute = isOther
  }

  private func tell(_ event: StreamEvent) {
    if let consumer { return consumer.streamTells(event) }
    core.outbox.append(.stream(id, event))
  }

  func refuse(read operation: Int, _ error: TaskError) {
    reads[operation] = nil
    tell(.read(operation: operation, .failure(error), atEnd: false, total: totalRead))
  }

  func refuse(write operation: Int, _ error: TaskError) {
    writes[operation] = nil
    tell(.written(operation: operation, error, total: totalWritten))
  }

  /// Ends the task with an error, unless it has ended.
  func fail(_ error: TaskError) {
    guard !machine.isClosed else { return }
    failure = error
    perform(machine.handle(.failed))
  }

  /// Both directions have ended; what is still to be sent goes first.
  private func finish() {
    isEnding = true
    phaseDeadline = MonotonicClock.now + requestTimeout
    endIfDrained()
  }

  func endIfDrained() {
    if isEnding, linkOutput.count == 0 { complete() }
  }

  /// The very end, unless it has been.
  func complete() {
    guard !isComplete else { return }
    isComplete = true
    isEnding = false
    linkOutput.removeAll()
    let error = failure.map { problem in
      var problem = problem
      if problem.url == nil { problem.url = shownPlace }
      return problem
    }
    failOperations(error ?? TaskError(.cancelled, "the stream has ended"))
    link?.close()
    link = nil
    connector?.cancel()
    connector = nil
    tls = nil
    core.streamTimers.remove(self)
    if let transfer {
      core.forget(self)
      return transfer.streamEnded(error)
    }
    core.complete(self, completion(error))
  }

  private func failOperations(_ error: TaskError) {
    for operation in reads.keys.sorted() { refuse(read: operation, error) }
    for operation in writes.keys.sorted() { refuse(write: operation, error) }
  }

  private func completion(_ error: TaskError?) -> Completion {
    var metrics = TaskMetrics()
    metrics.start = startDate
    metrics.duration = MonotonicClock.now - startTime
    metrics.last = transaction
    return Completion(
      error: error, metrics: metrics, bytesSent: totalWritten, bytesReceived: totalRead)
  }

  /// The transfer has ended by itself: what is waited for ends with it.
  func transferEnded(_ error: TaskError?) {
    transfer = nil
    guard !isComplete else { return }
    failure = error
    _ = machine.handle(.failed)
    core.forget(self)
    isComplete = true
    failOperations(error ?? TaskError(.cancelled, "the stream has ended"))
    link?.close()
    link = nil
    tls = nil
    core.streamTimers.remove(self)
  }

  /// The other side must end soon; the request timeout is its limit.
  func expectEnd() {
    phaseDeadline = MonotonicClock.now + requestTimeout
    update()
  }

  /// Lets go of everything without a word; the core itself is going.
  func abandon() {
    isComplete = true
    link?.close()
    link = nil
    connector?.cancel()
  }

  private static func shown(_ place: StreamPlace) -> String {
    switch place {
    case .host(let name, let port): "\(bracketed(name)):\(port)"
    case .service(let name, let type, let domain): "\(name).\(type).\(domain)"
    }
  }

  static func bracketed(_ name: String) -> String {
    name.contains(":") && !name.hasPrefix("[") ? "[\(name)]" : name
  }
}

/// Who uses a stream in place of the layer above, which is told nothing then.
protocol StreamConsumer: AnyObject {
  func streamTells(_ event: StreamEvent)
}
