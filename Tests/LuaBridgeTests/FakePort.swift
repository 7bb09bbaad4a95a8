import Glibc

@testable import LuaBridge
@testable import SessionCore

/// A core without transfers: answers each task from a closure, and notes what was submitted.
final class FakePort: Port {
  private(set) var commands: [Command] = []
  private var pending: [Event] = []
  private let descriptors: (read: Int32, write: Int32)
  /// What a task's start brings about; default: 200 with the URL as the body.
  var onStart: (TaskID, TaskRequest) -> [Event] = { id, task in
    [.completed(id, Completion(response: FakePort.head(task.request.url), body: Bytes(task.request.url)))]
  }
  /// What an answer brings about.
  var onAnswer: (TaskID, Answer) -> [Event] = { _, _ in [] }
  var onCancel: (TaskID) -> [Event] = { id in
    [.completed(id, Completion(error: TaskError(.cancelled, "cancelled")))]
  }

  init() {
    var ends: [Int32] = [-1, -1]
    _ = pipe(&ends)
    descriptors = (ends[0], ends[1])
  }

  deinit {
    close(descriptors.read)
    close(descriptors.write)
  }

  var wakeDescriptor: Int32 { descriptors.write }
  let isBusyInBackground = false

  static func head(_ url: String, status: Int = 200) -> ResponseHead {
    ResponseHead(
      status: status, reason: "OK", httpVersion: "1.1", url: url,
      headerBlock: Bytes("Content-Type: text/plain\r\nX-Two: 1\r\nx-two: 2\r\n"), expectedContentLength: -1)
  }

  func submit(_ command: Command) {
    commands.append(command)
    switch command {
    case .answer(let id, let answer): pending += onAnswer(id, answer)
    case .cancelTask(let id), .cancelTaskKeeping(let id): pending += onCancel(id)
    case .invalidateSession(let id, _): pending.append(.sessionInvalidated(id))
    case .perform(let id, let work):
      work.run()
      pending.append(.performed(id, work))
    case .useKeyring(_, _, let waiter): pending.append(.keyringUsed(waiter))
    case .createSession, .startStream, .stream, .webSocket, .suspendTask, .resumeTask, .setPriority,
      .closeIdleConnections, .forgetHosts, .removeDownload, .keepDownload, .writeCache:
      break
    }
  }

  func start(_ task: TaskID, in session: SessionID, _ request: TaskRequest) { pending += onStart(task, request) }

  func abandon() { pending = [] }

  func wait(until deadline: Double?, into events: inout [Event]) {
    if pending.isEmpty {
      let seconds = deadline.map { max(0, $0 - MonotonicClock.now) } ?? 5
      var descriptor = pollfd(fd: descriptors.read, events: Int16(POLLIN), revents: 0)
      poll(&descriptor, 1, Int32((seconds * 1000).rounded(.up)))
    }
    events += pending
    pending = []
  }
}

/// A script run to its end, and what it reported.
struct ScriptRun {
  var ending: Scheduler.Ending
  var reports: [String]
  var references: Int
  var liveObjects: Int

  /// Runs `text` on a runtime of its own.
  init(_ text: String, port: FakePort = FakePort()) throws {
    let runtime = try Runtime(port: port)
    var reports: [String] = []
    runtime.scheduler.report = { reports.append($0) }
    ending = try runtime.run(Bytes(text), name: "=test")
    runtime.interpreter.collect()
    runtime.interpreter.collect()
    references = runtime.interpreter.references
    liveObjects = runtime.interpreter.liveObjects
    self.reports = reports
  }
}
