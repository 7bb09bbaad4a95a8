import Glibc
import SessionCore

/// The one loop of the process: run the fibers that are ready, fire timers, wait for the core, deliver its events.
///
/// Lua runs only from here: fibers through `Interpreter.resume`, events through `Interpreter.dispatch`.
public final class Scheduler {
  /// Why the loop ended, as an exit status.
  public enum Ending: Equatable {
    case done
    /// An error that nothing caught.
    case failed
    /// A signal's number; SIGALRM says that the time given by `--timeout` has passed.
    case signal(Int32)

    public var status: Int32 {
      switch self {
      case .done: 0
      case .failed: 1
      case .signal(let number): Interpreter.status(ofSignal: number)
      }
    }
  }

  public let interpreter: Interpreter
  public let port: Port
  /// By registry reference, which is also the number Lua code knows a fiber by: whether it is alive. References are
  /// used again, so a late wake may reach a later fiber; that does no harm, because every wait checks its condition.
  private var isAlive: [Bool] = []
  /// By the same number: the task whose handlers the fiber runs, or belongs to.
  private var served: [TaskID?] = []
  private var mainFiber: Int?
  /// Fibers that wait for an event to handle. One that has to wait in a script's handler is not among them until that
  /// has returned; the next event then gets another.
  private var idleServers: [Int] = []
  private var calls = CallTable()
  private var ready: [Int] = []
  private var turn: [Int] = []
  var timers = TimerQueue()
  private var events: [Event] = []
  /// Tasks begun in the core and not yet completed; they keep the process alive.
  private(set) var outstandingTasks = 0
  private var captured = CapturedStreams()
  /// Sessions whose end has been asked for and not been told.
  private var endingSessions: Set<Int> = []
  private var ending: Ending?
  private var failed = false
  private var stopDeadline: Double?
  /// Requests and responses are shown on standard error (`-v`).
  public var trace = false
  /// Where diagnostics go.
  public var report: (String) -> Void = { _ in }
  /// The person at the terminal, in a dialogue. As long as there is one, the loop goes on with nothing left to do, and
  /// SIGINT is theirs.
  public var interlocutor: Interlocutor?
  private var isQuitting = false
  /// A fiber that ends where it parks next.
  var abandoned: Int?
  /// More idle servers than these are not kept.
  private static let serverLimit = 64
  /// How long a stopping script may take to unwind.
  static let graceSeconds = 5.0

  public init(interpreter: Interpreter, port: Port) {
    self.interpreter = interpreter
    self.port = port
    interpreter.onFiber = { [unowned self] in _ = self.adopt($0) }
    interpreter.onExit = { [unowned self] in self.port.abandon() }
  }

  // MARK: What host functions ask for

  private func adopt(_ reference: Int32) -> Int {
    let fiber = Int(reference)
    setAlive(fiber, serving: servedTask)
    ready.append(fiber)
    return fiber
  }

  private func setAlive(_ fiber: Int, serving task: TaskID?) {
    while isAlive.count <= fiber {
      isAlive.append(false)
      served.append(nil)
    }
    isAlive[fiber] = true
    served[fiber] = task
  }

  /// The task in one of whose handlers Lua is, or in a job that one of them has begun.
  var servedTask: TaskID? {
    let fiber = interpreter.currentFiber
    return served.indices.contains(fiber) ? served[fiber] : nil
  }

  /// Resumes a fiber at the next turn. Waking one that is not waiting does no harm: waits check their condition.
  public func wake(_ fiber: Int) { ready.append(fiber) }

  /// Hands down what begins and ends nothing.
  func answer(_ task: TaskID, _ answer: Answer) { port.submit(.answer(task, answer)) }

  func submit(_ command: Command) {
    switch command {
    case .startStream, .perform: outstandingTasks += 1
    case .invalidateSession(let id, _): endingSessions.insert(id.rawValue)
    case .stream(let task, let command): captured.note(task, command)
    default: break
    }
    port.submit(command)
  }

  /// Begins a task whose end resumes the calling fiber with the completion's values, without a task object in Lua:
  /// the common call costs no more than it must.
  ///
  /// - Parameter identifier: which task of its session it is.
  /// - Returns: false outside of a fiber.
  func call(_ request: TaskRequest, in session: SessionID, identifier: Int) -> Bool {
    let fiber = interpreter.currentFiber
    guard let task = calls.begin(fiber: fiber, session: session, identifier: identifier, request) else { return false }
    start(task, in: session, request)
    return true
  }

  /// Begins a task whose events are its handlers'.
  func start(_ task: TaskID, in session: SessionID, _ request: TaskRequest) {
    outstandingTasks += 1
    request.lender = servedTask
    port.start(task, in: session, request)
  }

