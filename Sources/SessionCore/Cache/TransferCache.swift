/// The cache's part in a transfer: before the request, at the response's head, and when its body is whole.
extension Transfer {
  // MARK: Before the request

  /// Looks whether the request can be answered from what is stored. True: a load has been found, or the task has ended.
  func consultCache() -> Bool {
    guard let cache = session.cache else {
      fail(nothingStored)
      return true
    }
    if let next = caching?.next { return follow(next, cache) }
    caching = nil
    let request = makeCacheRequest()
    switch cache.decide(request, now: WallClock.now) {
    case .load(let load):
      caching = CacheTransaction(request, load)
      return false
    case .serve(let stored, let answer): return serve(stored, answer, request, cache)
    case .serveAndRevalidate(let stored, let answer):
      guard serve(stored, answer, request, cache) else { return false }
      core.revalidate(self.request, options, in: session)
      return true
    case .gatewayTimeout:
      answer(with: StoredLoad(.gatewayTimeout, nil, 0..<0))
      return true
    case .unavailable:
      fail(nothingStored)
      return true
    }
  }

  var cachePolicy: CachePolicy { options.cachePolicy ?? session.configuration.cachePolicy }

  private var nothingStored: TaskError {
    TaskError(.resourceUnavailable, "no stored response, and the cache policy forbids to ask", url: url)
  }

  private func follow(_ next: CacheTransaction.Next, _ cache: ResponseCache) -> Bool {
    guard let caching else { return false }
    caching.next = nil
    switch next {
    case .serve(let stored, let answer):
      self.caching = nil
      if serve(stored, answer, caching.request, cache) { return true }
      self.caching = CacheTransaction(caching.request, CacheLoad())
    case .loadPlainly: self.caching = CacheTransaction(caching.request, CacheLoad())
    }
    return false
  }

  /// False: the body is damaged, and the request goes to the server.
  private func serve(
    _ stored: StoredResponse, _ answer: CacheAnswer, _ request: CacheRequest, _ cache: ResponseCache
  ) -> Bool {
    let (head, range) = answer.make(stored, now: WallClock.now)
    guard let body = cache.body(of: stored), range.map({ $0.upperBound <= body.length }) ?? true else {
      let mayAsk = request.policy != .returnCacheDataDontLoad && !request.directives.has("only-if-cached")
      caching = CacheTransaction(request, CacheLoad())
      if !mayAsk { fail(TaskError(.resourceUnavailable, "the stored response is damaged", url: url)) }
      return !mayAsk
    }
    self.answer(with: StoredLoad(head, range == nil ? nil : body, range ?? 0..<0))
    return true
  }

  private func answer(with load: StoredLoad) {
    let shown = url
    if session.configuration.trace { Trace.note("\(request.method) \(url) is answered from the cache") }
    beginWith(load)
    url = shown
  }

  private func makeCacheRequest() -> CacheRequest {
    var fields = request.headers
    for field in session.defaultHeaders
    where !request.headers.contains(where: { HeaderText.equalNames($0.name, field.name) }) {
      if !options.decompress, HeaderText.equalNames(field.name, "accept-encoding") { continue }
      fields.append(field)
    }
    let byHand = MessageFields(fields)
    var result = CacheRequest(
      method: request.method, key: CacheKey.make(url, realm: session.cacheRealm), fields: byHand, policy: cachePolicy,
      identity: cacheIdentity, cookies: { [unowned self] in cookieField ?? byHand.bytes("cookie") })
    result.realm = session.cacheRealm
    return result
  }

  // MARK: The head

  /// What the head of a response from the network means to the cache; nil when it goes to the caller.
  func cacheVerdict(_ caching: CacheTransaction) -> TaskMachine.Verdict? {
    guard let cache = session.cache, load == nil else { return nil }
    let stored = caching.load.stored
    guard intake.hasCachingFields || stored != nil || caching.request.isUnsafe else { return nil }
    let response = received(caching)
    if caching.request.isUnsafe {
      changed(caching, response, cache)
      return nil
    }
    if let stored, let verdict = verdict(caching, response, about: stored, cache) { return verdict }
    if caching.request.method == "GET" { prepareToStore(caching, response, cache) }
    return nil
  }

  private func received(_ caching: CacheTransaction) -> CacheRules.Received {
    CacheRules.Received(
      status: intake.status, reason: intake.reason, httpVersion: intake.httpVersion,
      fields: intake.block.withBytes { MessageFields(block: $0) }, requestedAt: caching.requestedAt,
      receivedAt: WallClock.now,
      answeredChallenge: cacheIdentity == nil && auth.map { !$0.server.answer.isNone } ?? false)
  }

  private func verdict(
    _ caching: CacheTransaction, _ response: CacheRules.Received, about stored: StoredResponse, _ cache: ResponseCache
  ) -> TaskMachine.Verdict? {
    switch response.status {
    case 304:
      if caching.load.isValidation { return confirmed(caching, response, stored, cache) }
      if caching.request.isConditional, cache.rules.isConfirmed(stored, by: response, for: caching.request) {
        cache.update(stored, by: cache.rules.freshened(stored, by: response))
      }
    case 206 where caching.load.isCompletion: return completing(caching, response, stored, cache)
    case 416 where caching.load.isCompletion:
      cache.remove(stored)
      caching.next = .loadPlainly
      return .again(needsBody: false)
    case 200 where caching.request.isHead:
      if let news = cache.rules.updated(stored, byHead: response) {
        cache.update(stored, by: news)
      } else {
        cache.remove(stored)
      }
    case 500, 502, 503, 504:
      guard caching.mayFallBack else { return nil }
      caching.next = .serve(stored, .whole)
      return .again(needsBody: false)
    default: break
    }
    return nil
  }

