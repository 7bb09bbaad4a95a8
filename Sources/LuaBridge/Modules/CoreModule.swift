import SessionCore

/// `httpscript.core`: the scheduler and the core's commands as flat functions, for the standard library only.
///
/// Scripts never see it. Types are checked by the Lua side, which can name the option that is wrong; a wrong type here
/// is a fault of the standard library and raises like any host function.
enum CoreModule {
  static let name = "httpscript.core"

  static func make(_ scheduler: Scheduler, _ stores: StoreRegistry) -> NativeModule {
    NativeModule(
      name,
      functions: schedulerFunctions(scheduler) + taskFunctions(scheduler, stores)
        + DownloadFunctions.make(scheduler) + answerFunctions(scheduler)
        + LoadFunctions.all(scheduler) + StreamFunctions.all(scheduler)
        + diagnosticFunctions(scheduler))
  }

  /// now, wake, abandon, timer, cancel_timer.
  private static func schedulerFunctions(_ scheduler: Scheduler) -> [NativeModule.Function] {
    [
      .init("now") { call in
        call.results.append(MonotonicClock.now)
        return .returned
      },
      .init("wake") { call in
        guard let fiber = call.integer(1) else { return call.wrongType(1, "fiber") }
        scheduler.wake(fiber)
        return .returned
      },
      .init("abandon") { call in
        guard let fiber = call.integer(1) else { return call.wrongType(1, "fiber") }
        scheduler.abandoned = fiber
        return .returned
      },
      .init("timer") { call in
        guard let seconds = call.number(1), !seconds.isNaN else { return call.wrongType(1, "number") }
        call.results.append(scheduler.timers.add(deadline: MonotonicClock.now + max(0, seconds)))
        return .returned
      },
      .init("cancel_timer") { call in
        guard let timer = call.integer(1) else { return call.wrongType(1, "timer") }
        scheduler.timers.cancel(timer)
        return .returned
      },
    ]
  }

  /// session, start, call, cancel_call, cancel_calls, calls, suspend, resume, cancel, invalidate, set_priority,
  /// close_idle_connections.
  private static func taskFunctions(
    _ scheduler: Scheduler, _ stores: StoreRegistry
  ) -> [NativeModule.Function] {
    [
      .init("session") { call in
        guard let id = call.integer(1) else { return call.wrongType(1, "session") }
        switch ConfigurationArguments.read(call, from: 2, stores) {
        case .success(var configuration):
          configuration.trace = scheduler.trace
          scheduler.submit(.createSession(SessionID(id), configuration))
          return .returned
        case .failure(let problem):
          return call.raise(problem.message)
        }
      },
      .init("start") { call in
        guard let id = call.integer(1), let session = call.integer(2) else { return call.wrongType(1, "task") }
        guard let request = TaskArguments.read(call) else { return call.raise("incomplete task") }
        scheduler.start(TaskID(id), in: SessionID(session), request)
        return .returned
      },
      .init("call") { call in
        guard let identifier = call.integer(1) else { return call.wrongType(1, "identifier") }
        guard let session = call.integer(2) else { return call.wrongType(2, "session") }
        guard let request = TaskArguments.read(call) else { return call.raise("incomplete task") }
        let isBegun = scheduler.call(request, in: SessionID(session), identifier: identifier)
        return isBegun ? .parked : call.raise("cannot wait here")
      },
      .init("cancel_call") { call in
        guard let fiber = call.integer(1) else { return call.wrongType(1, "fiber") }
        scheduler.cancelCall(of: fiber)
        return .returned
      },
      .init("cancel_calls") { call in
        guard let session = call.integer(1) else { return call.wrongType(1, "session") }
        scheduler.cancelCalls(of: SessionID(session))
        return .returned
      },
      .init("calls") { call in
        guard let session = call.integer(1) else { return call.wrongType(1, "session") }
        let calls = scheduler.calls(of: SessionID(session))
        call.results.beginList(calls.count * 5)
        for one in calls {
          call.results.append(one.task.rawValue)
          call.results.append(one.fiber)
          call.results.append(one.identifier)
          call.results.append(one.method)
          call.results.append(one.url)
        }
        return .returned
      },
      command("suspend", scheduler) { .suspendTask(TaskID($0)) },
      command("resume", scheduler) { .resumeTask(TaskID($0)) },
      command("cancel", scheduler) { .cancelTask(TaskID($0)) },
      .init("set_priority") { call in
        guard let id = call.integer(1), let priority = call.number(2) else { return call.wrongType(2, "number") }
        scheduler.submit(.setPriority(TaskID(id), priority))
        return .returned
      },
      command("close_idle_connections", scheduler) { .closeIdleConnections(SessionID($0)) },
      command("forget_hosts", scheduler) { .forgetHosts(SessionID($0)) },
      command("write_cache", scheduler) { .writeCache(SessionID($0)) },
      // use_keyring(storage, waiter, host | nil, is_proxy)
      .init("use_keyring") { call in
        guard let storage = call.object(1, CredentialModule.storage) else { return call.wrongType(1, "storage") }
        guard let waiter = call.integer(2) else { return call.wrongType(2, "number") }
        let party = call.string(3).map { SpacePattern(host: $0, isProxy: call.boolean(4)) }
        scheduler.submit(.useKeyring(storage, party, waiter: waiter))
        return .returned
      },
      .init("invalidate") { call in
        guard let id = call.integer(1) else { return call.wrongType(1, "session") }
        scheduler.submit(.invalidateSession(SessionID(id), cancellingTasks: call.boolean(2)))
        return .returned
      },
    ]
  }

