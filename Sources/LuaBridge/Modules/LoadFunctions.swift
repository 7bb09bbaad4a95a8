import SessionCore

/// What a protocol class of the script says about a load it has taken on, as functions of `httpscript.core`.
enum LoadFunctions {
  /// loader, load_response, load_data, load_redirect, load_finished, load_failed.
  static func all(_ scheduler: Scheduler) -> [NativeModule.Function] {
    [
      CoreModule.answer("loader", scheduler) { call in .loader(call.boolean(2) ? .script : .network) },
      CoreModule.answer("load_response", scheduler) { call in head(call).map { .load(.response($0)) } },
      .init("load_data") { call in
        guard let id = call.integer(1), let bytes = call.bytes(2) else { return call.wrongType(2, "string") }
        scheduler.submit(.answer(TaskID(id), .load(.data(Bytes(copying: bytes)))))
        if call.boolean(3) { scheduler.submit(.answer(TaskID(id), .load(.tellWhenDrained))) }
        return .returned
      },
      CoreModule.answer("load_redirect", scheduler) { call in
        guard let head = head(call), let method = call.string(6),
          let request = TaskArguments.request(call, method: method, at: 7, parts: 11)
        else { return nil }
        return .load(.redirect(head, request))
      },
      CoreModule.answer("load_finished", scheduler) { _ in .load(.finished) },
      CoreModule.answer("load_failed", scheduler) { call in
        .load(.failed(TaskError(.handlerError, domain: .script, call.string(2) ?? "the load failed")))
      },
    ]
  }

  /// Status, reason, version, fields.
  private static func head(_ call: HostCall) -> LocalHead? {
    guard let status = call.integer(2) else { return nil }
    return LocalHead(
      status: status, reason: call.string(3) ?? "", httpVersion: call.string(4) ?? "1.1",
      headers: TaskArguments.fields(call.bytes(5)))
  }
}
