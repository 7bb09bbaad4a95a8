import CCurlShim

/// URLSession on libcurl: the real thing behind `Port`. One thread; nothing in it may be called from another, except
/// that writing to `wakeDescriptor` makes `wait` return.
public final class SessionCore: Port {
  let poller = Poller()
  /// What `wait` gives out next.
  var outbox: [Event] = []
  var timers = TimerHeap<Transfer>()
  /// The time of this turn of the loop.
  private(set) var now: Double {
    get { clock.pointee }
    set { clock.pointee = newValue }
  }
  /// Where it stands, for the C half of libcurl's callbacks.
  let clock: UnsafeMutablePointer<Double>
  /// Storages with cookies to be written at the end of the turn, before anybody is told of the response.
  var changedStorages: [CookieStorage] = []
  /// Transfers with something to tell at the end of the turn.
  var flushList: [Transfer] = []
  /// Transfers whose consumers were given a piece in the last turn.
  var delivering: [Transfer] = []
  /// Transfers whose loads may have something (see `LocalLoad`).
  var loading: [Transfer] = []
  private var helperThreads: HelperThreads?
  let credentials: CoreCredentials
  private var networkWatch: NetworkWatch?
  /// Transfers that wait for a network.
  var unconnected: [Transfer] = []
  private var networkChanged = false
  /// Hosts at which transfers wait for a turn.
  var queues = QueueWatch()
  /// When memory that has been freed goes back to the system.
  private var trimTime = Double.infinity
  /// libcurl is on the stack: nothing may be asked of it but through what callbacks return.
  private(set) var isInsideLibcurl = false
  /// Streams with a time limit, and the sockets of those that have one of their own.
  var streamTimers = TimerHeap<StreamTask>()
  var links = LinkTable()
  private var sessions = IDTable<Session>()
  private var transfers = IDTable<Transfer>()
  private var streams = IDTable<StreamTask>()
  private var multis: [Multi?] = []
  private var hasRetired = false
  let caches = CoreCaches()
  let downloads = CoreDownloads()

  public init() {
    clock = .allocate(capacity: 1)
    clock.initialize(to: MonotonicClock.now)
    credentials = CoreCredentials(poller: poller)
    hs_keep_memory()
  }

  deinit {
    // Handles first: libcurl's callbacks for their connections need the poller.
    abandon()
    sessions.removeAll()
    multis.removeAll()
    clock.deallocate()
  }

  public func abandon() {
    credentials.abandon()
    caches.writeAll()
    for transfer in transfers.values { transfer.abandon() }
    transfers.removeAll()
    queues.removeAll()
    for stream in streams.values { stream.abandon() }
    streams.removeAll()
    downloads.removeAll()
  }

  public var isBusyInBackground: Bool { caches.isRevalidating || credentials.isBusy }

  public var wakeDescriptor: Int32 { poller.wakeDescriptor }

  public func submit(_ command: Command) {
    switch command {
    case .createSession(let id, let configuration): createSession(id, configuration)
    case .startStream(let id, let session, let request): start(id, session, request)
    case .stream(let id, let command): streams[id.rawValue]?.receive(command)
    case .webSocket(let id, let command): transfers[id.rawValue]?.webSocket?.receive(command)
    case .suspendTask(let id):
      transfers[id.rawValue]?.suspend()
      streams[id.rawValue]?.suspend()
    case .resumeTask(let id):
      transfers[id.rawValue]?.resume()
      streams[id.rawValue]?.resume()
    case .setPriority(let id, let priority): transfers[id.rawValue]?.setPriority(priority)
    case .cancelTask(let id):
      let error = TaskError(.cancelled, "cancelled")
      transfers[id.rawValue]?.fail(error)
      streams[id.rawValue]?.fail(error)
    case .answer(let id, let answer):
      if case .challenge(let word) = answer { streams[id.rawValue]?.receive(word) }
      transfers[id.rawValue]?.receive(answer)
    case .invalidateSession(let id, let cancelling): invalidate(id, cancelling)
    case .cancelTaskKeeping(let id): transfers[id.rawValue]?.cancelKeeping()
    case .keepDownload(let part, let kept): downloads.keep(part, as: kept)
    case .removeDownload(let location): downloads.remove(location)
    case .closeIdleConnections(let id): sessions[id.rawValue]?.closeIdleConnections()
    case .forgetHosts(let id): sessions[id.rawValue]?.forget()
    case .writeCache(let id): sessions[id.rawValue]?.cache?.write()
    case .perform(let id, let work): helpers.submit(HelperThreads.Job(task: id.rawValue, work: .perform(work)))
    case .useKeyring(let storage, let party, let waiter):
      if !credentials.useKeyring(storage, party, waiter: waiter) { outbox.append(.keyringUsed(waiter)) }
    }
  }

  public func start(_ task: TaskID, in session: SessionID, _ request: TaskRequest) {
    guard let session = self.session(session, for: task) else { return }
    start(task, session, request)
  }