  private func confirmed(
    _ caching: CacheTransaction, _ response: CacheRules.Received, _ stored: StoredResponse, _ cache: ResponseCache
  ) -> TaskMachine.Verdict {
    if cache.rules.confirms(response, stored) {
      let news = cache.rules.freshened(stored, by: response)
      cache.update(stored, by: news)
      caching.next = .serve(news, .whole)
    } else {
      cache.remove(stored)
      caching.next = .loadPlainly
    }
    return .again(needsBody: false)
  }

  private func completing(
    _ caching: CacheTransaction, _ response: CacheRules.Received, _ stored: StoredResponse, _ cache: ResponseCache
  ) -> TaskMachine.Verdict {
    caching.next = .loadPlainly
    if let rest = cache.rules.storable(caching.request, response), let whole = cache.rules.combined(stored, with: rest),
      whole.response.isComplete
    {
      caching.begin(rest, cache.makeRecorder(rest, expectedLength: intake.contentLength), isCompletion: true)
    }
    return .again(needsBody: false)
  }

  private func prepareToStore(_ caching: CacheTransaction, _ response: CacheRules.Received, _ cache: ResponseCache) {
    guard caching.load.mayStore else { return }
    if let storing = cache.rules.storable(caching.request, response) {
      caching.begin(storing, cache.makeRecorder(storing, expectedLength: intake.contentLength))
    } else if (200..<300).contains(response.status) {
      // What is stored is older than this, and this is not to be stored.
      let stored = caching.load.stored ?? cache.rules.select(caching.request, cache.variants(caching.request.key))
      if let stored { cache.remove(stored) }
    }
  }

  /// A request that may have changed something has been answered.
  private func changed(_ caching: CacheTransaction, _ response: CacheRules.Received, _ cache: ResponseCache) {
    cache.rules.invalidated(caching.request, response, url: url).forEach(cache.invalidate)
    let location = response.fields.first("content-location").flatMap { try? URLParts.resolve($0, against: url).get() }
    guard
      var storing = cache.rules.storableAsGet(
        caching.request, response, contentLocation: location.map { CacheKey.make($0, realm: caching.request.realm) })
    else { return }
    // It is newer than what it has just made void.
    storing.requestedAt = WallClock.now
    caching.begin(storing, cache.makeRecorder(storing, expectedLength: intake.contentLength))
  }

  // MARK: The end

  /// The response's body has come whole and could be decoded. True: a handler is asked before it is stored.
  func bodyRecorded() -> Bool {
    guard let caching, let cache = session.cache, let storing = caching.storing, let recorder = caching.recorder else {
      return false
    }
    if storing.part != nil, recorder.count != storing.length {
      caching.giveUp()
    } else if machine.state == .draining || !options.interest.contains(.cache) {
      storeRecorded(caching, storing, recorder, cache)
    } else {
      return true
    }
    return false
  }

  private func storeRecorded(
    _ caching: CacheTransaction, _ storing: StoredResponse, _ recorder: BodyRecorder, _ cache: ResponseCache
  ) {
    caching.giveUp()
    guard storing.part != nil else { return cache.store(storing, recorder) }
    let (stored, body) = cache.store(part: storing, recorder)
    if caching.isCompletion, let body, stored.isComplete {
      var stored = stored
      stored.place = .memory(body)
      caching.next = .serve(stored, .whole)
    }
  }

  /// Asks the handler about the response that is to be stored.
  func askCache() {
    guard let storing = caching?.storing, let recorder = caching?.recorder, let data = recorder.contents() else {
      caching?.giveUp()
      return advance(.cacheAnswered)
    }
    core.outbox.append(.willCache(id, CachedResponse(storing, data, url: url, now: WallClock.now)))
  }

  /// The handler's word: what to store, nil for nothing. What it left alone is as it was.
  func receiveCacheAnswer(_ answer: CachedResponse?) {
    guard case .askingCache = machine.state, let caching, let storing = caching.storing,
      let recorder = caching.recorder, let cache = session.cache
    else { return }
    caching.giveUp()
    if let answer, answer.storage != .notAllowed {
      var changed = storing
      answer.apply(to: &changed)
      if answer.hasNewData { cache.store(changed, answer.data) } else { cache.store(changed, recorder) }
    }
    advance(.cacheAnswered)
  }

  // MARK: Errors

  /// The request failed, and what is stored may be given out in its place (RFC 5861 §4).
  func fallsBack() -> Bool {
    guard let caching, caching.mayFallBack, machine.state == .transferring, !intake.isHeadComplete,
      let stored = caching.load.stored
    else { return false }
    caching.next = .serve(stored, .whole)
    error = nil
    return true
  }
}
