/// What is to be done about a request, by what is stored (RFC 9111 §4, RFC 5861).
enum CacheDecision: Equatable {
  /// Ask the server.
  case load(CacheLoad)
  /// Give out what is stored.
  case serve(StoredResponse, CacheAnswer)
  /// Give it out, and bring it up to date behind the caller's back.
  case serveAndRevalidate(StoredResponse, CacheAnswer)
  /// `only-if-cached`, and nothing is there: 504.
  case gatewayTimeout
  /// The policy forbids to ask, and nothing is there.
  case unavailable
}

/// In what form a stored response is given out.
enum CacheAnswer: Equatable {
  case whole
  /// To HEAD.
  case head
  /// 304: the caller's own condition says that it has it.
  case notModified
  /// 206, these bytes of the whole.
  case slice(ClosedRange<Int>)
}

/// A request that goes to the server, as far as the cache has a part in it.
struct CacheLoad: Equatable {
  /// Fields to add to the request.
  var conditions: [HeaderField] = []
  /// What these are about: a 304 confirms it, a 206 completes it.
  var stored: StoredResponse?
  /// Until when (Unix seconds) `stored` may be given out in place of an error (RFC 5861 §4).
  var fallbackUntil = -Double.infinity
  /// The response may be stored.
  var mayStore = true

  /// 304 is an answer to the cache, and not to the caller.
  var isValidation: Bool { !conditions.isEmpty && (stored?.isComplete ?? false) }
  /// The rest of a part is asked for.
  var isCompletion: Bool { !conditions.isEmpty && !(stored?.isComplete ?? true) }

  /// Past the cache.
  static var past: CacheLoad { CacheLoad(mayStore: false) }
}

/// The rules by which a decision is made. No clock, no disk.
struct CacheRules {
  /// - Parameter variants: All that is stored for the request's key.
  func decide(_ request: CacheRequest, _ variants: [StoredResponse], now: Double) -> CacheDecision {
    guard request.isCacheable, !request.isBeyondCache, !request.directives.has("no-store") else {
      return request.policy == .returnCacheDataDontLoad ? .unavailable : .load(.past)
    }
    if request.policy == .reloadIgnoringLocalCacheData { return .load(CacheLoad()) }
    guard let stored = select(request, variants) else { return nothingStored(request) }
    guard let answer = answer(request, stored) else { return incomplete(request, stored) }
    return judge(request, stored, answer, now)
  }

  /// The stored response that a request selects: the latest of those that match, a whole one before a part (§4.1).
  func select(_ request: CacheRequest, _ variants: [StoredResponse]) -> StoredResponse? {
    let matching = variants.filter { $0.selecting.match(request) }
    let latest = { (list: [StoredResponse]) in list.max { ($0.date, $0.receivedAt) < ($1.date, $1.receivedAt) } }
    if let whole = latest(matching.filter(\.isComplete)) { return whole }
    return latest(matching.filter { answer(request, $0) != nil }) ?? latest(matching)
  }

  private func nothingStored(_ request: CacheRequest) -> CacheDecision {
    if request.policy == .returnCacheDataDontLoad { return .unavailable }
    return request.directives.has("only-if-cached") ? .gatewayTimeout : .load(CacheLoad())
  }

  // MARK: The form of the answer

  /// How a stored response answers a request, nil where it cannot.
  private func answer(_ request: CacheRequest, _ stored: StoredResponse) -> CacheAnswer? {
    if request.isHead { return stored.isComplete ? .head : nil }
    if request.isConditional, stored.status == 200, isMet(request, stored) { return .notModified }
    guard let range = request.range else { return stored.isComplete ? .whole : nil }
    // A range is of a 200; of anything else the whole is the answer.
    guard stored.status == 200 || stored.status == 206 else { return .whole }
    let length = stored.part?.total ?? stored.length
    guard let wanted = range.resolve(length: length), stored.bounds.contains(wanted.lowerBound),
      stored.bounds.contains(wanted.upperBound)
    else { return nil }
    return .slice(wanted)
  }

  /// The caller's condition says that it has this response already (§4.3.2).
  private func isMet(_ request: CacheRequest, _ stored: StoredResponse) -> Bool {
    let wanted = request.fields.all("if-none-match")
    if !wanted.isEmpty {
      guard let etag = stored.etag.map({ String(decoding: $0, as: UTF8.self) }) else { return false }
      let members = wanted.flatMap { $0.split(separator: ",") }.map(MessageFields.trimmed)
      return members.contains { $0 == "*" || Self.weak($0) == Self.weak(etag) }
    }
    guard let since = request.fields.first("if-modified-since").flatMap(Freshness.date) else { return false }
    let modified = stored.fields.first("last-modified").flatMap(Freshness.date) ?? stored.date
    return modified <= since
  }