  /// Has work done on a helper thread; its end resumes the calling fiber with `true` and the work's results.
  ///
  /// - Returns: false outside of a fiber.
  func perform(_ work: any ScriptWork) -> Bool {
    guard let task = calls.beginWork(fiber: interpreter.currentFiber) else { return false }
    submit(.perform(task, work))
    return true
  }

  /// Cancels the call a fiber waits in, if it is in one; the fiber is not told.
  func cancelCall(of fiber: Int) {
    if let task = calls.end(fiber: fiber) { port.submit(.cancelTask(task)) }
  }

  /// Cancels all calls, or those of one session; who waits in them gets `cancelled`.
  func cancelCalls(of session: SessionID? = nil) {
    for call in calls.calls(of: session) { port.submit(.cancelTask(call.task)) }
  }

  /// A session's calls under way.
  func calls(of session: SessionID) -> [CallTable.Entry] { calls.calls(of: session) }

  /// An error that nobody will handle: shown, and the exit status says so.
  func uncaught(_ message: String) {
    failed = true
    if ending == nil { report(message) }
  }

  /// Whether the script is being ended by a signal or the process timeout.
  var isStopping: Bool { ending != nil }

  /// Ends the run at the loop's next turn as a signal would, but with `Ending.done`.
  public func quit() { isQuitting = true }

  // MARK: The loop

  /// Runs a chunk and everything it began, until nothing is left to do.
  /// - Throws: `ScriptError` when the chunk does not compile.
  public func run(_ text: Bytes, name: String) throws -> Ending {
    mainFiber = adopt(try interpreter.loadMain(text, name: name))
    loop()
    finishScript()
    port.abandon()
    if let ending { return ending }
    return failed ? .failed : .done
  }

  private func loop() {
    while true {
      checkStop()
      runReady()
      fireTimers()
      guard hasWork || hasLastWord() else { return }
      collectEvents()
      deliverEvents()
      interlocutor?.listen()
    }
  }

  /// Whether the core has events although nothing is under way (the end of a session).
  private func hasLastWord() -> Bool {
    port.wait(until: 0, into: &events)
    return !events.isEmpty
  }

  private var hasWork: Bool {
    if !ready.isEmpty { return true }
    if outstandingTasks > 0 || captured.hasWork || !endingSessions.isEmpty { return true }
    return stopDeadline == nil && (timers.count > 0 || interlocutor != nil || port.isBusyInBackground)
  }

  private func runReady() {
    swap(&ready, &turn)
    for fiber in turn { run(fiber) }
    turn.removeAll(keepingCapacity: true)
  }

  private func run(_ fiber: Int) {
    guard isAlive.indices.contains(fiber), isAlive[fiber] else { return }
    finishTurn(of: fiber, interpreter.resume(Int32(truncatingIfNeeded: fiber)))
  }

  private func finishTurn(of fiber: Int, _ turn: Interpreter.Turn) {
    switch turn {
    case .parked: if fiber == abandoned { discard(fiber) }
    case .yielded: ready.append(fiber)
    case .idle: rest(fiber)
    case .finished: end(fiber)
    case .failed(let message):
      // What a signal interrupted has not failed by itself.
      checkSignal()
      let isMain = fiber == mainFiber
      end(fiber)
      uncaught(message)
      if isMain { stop(.failed) }
    }
  }

  /// A server has nothing to do. It is not alive until it has: a late wake must not reach it.
  private func rest(_ server: Int) {
    isAlive[server] = false
    if idleServers.count < Scheduler.serverLimit {
      idleServers.append(server)
    } else {
      interpreter.discard(Int32(truncatingIfNeeded: server))
    }
  }

  /// The fiber is not resumed again; its to-be-closed variables are closed.
  private func discard(_ fiber: Int) {
    abandoned = nil
    end(fiber)
    interpreter.discard(Int32(truncatingIfNeeded: fiber))
  }

  private func end(_ fiber: Int) {
    isAlive[fiber] = false
    if fiber == mainFiber { mainFiber = nil }
  }

  private func fireTimers() {
    guard timers.count > 0 else { return }
    let now = MonotonicClock.now
    while let timer = timers.popDue(now: now) {
      dispatch { $0.append(EventKind.timer, timer) }
    }
  }

  private func collectEvents() {
    let now = MonotonicClock.now
    var deadline = ready.isEmpty && events.isEmpty && !isQuitting ? timers.nextDeadline() : now - 1
    if let stopDeadline { deadline = min(deadline ?? stopDeadline, stopDeadline) }
    port.wait(until: deadline, into: &events)
  }

