import CTestShim
import Foundation
import Glibc

/// A TCP or Unix-socket server on loopback whose every byte the test decides.
///
/// Each connection runs the handler on a thread of its own. Requests read with
/// `Connection.readRequest` are recorded. Going out of scope stops the server: descriptors are shut
/// down, which wakes every handler, and the threads are waited for.
public final class ScriptedServer: Sendable {
  /// What runs for each connection; returning closes it, throwing does too.
  public typealias Handler = @Sendable (Connection) throws -> Void

  private let state: State
  private let place: Listener.Place
  /// The port, 0 for a Unix socket.
  public let port: Int

  /// Starts to listen at once.
  public init(_ place: Listener.Place = .ipv4, handler: @escaping Handler) throws {
    let listener = try Listener(place)
    self.place = place
    port = listener.port
    state = State(listener: listener.descriptor)
    Thread.detachNewThread { [state] in state.acceptLoop(handler) }
  }

  /// Answers every request of a connection in turn, keeping it open.
  public convenience init(
    _ place: Listener.Place = .ipv4, answer: @escaping @Sendable (ReceivedRequest) throws -> Reply
  ) throws {
    try self.init(
      place,
      handler: { connection in
        while let request = try connection.readRequest() {
          try connection.send(try answer(request), to: request)
        }
      })
  }

  deinit { stop() }

  /// The origin as a URL without a final slash; for a Unix socket one with a made-up host.
  public var url: String {
    switch place {
    case .ipv4: "http://127.0.0.1:\(port)"
    case .ipv6: "http://[::1]:\(port)"
    case .unix: "http://unix.test"
    }
  }

  /// Every request recorded so far, in the order the servers' threads finished reading them.
  public var requests: [ReceivedRequest] { state.withLock { $0.requests } }

  /// Method and target of every request so far.
  public var lines: [String] { requests.map(\.line) }

  /// Connections accepted so far.
  public var connectionCount: Int { state.withLock { $0.accepted } }

  /// The largest number of connections that were open at one time.
  public var peakConnections: Int { state.withLock { $0.peak } }

  /// Answers each request once its body is there, which it lets come (`Expect: 100-continue`).
  public static func continuing(
    answer: @escaping @Sendable (ReceivedRequest) throws -> Reply
  ) throws -> ScriptedServer {
    try ScriptedServer { connection in
      while var request = try connection.readHead() {
        if request["Expect"] != nil { try connection.send("HTTP/1.1 100 Continue\r\n\r\n") }
        try connection.readBody(of: &request)
        connection.recordNow(request)
        try connection.send(answer(request), to: request)
      }
    }
  }

  /// Forgets the requests recorded so far.
  public func forget() { state.withLock { $0.requests = [] } }

  /// Stops listening, ends every connection and waits for their threads.
  public func stop() { state.stop() }
}

/// What the accept thread, the connection threads and the owner share.
private final class State: @unchecked Sendable {
  private let condition = NSCondition()
  private let listener: Int32
  private var open: Set<Int32> = []
  private var threads = 1
  private var stopping = false
  var requests: [ReceivedRequest] = []
  var accepted = 0
  var peak = 0

  init(listener: Int32) { self.listener = listener }

  func withLock<Value>(_ body: (State) -> Value) -> Value {
    condition.lock()
    defer { condition.unlock() }
    return body(self)
  }

  func acceptLoop(_ handler: @escaping ScriptedServer.Handler) {
    while true {
      let descriptor = ctest_accept(listener)
      if descriptor >= 0 {
        begin(descriptor, handler)
      } else if errno != EINTR && errno != ECONNABORTED {
        break
      }
    }
    close(listener)
    leave()
  }

  private func begin(_ descriptor: Int32, _ handler: @escaping ScriptedServer.Handler) {
    let index: Int? = withLock { state in
      if state.stopping { return nil }
      state.open.insert(descriptor)
      state.threads += 1
      state.accepted += 1
      state.peak = max(state.peak, state.open.count)
      return state.accepted - 1
    }
    guard let index else {
      close(descriptor)
      return
    }
    var on: Int32 = 1
    setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
    Thread.detachNewThread { self.serve(descriptor, index, handler) }
  }

  private func serve(_ descriptor: Int32, _ index: Int, _ handler: ScriptedServer.Handler) {
    let connection = Connection(descriptor: descriptor, index: index) { request in
      self.withLock { $0.requests.append(request) }
    }
    try? handler(connection)
    withLock { _ = $0.open.remove(descriptor) }
    close(descriptor)
    leave()
  }

  private func leave() {
    withLock { state in
      state.threads -= 1
      state.condition.broadcast()
    }
  }

  func stop() {
    condition.lock()
    defer { condition.unlock() }
    if !stopping {
      stopping = true
      shutdown(listener, Int32(SHUT_RDWR))
      for descriptor in open { shutdown(descriptor, Int32(SHUT_RDWR)) }
    }
    let deadline = Date(timeIntervalSinceNow: 5)
    while threads > 0, condition.wait(until: deadline) {}
  }
}