  public func wait(until deadline: Double?, into events: inout [Event]) {
    if !delivering.isEmpty { holdBack() }
    var isWoken = false
    var hasPolled = false
    while true {
      work()
      flush()
      if !outbox.isEmpty || isWoken || caches.takeCalm() || credentials.takeCalm() { break }
      // Also when the deadline has passed already: a caller that is always busy must not starve the transfers.
      if hasPolled, let deadline, now >= deadline { break }
      isWoken = poll(until: deadline)
      hasPolled = true
      now = MonotonicClock.now
    }
    if events.isEmpty {
      swap(&events, &outbox)
    } else {
      events.append(contentsOf: outbox)
      outbox.removeAll(keepingCapacity: true)
    }
  }

  /// Threads for what blocks, made when they are first needed.
  var helpers: HelperThreads {
    let helpers = helperThreads ?? HelperThreads(poller: poller)
    helperThreads = helpers
    return helpers
  }

  // MARK: The loop

  /// Does all that can be done without waiting.
  private func work() {
    now = MonotonicClock.now
    var isBusy = true
    while isBusy {
      isBusy = false
      for index in multis.indices {
        guard let multi = multis[index], multi.hasWorked || multi.isDue(now: now) else { continue }
        if insideLibcurl({ multi.actOnTimer(now: now) }) { isBusy = true }
        while let (easy, result) = multi.nextEnded() {
          isBusy = true
          easy.ended(result)
        }
      }
    }
    if !loading.isEmpty { pumpLoads() }
    caches.write(due: now)
    if networkChanged { retryUnconnected() }
    if queues.isDue(now: now) { lendTurns() }
    if trimTime <= now { trim() }
    while let transfer = timers.popExpired(now: now) { transfer.timerFired() }
    while let stream = streamTimers.popExpired(now: now) { stream.timerFired() }
    if let helperThreads { takeFinished(helperThreads.finished()) }
    if credentials.isInUse { takeFinished(credentials.finished()) }
    if hasRetired { dropRetired() }
  }

  private func takeFinished(_ jobs: [HelperThreads.Job]) {
    for job in jobs {
      if case .perform(let work) = job.work {
        outbox.append(.performed(TaskID(job.task), work))
        continue
      }
      transfers[job.task]?.fileSettled(job)
      streams[job.task]?.serviceFound(job)
    }
  }

  private func takeFinished(_ waiters: [KeyringQueue.Waiter]) {
    for waiter in waiters {
      switch waiter {
      case .task(let task): transfers[task.rawValue]?.lookupFinished()
      case .caller(let number): outbox.append(.keyringUsed(number))
      }
    }
  }

  /// One turn for each load; those that have more are asked again at the next turn of the loop.
  private func pumpLoads() {
    let list = loading
    loading.removeAll(keepingCapacity: true)
    for transfer in list { transfer.pumpLoad() }
  }

  private func poll(until deadline: Double?) -> Bool {
    poller.wait(timeout: timeout(until: deadline)) { descriptor, owner, events in
      if owner == NetworkWatch.owner { return networkMessage() }
      if owner < 0 { return links.link(owner)?.act(events: events) ?? () }
      insideLibcurl { multis[Int(owner)]?.act(on: descriptor, events: events) }
    }
  }

  // MARK: Connectivity

  /// The transfer tries again when the network has changed. False when that cannot be found out.
  func waitForNetwork(_ transfer: Transfer) -> Bool {
    guard watchNetwork() else { return false }
    unconnected.append(transfer)
    return true
  }

  /// Changes of the network are looked at from now on. False when they cannot be.
  func watchNetwork() -> Bool {
    guard networkWatch == nil else { return true }
    networkWatch = NetworkWatch(poller: poller)
    // It may have changed just before it was watched.
    networkChanged = networkWatch != nil
    return networkChanged
  }

  private func networkMessage() {
    networkWatch?.drain()
    networkChanged = true
  }

  private func retryUnconnected() {
    networkChanged = false
    let list = unconnected
    unconnected.removeAll()
    for transfer in list { transfer.advance(.networkChanged) }
    for stream in streams.values { stream.networkChanged() }
  }

  /// Milliseconds until something is due, rounded up so that it then is.
  private func timeout(until deadline: Double?) -> Int32 {
    guard loading.isEmpty, !networkChanged else { return 0 }
    var next = deadline ?? .infinity
    if let timer = timers.nextDeadline, timer < next { next = timer }
    if let timer = streamTimers.nextDeadline, timer < next { next = timer }
    if let write = caches.deadline, write < next { next = write }
    if let look = queues.deadline, look < next { next = look }
    if trimTime < next { next = trimTime }
    for multi in multis {
      if let timer = multi?.timerDeadline, timer < next { next = timer }
    }
    guard next < .infinity else { return -1 }
    let milliseconds = ((next - MonotonicClock.now) * 1e3).rounded(.up)
    return Int32(min(max(milliseconds, 0), 86_400_000))
  }

