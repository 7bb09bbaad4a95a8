import SessionCore

/// Events as flat values for the dispatcher: kind, id, then the event's own.
extension Outbox {
  func append(_ kind: EventKind, _ id: Int) {
    append(kind.rawValue)
    append(id)
  }

  func append(_ event: Event) {
    switch event {
    case .completed(let task, let completion):
      append(.completed, task.rawValue)
      append(completion)
    case .willRedirect(let task, let head, let proposed):
      append(.redirect, task.rawValue)
      append(proposed)
      append(head)
    case .challenge(let task, let challenge):
      append(.challenge, task.rawValue)
      append(challenge)
      if let head = challenge.failureResponse { append(head) }
    case .informational(let task, let head):
      append(.informational, task.rawValue)
      append(head)
    case .response(let task, let head):
      append(.response, task.rawValue)
      append(head)
    case .data(let task, let bytes, let received, let expected):
      append(.data, task.rawValue)
      append(borrowing: bytes)
      append(received)
      append(expected)
    case .sentBodyData(let task, let sent, let total, let expected):
      append(.sent, task.rawValue)
      append(sent)
      append(total)
      append(expected)
    case .progress(let task, let received, let expected):
      append(.progress, task.rawValue)
      append(received)
      append(expected)
    case .needsBodyChunk(let task, let size):
      append(.bodyChunk, task.rawValue)
      append(size)
    case .needsBodyStream(let task):
      append(.bodyStream, task.rawValue)
    case .stream(let task, let event): append(task, event)
    case .webSocket(let task, let event): append(task, event)
    case .resumed(let task, let offset, let expected):
      append(.resumed, task.rawValue)
      append(offset)
      append(expected)
    case .resumeData(let task, let blob, let part, let kept):
      append(.resumeData, task.rawValue)
      append(borrowing: blob)
      append(part)
      append(kept)
    case .willCache(let task, let cached):
      append(.willCache, task.rawValue)
      append(cached)
    case .finishedDownloading(let task, let location):
      append(.finishedDownloading, task.rawValue)
      append(location)
    case .needsLoader(let task, let request):
      append(.loader, task.rawValue)
      append(request)
    // It is the fiber's that waits for it (`Scheduler.perform`), and no handler's.
    case .performed: break
    case .loadDrained(let task):
      append(.loadDrained, task.rawValue)
    case .waitingForConnectivity(let task):
      append(.waitingForConnectivity, task.rawValue)
    case .sessionInvalidated(let session):
      append(.sessionInvalidated, session.rawValue)
    case .keyringUsed(let waiter): append(.keyringUsed, waiter)
    }
  }

  /// Six values: status, reason, version, url, header block, expected length.
  func append(_ head: ResponseHead) {
    append(head.status)
    append(head.reason)
    append(head.httpVersion)
    append(head.url)
    append(borrowing: head.headerBlock)
    append(head.expectedContentLength)
    // Absent is false; it is the last value wherever a head is.
    if head.isFromCache { append(true) }
  }

  /// Four values and a head: data, when it was stored, what a script put beside it (or nil), storage.
  func append(_ cached: CachedResponse) {
    append(borrowing: cached.data)
    append(cached.storedAt)
    if cached.userInfo.isEmpty { appendNil() } else { append(cached.userInfo) }
    append(cached.storage.rawValue)
    append(cached.head)
  }

  /// Four values: method, url, fields (name and value, each ended by NUL), whether there is a body.
  private func append(_ request: Request) {
    append(request.method)
    append(request.url)
    append(TaskArguments.flat(request.headers))
    append(request.hasBody)
  }

  /// Status first (nil without a response), so that the common case is read with few locals.
  func append(_ completion: Completion) {
    if let error = completion.error { append(error) } else { appendNil() }
    if let body = completion.body { append(borrowing: body) } else { appendNil() }
    append(metricsOf: completion)
    if completion.redirects.isEmpty { appendNil() } else { append(completion.redirects) }
    // The head that `Event.response` has told stands for itself.
    if completion.isResponseKnown { append(true) } else if let head = completion.response { append(head) }
  }

  private func append(_ redirects: [RedirectHop]) {
    beginList(redirects.count * 3)
    for hop in redirects {
      append(hop.status)
      append(hop.from)
      append(hop.to)
    }
  }

  /// A table of the error's fields, as `http.errors` takes them.
  func append(_ error: TaskError) {
    beginRecord(3 + (error.url == nil ? 0 : 1) + (error.underlying == nil ? 0 : 1))
    append("domain")
    append(error.domain.rawValue)
    append("code")
    append(error.code.name)
    append("message")
    append(error.message)
    if let url = error.url {
      append("url")
      append(url)
    }
    guard let underlying = error.underlying else { return }
    append("underlying")
    beginRecord(3)
    append("source")
    append(underlying.source.rawValue)
    append("code")
    append(underlying.code)
    append("message")
    append(underlying.message)
  }
}