  private func deliverEvents() {
    guard !events.isEmpty else { return }
    // Each is let go when it has been delivered: with many, the bytes of one make room for those of the next.
    events.reverse()
    while let event = events.popLast() {
      switch event {
      case .completed(let task, let completion):
        if !captured.remove(task) { outstandingTasks -= 1 }
        if CallTable.isCall(task) {
          finishCall(task) { $0.append(completion) }
        } else if !deliver(event) {
          let error = TaskError(.resourceUnavailable, "not enough memory")
          _ = deliver(.completed(task, Completion(error: error)))
        }
      case .stream(let task, let streamEvent):
        captured.note(task, streamEvent)
        if case .captured = streamEvent {
          captured.add(task)
          outstandingTasks -= 1
        }
        if !deliver(event) { port.submit(.cancelTask(task)) }
      case .performed(let task, let work):
        outstandingTasks -= 1
        finishCall(task) { (work as? any ScriptWork)?.appendResults(to: $0) }
      case .sessionInvalidated(let session):
        endingSessions.remove(session.rawValue)
        dispatch { $0.append(event) }
      default:
        if !deliver(event), let task = event.task { port.submit(.cancelTask(task)) }
      }
    }
  }

  private func finishCall(_ task: TaskID, _ appendResults: (Outbox) -> Void) {
    guard let fiber = calls.complete(task), isAlive[fiber] else { return }
    let outbox = interpreter.outbox
    let start = outbox.position
    outbox.append(true)
    appendResults(outbox)
    finishTurn(of: fiber, interpreter.resume(Int32(truncatingIfNeeded: fiber), valuesFrom: start))
  }

  /// Has a server handle an event of a task, so that the script's handlers may be called right there.
  /// - Returns: false when the standard library could not take the event, as when memory has run out.
  private func deliver(_ event: Event) -> Bool {
    guard let server = idleServers.popLast() ?? interpreter.makeServer() else { return refused() }
    let outbox = interpreter.outbox
    let start = outbox.position
    outbox.append(event)
    setAlive(server, serving: event.task)
    guard let turn = interpreter.deliver(to: server, from: start) else {
      rest(server)
      return refused()
    }
    finishTurn(of: server, turn)
    if case .failed = turn { return false }
    return true
  }

  private func refused() -> Bool {
    uncaught("not enough memory")
    return false
  }

  /// The same for what is no task's.
  @discardableResult
  private func dispatch(_ fill: (Outbox) -> Void) -> Bool {
    let outbox = interpreter.outbox
    let start = outbox.position
    fill(outbox)
    do {
      try interpreter.dispatch(from: start)
      return true
    } catch {
      uncaught((error as? ScriptError)?.message ?? "\(error)")
      return false
    }
  }

  // MARK: Ending early

  private func checkStop() {
    checkSignal()
    if isQuitting {
      isQuitting = false
      stop(.done)
    }
    if let stopDeadline, MonotonicClock.now >= stopDeadline { abandon() }
  }

  private func checkSignal() {
    guard ending == nil else { return }
    let signal = interpreter.pendingSignal
    if signal == SIGINT, let interlocutor {
      interpreter.takeSignal()
      interlocutor.interrupt()
    } else if signal != 0 {
      stop(.signal(signal))
    }
  }

  /// Cancels what is under way; completions and handlers still run, within the grace time.
  private func stop(_ reason: Ending) {
    guard ending == nil else { return }
    if reason != .failed { ending = reason }
    if case .signal = reason { interpreter.setDeadline(seconds: Scheduler.graceSeconds + 1) }
    stopDeadline = MonotonicClock.now + Scheduler.graceSeconds
    interlocutor?.dismiss()
    interlocutor = nil
    cancelCalls()
    dispatch { $0.append(EventKind.stop, 0) }
  }

  /// The grace time is over: what still waits is not resumed again.
  private func abandon() {
    ready.removeAll()
    for fiber in isAlive.indices where isAlive[fiber] {
      isAlive[fiber] = false
      interpreter.discard(Int32(truncatingIfNeeded: fiber))
    }
    for server in idleServers { interpreter.discard(Int32(truncatingIfNeeded: server)) }
    idleServers.removeAll()
    timers = TimerQueue()
    outstandingTasks = 0
    endingSessions = []
  }

  /// Tells the script's side that all is over, so that jobs nobody waited for are heard of.
  private func finishScript() {
    if mainFiber != nil, ending == nil, !failed {
      uncaught(
        "the script waits for something that cannot happen any more "
          + "(nothing is under way; a task that is suspended wants resume())")
    }
    dispatch { $0.append(EventKind.finish, 0) }
    abandon()
  }
}
