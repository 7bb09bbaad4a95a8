@testable import SessionCore

/// A core with one session, driven until tasks are complete; every event is kept.
final class Client {
  let core = SessionCore()
  let session = SessionID(1)
  private(set) var events: [Event] = []
  private var nextTask = 1
  /// For readers: what is still to be sent.
  var chunks: [String] = []
  /// Called for each event as it comes; answers what must be answered.
  var answer: (Event, SessionCore) -> Void = { _, _ in }

  init(_ change: (inout SessionConfiguration) -> Void = { _ in }) {
    var configuration = SessionConfiguration()
    configuration.proxy = .none
    change(&configuration)
    core.submit(.createSession(session, configuration))
  }

  func start(_ request: Request, _ change: (inout TaskRequest) -> Void = { _ in }) -> TaskID {
    var task = TaskRequest(request)
    change(&task)
    let id = TaskID(nextTask)
    nextTask += 1
    core.start(id, in: session, task)
    return id
  }

  /// Runs one request to its end.
  func run(_ request: Request, _ change: (inout TaskRequest) -> Void = { _ in }) -> Completion {
    finish(start(request, change))
  }

  func get(_ url: String, _ change: (inout TaskRequest) -> Void = { _ in }) -> Completion {
    run(Request(url: url), change)
  }

  /// Runs until the task is complete, or for ten seconds.
  func finish(_ id: TaskID) -> Completion {
    let limit = MonotonicClock.now + 10
    while MonotonicClock.now < limit {
      if let completion = completion(of: id) { return completion }
      turn(until: limit)
    }
    return Completion(error: TaskError(.unknown, "the test's patience is over"))
  }

  /// One wait, its events answered.
  func turn(until limit: Double) {
    var batch: [Event] = []
    core.wait(until: limit, into: &batch)
    events += batch
    for event in batch { answer(event, core) }
  }

  /// Runs until an event satisfies the condition. False after ten seconds.
  func runUntil(_ condition: (Event) -> Bool) -> Bool {
    let limit = MonotonicClock.now + 10
    var seen = 0
    while MonotonicClock.now < limit {
      while seen < events.count {
        if condition(events[seen]) { return true }
        seen += 1
      }
      turn(until: limit)
    }
    return false
  }

  /// Forgets the events so far.
  func forget() { events.removeAll() }

  func completion(of id: TaskID) -> Completion? {
    for case .completed(id, let completion) in events { return completion }
    return nil
  }
}

extension Completion {
  var text: String? { body?.text }
  var status: Int? { response?.status }
  var errorName: String? { error?.code.name }

  /// The values of a response field.
  func fields(_ name: StaticString) -> [String] {
    response.map { HeaderText.values(of: name, in: $0.headerBlock) } ?? []
  }
}

/// A response with a length.
func reply(_ status: String = "200 OK", _ fields: [String] = [], _ body: String = "") -> String {
  let lines = ["HTTP/1.1 \(status)"] + fields + ["Content-Length: \(body.utf8.count)"]
  return lines.joined(separator: "\r\n") + "\r\n\r\n" + body
}