  private func flush() {
    for storage in changedStorages { storage.commit() }
    if !changedStorages.isEmpty { changedStorages.removeAll() }
    guard !flushList.isEmpty else { return }
    let list = flushList
    flushList.removeAll(keepingCapacity: true)
    for transfer in list { transfer.flush() }
  }

  /// A transfer waits: of what was needed to make its connection and to read, malloc has much that nobody is going to use.
  func trimSoon() {
    if trimTime == .infinity { trimTime = now + 0.25 }
  }

  private func trim() {
    trimTime = .infinity
    hs_trim_memory()
  }

  /// Nothing more is read for consumers that have not taken their piece by now.
  private func holdBack() {
    for transfer in delivering { transfer.holdBack() }
    delivering.removeAll(keepingCapacity: true)
  }

  @inline(__always)
  func insideLibcurl<Result>(_ body: () -> Result) -> Result {
    isInsideLibcurl = true
    defer { isInsideLibcurl = false }
    return body()
  }

  // MARK: Sessions

  private func createSession(_ id: SessionID, _ configuration: SessionConfiguration) {
    guard CurlLibrary.isReady, sessions[id.rawValue] == nil else { return }
    sessions[id.rawValue] = Session(id: id, configuration: configuration, core: self)
  }

  private func invalidate(_ id: SessionID, _ cancelling: Bool) {
    guard let session = sessions[id.rawValue] else { return outbox.append(.sessionInvalidated(id)) }
    session.isInvalidated = true
    if cancelling {
      for transfer in transfers.values where transfer.session === session {
        transfer.fail(TaskError(.cancelled, "the session was invalidated"))
      }
      for stream in streams.values where stream.session === session {
        stream.fail(TaskError(.cancelled, "the session was invalidated"))
      }
    }
    endIfIdle(session)
  }

  private func endIfIdle(_ session: Session) {
    guard session.isInvalidated, session.taskCount == 0 else { return }
    sessions[session.id.rawValue] = nil
    session.close()
    outbox.append(.sessionInvalidated(session.id))
  }

  func makeMulti(connections: Int) -> Multi? {
    let free = multis.firstIndex { $0 == nil }
    let index = free ?? multis.count
    guard let multi = Multi(poller: poller, index: Int32(index), connections: connections) else { return nil }
    if free == nil { multis.append(multi) } else { multis[index] = multi }
    return multi
  }

  /// It goes once nothing runs on it; not at once, since libcurl may be on the stack.
  func retire(_ multi: Multi) {
    multi.isRetired = true
    hasRetired = true
  }

  private func dropRetired() {
    hasRetired = false
    for index in multis.indices {
      guard let multi = multis[index], multi.isRetired else { continue }
      if multi.running == 0 { multis[index] = nil } else { hasRetired = true }
    }
  }

  // MARK: Tasks

  /// Begins a task whose session is there.
  func start(_ id: TaskID, _ session: Session, _ request: TaskRequest) {
    let transfer = Transfer(id: id, session: session, options: request)
    transfers[id.rawValue] = transfer
    session.taskCount += 1
    transfer.begin()
  }

  private func start(_ id: TaskID, _ sessionID: SessionID, _ request: StreamRequest) {
    guard let session = session(sessionID, for: id) else { return }
    let stream = StreamTask(id: id, session: session, request: request)
    streams[id.rawValue] = stream
    session.taskCount += 1
    stream.begin()
  }

  /// A stream that a transfer has become.
  func adopt(_ stream: StreamTask) { streams[stream.id.rawValue] = stream }
  func forget(_ stream: StreamTask) { streams[stream.id.rawValue] = nil }

  /// The session of a task that begins; nil, and the task is complete, when there can be no more tasks in it.
  private func session(_ id: SessionID, for task: TaskID) -> Session? {
    if let session = sessions[id.rawValue], !session.isInvalidated { return session }
    let error = TaskError(.cancelled, "the session has been invalidated or was never made")
    outbox.append(.completed(task, Completion(error: error)))
    return nil
  }

  /// Those of all tasks that are not complete, in no order.
  var allTransfers: [Transfer] { transfers.values }

  /// The transfer of a task that is not complete.
  func transfer(_ id: TaskID) -> Transfer? { transfers[id.rawValue] }

  /// The last word on a transfer.
  func complete(_ transfer: Transfer, _ completion: Completion) {
    transfers[transfer.id.rawValue] = nil
    timers.remove(transfer)
    if !unconnected.isEmpty { unconnected.removeAll { $0 === transfer } }
    if CoreCaches.isRevalidation(transfer.id) {
      caches.endRevalidation(CacheKey.make(transfer.options.request.url, realm: transfer.session.cacheRealm))
    } else {
      outbox.append(.completed(transfer.id, completion))
    }
    leave(transfer.session)
  }

  /// The last word on a stream that has its own connection.
  func complete(_ stream: StreamTask, _ completion: Completion) {
    streams[stream.id.rawValue] = nil
    outbox.append(.completed(stream.id, completion))
    leave(stream.session)
  }

  /// One of a session's tasks is complete.
  private func leave(_ session: Session) {
    session.taskCount -= 1
    endIfIdle(session)
  }
}
