/// Where a stream task leads.
public enum StreamPlace {
  /// A name or address (IPv6 without brackets) and a port.
  case host(String, port: Int)
  /// A service by its DNS-SD names ("printer", "_ipp._tcp", "example.org"): looked up when the task starts.
  case service(name: String, type: String, domain: String)
}

/// Everything the core needs to know of a stream task.
public struct StreamRequest {
  public var place: StreamPlace
  /// Seconds to connect, and for each TLS handshake. `nil`: the session's.
  public var requestTimeout: Double?
  /// Seconds in all. `nil`: the session's.
  public var resourceTimeout: Double?
  /// Whether `Event.challenge` is to be sent about servers that TLS begins with; `Answer.challenge` answers it.
  public var asksAboutServers = false
  /// There is a handler for `StreamEvent.betterRoute`.
  public var watchesRoutes = false

  public init(_ place: StreamPlace) { self.place = place }
}

/// What may be asked of a stream: a stream task, what a data task has become, a WebSocket. `operation` is a number of
/// the caller's, by which the event that answers is known.
public enum StreamCommand {
  /// At least `minimum` bytes (fewer only at the end), at most `maximum`. Answered by `StreamEvent.read`.
  case read(operation: Int, minimum: Int, maximum: Int, timeout: Double?)
  /// Answered by `StreamEvent.written` when the bytes have left.
  case write(operation: Int, Bytes, timeout: Double?)
  /// The operation is not waited for any more.
  case withdraw(operation: Int)
  /// These take their turn among the reads and writes.
  case closeRead
  case closeWrite
  case startSecureConnection
  case stopSecureConnection
  /// Answered by `StreamEvent.captured` once what was asked for before is done.
  case capture
}

/// What a stream has to tell. The counts are of all bytes read and written so far.
public enum StreamEvent {
  case read(operation: Int, Result<Bytes, TaskError>, atEnd: Bool, total: Int)
  case written(operation: Int, TaskError?, total: Int)
  /// The other side sends no more, or the input was closed.
  case readClosed
  case writeClosed
  /// The network has changed, and a new connection would be made another way. Only with `StreamRequest.watchesRoutes`.
  case betterRoute
  case captured
}

/// What a task must know to open a WebSocket.
public struct WebSocketRequest: Sendable {
  /// The subprotocols to be offered, the preferred one first.
  public var protocols: [String]
  /// Longer messages from the server end the task with `data_length_exceeds_maximum`.
  public var maximumMessage: Int

  public init(protocols: [String] = [], maximumMessage: Int = 1 << 20) {
    self.protocols = protocols
    self.maximumMessage = maximumMessage
  }
}

/// What may be asked of a WebSocket that is open.
public enum WebSocketCommand {
  /// Answered by `done` when the message has left. Text must be UTF-8.
  case send(operation: Int, Bytes, isText: Bool)
  /// Answered by `message`.
  case receive(operation: Int)
  /// Answered by `done` when the pong is there.
  case ping(operation: Int)
  /// The operation is not waited for any more.
  case withdraw(operation: Int)
  /// Sends a close frame and ends the task once the other side has answered it. `code` 0: without one.
  case close(code: Int, reason: Bytes)
}

public enum WebSocketEvent {
  /// The server has agreed. `subprotocol` "" is none.
  case opened(subprotocol: String, ResponseHead)
  /// Operation 0: what nobody had asked for when the WebSocket ended.
  case message(operation: Int, Result<Bytes, TaskError>, isText: Bool)
  case done(operation: Int, TaskError?)
  /// The server's close frame. 1005: without a code.
  case closed(code: Int, reason: Bytes)
}