  /// An entity tag without the mark of weakness.
  private static func weak(_ etag: String) -> Substring { etag.hasPrefix("W/") ? etag.dropFirst(2) : etag[...] }

  /// What is stored does not hold what is wanted.
  private func incomplete(_ request: CacheRequest, _ stored: StoredResponse) -> CacheDecision {
    if request.policy == .returnCacheDataDontLoad { return .unavailable }
    if request.directives.has("only-if-cached") { return .gatewayTimeout }
    guard !request.isHead, !request.isConditional, request.range == nil, let part = stored.part, part.first == 0,
      let etag = stored.strongETag
    else { return .load(CacheLoad()) }
    let conditions = [HeaderField("Range", "bytes=\(stored.length)-"), HeaderField("If-Range", bytes: etag)]
    return .load(CacheLoad(conditions: conditions, stored: stored))
  }

  // MARK: Fresh or stale

  private func judge(
    _ request: CacheRequest, _ stored: StoredResponse, _ answer: CacheAnswer, _ now: Double
  ) -> CacheDecision {
    if request.policy.ignoresAge { return .serve(stored, answer) }
    let response = stored.directives
    let freshness = stored.freshness
    let isFresh = freshness.isFresh(at: now)
    if request.policy == .reloadRevalidatingCacheData {
      // What never changes is not asked for again while it is fresh (RFC 8246).
      if isFresh, response.has("immutable"), request.directives.isEmpty { return .serve(stored, answer) }
      return validate(request, stored, now)
    }
    let mustAsk = response.hasUnqualified("no-cache") || request.directives.has("no-cache")
    if mustAsk || isTooOld(request, freshness, now) { return validate(request, stored, now) }
    if isFresh { return .serve(stored, answer) }
    return stale(request, stored, answer, now)
  }

  /// The request wants it younger, or fresh for longer, than it is (§5.2.1).
  private func isTooOld(_ request: CacheRequest, _ freshness: Freshness, _ now: Double) -> Bool {
    switch request.directives.seconds("max-age") {
    case .value(let limit): if freshness.age(at: now) > limit { return true }
    case .invalid: return true
    case .absent: break
    }
    guard let margin = request.directives.seconds("min-fresh").number else { return false }
    return freshness.lifetime - freshness.age(at: now) < margin
  }

  private func stale(
    _ request: CacheRequest, _ stored: StoredResponse, _ answer: CacheAnswer, _ now: Double
  ) -> CacheDecision {
    let staleness = stored.freshness.staleness(at: now)
    guard !stored.directives.has("must-revalidate") else { return validate(request, stored, now) }
    if let limit = request.directives.maximumStaleness, staleness <= limit { return .serve(stored, answer) }
    let window = stored.directives.seconds("stale-while-revalidate").number
    if let window, staleness <= window, request.directives.isEmpty { return .serveAndRevalidate(stored, answer) }
    return validate(request, stored, now)
  }

  private func validate(_ request: CacheRequest, _ stored: StoredResponse, _ now: Double) -> CacheDecision {
    if request.directives.has("only-if-cached") { return .gatewayTimeout }
    var load = CacheLoad(stored: stored, fallbackUntil: fallbackLimit(request, stored))
    // The answer to HEAD, to a range or to a condition of the caller's is not the one a condition of ours would need.
    if !request.isHead, request.range == nil, !request.isConditional, stored.isComplete {
      load.conditions = Self.conditions(stored)
    }
    return .load(load)
  }

  static func conditions(_ stored: StoredResponse) -> [HeaderField] {
    var result: [HeaderField] = []
    if let etag = stored.etag { result.append(HeaderField("If-None-Match", bytes: etag)) }
    if let modified = stored.lastModified { result.append(HeaderField("If-Modified-Since", bytes: modified)) }
    return result
  }

  private func fallbackLimit(_ request: CacheRequest, _ stored: StoredResponse) -> Double {
    let response = stored.directives
    guard !response.has("must-revalidate"), !response.hasUnqualified("no-cache"),
      request.directives.isEmpty
        || request.directives.has("stale-if-error"), !request.isHead, request.range == nil, !request.isConditional
    else { return -.infinity }
    let windows = [response, request.directives].compactMap { $0.seconds("stale-if-error").number }
    guard let window = windows.max() else { return -.infinity }
    let freshness = stored.freshness
    return freshness.receivedAt + freshness.lifetime - freshness.initialAge + window
  }
}