  /// answer_redirect, answer_challenge, answer_response, allow, consumed, body_chunk, body_failed, new_body.
  private static func answerFunctions(_ scheduler: Scheduler) -> [NativeModule.Function] {
    [
      answer("answer_redirect", scheduler) { call in
        guard let method = call.string(3) else { return .redirect(call.boolean(2) ? .followProposed : .refuse) }
        return TaskArguments.request(call, method: method, at: 4, parts: 8).map { .redirect(.follow($0)) }
      },
      answer("answer_challenge", scheduler, ChallengeArguments.answer),
      answer("answer_response", scheduler) { call in
        switch call.string(2) {
        case "become_download": .response(.becomeDownload)
        case "become_stream": .response(.becomeStream)
        default: .response(call.boolean(2) ? .allow : .cancel)
        }
      },
      answer("answer_cache", scheduler) { call in .cache(call.boolean(2) ? cached(call) : nil) },
      .init("consumed") { call in
        guard let id = call.integer(1) else { return call.wrongType(1, "task") }
        scheduler.answer(TaskID(id), .dataConsumed)
        return .returned
      },
      .init("allow") { call in
        guard let id = call.integer(1) else { return call.wrongType(1, "task") }
        scheduler.answer(TaskID(id), .response(.allow))
        return .returned
      },
      answer("body_chunk", scheduler) { call in .bodyChunk(call.bytes(2).map(Bytes.init(copying:))) },
      answer("body_failed", scheduler) { call in
        .bodyFailed(TaskError(.handlerError, domain: .script, call.string(2) ?? "the body reader failed"))
      },
      answer("new_body", scheduler) { call in
        call.isNil(2) ? .newBody(nil) : TaskArguments.body(call, at: 2, parts: 4).map { .newBody($0) }
      },
    ]
  }

  /// uncaught, warn, stopping, counts, is_secret_field.
  private static func diagnosticFunctions(_ scheduler: Scheduler) -> [NativeModule.Function] {
    [
      .init("uncaught") { call in
        scheduler.uncaught(call.string(1) ?? "unknown error")
        return .returned
      },
      .init("warn") { call in
        scheduler.report(call.string(1) ?? "")
        return .returned
      },
      .init("stopping") { call in
        call.results.append(scheduler.isStopping)
        return .returned
      },
      .init("counts") { call in
        call.results.append(call.interpreter.liveObjects)
        call.results.append(call.interpreter.references)
        call.results.append(scheduler.outstandingTasks)
        return .returned
      },
      .init("is_secret_field") { call in
        guard let name = call.string(1) else { return call.wrongType(1, "string") }
        call.results.append(SecretName.isField(name[...]))
        return .returned
      },
    ]
  }

  /// What a handler wants stored: status, reason, fields, data, user information, storage; all nil for what there was.
  private static func cached(_ call: HostCall) -> CachedResponse {
    let head = ResponseHead(
      status: call.integer(3) ?? 0, reason: call.string(4) ?? "", httpVersion: "", url: "",
      headerBlock: HeaderField.block(TaskArguments.fields(call.bytes(5))), expectedContentLength: -1)
    let cached = CachedResponse(head: head, data: call.bytes(6).map(Bytes.init(copying:)) ?? Bytes(), storedAt: 0)
    cached.isUnchanged = call.isNil(3)
    cached.hasNewData = !call.isNil(6)
    cached.userInfo = call.bytes(7).map(Array.init) ?? []
    cached.storage = call.string(8).flatMap(CachedResponse.Storage.init) ?? .allowed
    return cached
  }

  private static func command(
    _ name: String, _ scheduler: Scheduler, _ make: @escaping (Int) -> Command
  ) -> NativeModule.Function {
    .init(name) { call in
      guard let id = call.integer(1) else { return call.wrongType(1, "integer") }
      scheduler.submit(make(id))
      return .returned
    }
  }

  static func answer(
    _ name: String, _ scheduler: Scheduler, _ make: @escaping (HostCall) -> Answer?
  ) -> NativeModule.Function {
    submitting(name, scheduler) { task, call in make(call).map { .answer(task, $0) } }
  }

  /// A function whose first argument is a task's number, and whose others are made into a command for it.
  static func submitting(
    _ name: String, _ scheduler: Scheduler, _ make: @escaping (TaskID, HostCall) -> Command?
  ) -> NativeModule.Function {
    .init(name) { call in
      guard let id = call.integer(1) else { return call.wrongType(1, "task") }
      guard let command = make(TaskID(id), call) else { return call.raise("incomplete arguments of \(name)") }
      scheduler.submit(command)
      return .returned
    }
  }
}
