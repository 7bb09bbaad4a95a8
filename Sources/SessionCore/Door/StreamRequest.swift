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
  case captured
}
