import SessionCore

/// The part of `httpscript.core` that is about streams.
enum StreamFunctions {
  static func all(_ scheduler: Scheduler) -> [NativeModule.Function] {
    [
      .init("stream_start") { call in start(call, scheduler) },
      command("stream_read", scheduler) { call in
        guard let operation = call.integer(2), let minimum = call.integer(3), let maximum = call.integer(4) else {
          return nil
        }
        return .read(operation: operation, minimum: minimum, maximum: maximum, timeout: call.number(5))
      },
      command("stream_write", scheduler) { call in
        guard let operation = call.integer(2), let bytes = call.bytes(3) else { return nil }
        return .write(operation: operation, Bytes(copying: bytes), timeout: call.number(4))
      },
      command("stream_withdraw", scheduler) { call in call.integer(2).map { .withdraw(operation: $0) } },
      command("stream_do", scheduler) { call in plain(call.string(2) ?? "") },
      webSocket("web_socket_send", scheduler) { call in
        guard let operation = call.integer(2), let bytes = call.bytes(3) else { return nil }
        return .send(operation: operation, Bytes(copying: bytes), isText: call.boolean(4))
      },
      webSocket("web_socket_receive", scheduler) { call in call.integer(2).map { .receive(operation: $0) } },
      webSocket("web_socket_ping", scheduler) { call in call.integer(2).map { .ping(operation: $0) } },
      webSocket("web_socket_withdraw", scheduler) { call in call.integer(2).map { .withdraw(operation: $0) } },
      webSocket("web_socket_close", scheduler) { call in
        guard let code = call.integer(2), let reason = call.bytes(3) else { return nil }
        return .close(code: code, reason: Bytes(copying: reason))
      },
    ]
  }

  /// What takes no arguments.
  private static func plain(_ word: String) -> StreamCommand? {
    switch word {
    case "close_read": .closeRead
    case "close_write": .closeWrite
    case "start_secure_connection": .startSecureConnection
    case "stop_secure_connection": .stopSecureConnection
    case "capture": .capture
    default: nil
    }
  }

  /// Task, session, whether there is a handler for challenges, whether one for better routes, then host and port, or name, type and
  /// domain of a service.
  private static func start(_ call: HostCall, _ scheduler: Scheduler) -> Outcome {
    guard let id = call.integer(1), let session = call.integer(2) else { return call.wrongType(1, "task") }
    guard let name = call.string(5) else { return call.wrongType(5, "string") }
    let place: StreamPlace
    if let port = call.integer(6) {
      place = .host(name, port: port)
    } else {
      place = .service(name: name, type: call.string(6) ?? "", domain: call.string(7) ?? "")
    }
    var request = StreamRequest(place)
    request.asksAboutServers = call.boolean(3)
    request.watchesRoutes = call.boolean(4)
    scheduler.submit(.startStream(TaskID(id), SessionID(session), request))
    return .returned
  }

  private static func webSocket(
    _ name: String, _ scheduler: Scheduler, _ make: @escaping (HostCall) -> WebSocketCommand?
  ) -> NativeModule.Function {
    CoreModule.submitting(name, scheduler) { task, call in make(call).map { .webSocket(task, $0) } }
  }

  private static func command(
    _ name: String, _ scheduler: Scheduler, _ make: @escaping (HostCall) -> StreamCommand?
  ) -> NativeModule.Function {
    CoreModule.submitting(name, scheduler) { task, call in make(call).map { .stream(task, $0) } }
  }
}
