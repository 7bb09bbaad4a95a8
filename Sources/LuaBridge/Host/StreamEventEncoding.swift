import SessionCore

/// The events of streams and WebSockets.
extension Outbox {
  func append(_ task: TaskID, _ event: StreamEvent) {
    switch event {
    case .read(let operation, let result, let atEnd, let total):
      append(.streamRead, task.rawValue)
      append(operation)
      append(total)
      switch result {
      case .success(let bytes):
        appendNil()
        append(borrowing: bytes)
        append(atEnd)
      case .failure(let error): append(error)
      }
    case .written(let operation, let error, let total):
      append(.streamWritten, task.rawValue)
      append(operation)
      append(total)
      if let error { append(error) }
    case .readClosed:
      append(.streamClosed, task.rawValue)
      append("read_closed")
    case .writeClosed:
      append(.streamClosed, task.rawValue)
      append("write_closed")
    case .betterRoute:
      append(.streamClosed, task.rawValue)
      append("better_route_discovered")
    case .captured:
      append(.streamCaptured, task.rawValue)
    }
  }

  func append(_ task: TaskID, _ event: WebSocketEvent) {
    switch event {
    case .opened(let subprotocol, let head):
      append(.webSocketOpened, task.rawValue)
      append(subprotocol)
      append(head)
    case .message(let operation, let result, let isText):
      append(.webSocketMessage, task.rawValue)
      append(operation)
      switch result {
      case .success(let bytes):
        appendNil()
        append(borrowing: bytes)
        append(isText)
      case .failure(let error): append(error)
      }
    case .done(let operation, let error):
      append(.webSocketDone, task.rawValue)
      append(operation)
      if let error { append(error) }
    case .closed(let code, let reason):
      append(.webSocketClosed, task.rawValue)
      append(code)
      append(borrowing: reason)
    }
  }
}
