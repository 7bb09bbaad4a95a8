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
    case signal(Int32)
    /// `--timeout` passed.
    case timedOut

    public var status: Int32 {
      switch self {
      case .done: 0
      case .failed: 1
      case .signal(let number): 128 + number
      case .timedOut: 124
      }
    }
  }

  public let interpreter: Interpreter
  public let port: Port
  private var fibers: [Int: Int32] = [:]
  private var lastFiber = 0
  private var mainFiber = 0
  private var ready: [Int] = []
  private var turn: [Int] = []
  var timers = TimerQueue()
  private var events: [Event] = []
  /// Tasks begun in the core and not yet completed; they keep the process alive.
  private(set) var outstandingTasks = 0
  /// The fiber that runs now.
  private(set) var current = 0
  private var ending: Ending?
  private var failed = false
  private var stopDeadline: Double?
  /// When the whole process has to be done (`--timeout`).
  public var processDeadline: Double?
  /// Requests and responses are shown on standard error (`-v`).
  public var trace = false
  /// Where diagnostics go.
  public var report: (String) -> Void = { _ in }
  /// How long a stopping script may take to unwind.
  static let graceSeconds = 5.0

  public init(interpreter: Interpreter, port: Port) {
    self.interpreter = interpreter
    self.port = port
    interpreter.onFiber = { [unowned self] in self.adopt($0) }
  }

  // MARK: What host functions ask for

  private func adopt(_ reference: Int32) -> Int {
    lastFiber += 1
    fibers[lastFiber] = reference
    ready.append(lastFiber)
    return lastFiber
  }

  /// Resumes a fiber at the next turn. Waking one that is not waiting does no harm: waits check their condition.
  func wake(_ fiber: Int) { ready.append(fiber) }

  func submit(_ command: Command) {
    if case .startTask = command { outstandingTasks += 1 }
    port.submit(command)
  }

  /// An error that nobody will handle: shown, and the exit status says so.
  func uncaught(_ message: String) {
    failed = true
    if ending == nil { report(message) }
  }

  /// Whether the script is being ended by a signal or the process timeout.
  var isStopping: Bool { ending != nil }

  // MARK: The loop

  /// Runs a chunk and everything it began, until nothing is left to do.
  /// - Throws: `ScriptError` when the chunk does not compile.
  public func run(_ text: Bytes, name: String) throws -> Ending {
    mainFiber = adopt(try interpreter.loadMain(text, name: name))
    loop()
    finishScript()
    if let ending { return ending }
    return failed ? .failed : .done
  }

  private func loop() {
    while true {
      checkStop()
      runReady()
      fireTimers()
      guard hasWork else { return }
      collectEvents()
      deliverEvents()
    }
  }

  private var hasWork: Bool {
    if !ready.isEmpty { return true }
    if stopDeadline != nil, outstandingTasks == 0 { return false }
    return outstandingTasks > 0 || timers.count > 0
  }

  private func runReady() {
    swap(&ready, &turn)
    for fiber in turn { run(fiber) }
    turn.removeAll(keepingCapacity: true)
  }

  private func run(_ fiber: Int) {
    guard let reference = fibers[fiber] else { return }
    current = fiber
    let outcome = interpreter.resume(reference)
    current = 0
    switch outcome {
    case .parked: break
    case .yielded: ready.append(fiber)
    case .finished: end(fiber)
    case .failed(let message):
      end(fiber)
      uncaught(message)
      if fiber == mainFiber { stop(.failed) }
    }
  }

  private func end(_ fiber: Int) {
    fibers[fiber] = nil
    if fiber == mainFiber { mainFiber = 0 }
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
    var deadline = ready.isEmpty ? timers.nextDeadline() : now - 1
    for limit in [processDeadline, stopDeadline] {
      if let limit { deadline = min(deadline ?? limit, limit) }
    }
    port.wait(until: deadline, into: &events)
  }

  private func deliverEvents() {
    guard !events.isEmpty else { return }
    for event in events {
      if case .completed = event { outstandingTasks -= 1 }
      dispatch { $0.append(event) }
    }
    events.removeAll(keepingCapacity: true)
  }

  private func dispatch(_ fill: (Outbox) -> Void) {
    let outbox = interpreter.outbox
    let start = outbox.position
    fill(outbox)
    do {
      try interpreter.dispatch(from: start)
    } catch {
      uncaught((error as? ScriptError)?.message ?? "\(error)")
    }
  }

  // MARK: Ending early

  private func checkStop() {
    let now = MonotonicClock.now
    if ending == nil {
      let signal = interpreter.pendingSignal
      if signal != 0 { stop(.signal(signal)) }
      if let processDeadline, now >= processDeadline { stop(.timedOut) }
    }
    if let stopDeadline, now >= stopDeadline { abandon() }
  }

  /// Cancels what is under way; completions and handlers still run, within the grace time.
  private func stop(_ reason: Ending) {
    guard ending == nil else { return }
    if reason != .failed { ending = reason }
    processDeadline = nil
    stopDeadline = MonotonicClock.now + Scheduler.graceSeconds
    dispatch { $0.append(EventKind.stop, 0) }
  }

  /// The grace time is over: what still waits is not resumed again.
  private func abandon() {
    let rest = fibers.values
    fibers.removeAll()
    ready.removeAll()
    for reference in rest { interpreter.discard(reference) }
    timers = TimerQueue()
    outstandingTasks = 0
  }

  /// Tells the script's side that all is over, so that jobs nobody waited for are heard of.
  private func finishScript() {
    if mainFiber != 0, fibers[mainFiber] != nil, ending == nil, !failed {
      uncaught("httpscript: the script waits for something that cannot happen any more (no task, job or timer is left)")
    }
    dispatch { $0.append(EventKind.finish, 0) }
    abandon()
  }
}
