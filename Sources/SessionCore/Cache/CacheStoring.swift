/// What of a response may be stored, and what becomes of what is stored when a response comes (RFC 9111 §3, §4.3, §4.4).
extension CacheRules {
  /// The head of a response that came for a request.
  struct Received {
    var status: Int
    var reason: String
    var httpVersion: String
    var fields: MessageFields
    var requestedAt: Double
    var receivedAt: Double
    /// The credentials came into it by a challenge, so that the request does not tell whose response this is.
    var answeredChallenge = false
  }

  /// The response as it is to be stored, without its body; nil where it must not be, or where that would be of no use.
  func storable(_ request: CacheRequest, _ response: Received) -> StoredResponse? {
    let directives = CacheDirectives(response.fields.all("cache-control"))
    guard request.method == "GET", response.status >= 200, response.status != 304,
      !request.directives.has("no-store"), isAllowed(response, directives)
    else { return nil }
    guard
      let selecting = try? SelectingFields(response: response.fields, directives: directives, request: request)
    else { return nil }
    var stored = StoredResponse(
      key: request.key, status: response.status, reason: response.reason, httpVersion: response.httpVersion,
      fields: Self.withoutConnectionFields(response.fields, directives), selecting: selecting,
      requestedAt: response.requestedAt, receivedAt: response.receivedAt, length: 0)
    guard takePart(response, &stored), isUseful(stored, directives) else { return nil }
    return stored
  }

  /// A POST's answer that says it is what a GET of the same URL would give (RFC 9110 §9.3.3).
  func storableAsGet(_ request: CacheRequest, _ response: Received, contentLocation: String?) -> StoredResponse? {
    guard request.method == "POST", response.status == 200, contentLocation == request.key else { return nil }
    var asked = request
    asked.method = "GET"
    guard let stored = storable(asked, response), stored.freshness.isExplicit else { return nil }
    return stored
  }

  /// §3: the response does not forbid it, and says or implies for how long it holds.
  private func isAllowed(_ response: Received, _ directives: CacheDirectives) -> Bool {
    if directives.has("must-understand") {
      guard Self.isUnderstood(response.status) else { return false }
    } else if directives.has("no-store") {
      return false
    }
    if response.answeredChallenge, !["public", "must-revalidate", "s-maxage"].contains(where: directives.has) {
      return false
    }
    return ["public", "private", "max-age"].contains(where: directives.has) || response.fields.has("expires")
      || Freshness.mayGuess(response.status, directives)
  }

  /// The status codes whose demands on a cache are known here.
  private static func isUnderstood(_ status: Int) -> Bool {
    switch status {
    case 200, 203, 204, 206, 300, 301, 302, 303, 307, 308, 404, 405, 410, 414, 501: return true
    default: return false
    }
  }

  /// It will be fresh or can be validated; otherwise nobody would ever be given it.
  private func isUseful(_ stored: StoredResponse, _ directives: CacheDirectives) -> Bool {
    if stored.hasValidator { return true }
    if directives.hasUnqualified("no-cache") { return false }
    let staleUses = ["stale-while-revalidate", "stale-if-error"].contains { directives.seconds($0).number ?? 0 > 0 }
    return staleUses || stored.freshness.isFresh(at: stored.receivedAt)
  }

  /// Of a 206, which part it is. False for one that does not say.
  private func takePart(_ response: Received, _ stored: inout StoredResponse) -> Bool {
    guard response.status == 206 else { return true }
    guard let range = response.fields.first("content-range").flatMap({ ContentRange($0) }), let bytes = range.bytes,
      let total = range.length
    else { return false }
    stored.part = StoredResponse.Part(first: bytes.lowerBound, total: total)
    stored.length = bytes.count
    return true
  }

  // MARK: Fields

  private static let connectionFields = [
    "connection", "keep-alive", "proxy-authenticate", "proxy-authentication-info", "proxy-authorization",
    "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade",
  ]

  /// What belongs to the connection is not stored, nor what `no-cache` names: that may only be used as it comes (§3.1).
  static func withoutConnectionFields(_ fields: MessageFields, _ directives: CacheDirectives) -> MessageFields {
    let named = fields.tokens("connection") + directives.fields("no-cache")
    return MessageFields(
      fields.lines.filter { line in
        !connectionFields.contains { HeaderText.equalNames($0, line.name) }
          && !named.contains { HeaderText.equalNames($0, line.name) }
      })
  }

  /// Fields that say how the stored bytes are to be read: those of a 304 or of HEAD are about other bytes (§3.2).
  private static let bodyFields = ["content-length", "content-encoding", "content-range"]

  /// A stored response with the fields of a later one put in the place of its own (§3.2).
  func freshened(_ stored: StoredResponse, by response: Received) -> StoredResponse {
    var result = stored
    let directives = CacheDirectives(response.fields.all("cache-control"))
    let news = Self.withoutConnectionFields(response.fields, directives).lines.filter { line in
      !Self.bodyFields.contains { HeaderText.equalNames($0, line.name) }
    }
    // What is said of the age is said of the response that says it.
    result.fields.remove("age")
    result.fields.lines.removeAll { line in news.contains { HeaderText.equalNames($0.name, line.name) } }
    result.fields.lines += news
    result.requestedAt = response.requestedAt
    result.receivedAt = response.receivedAt
    return result
  }

  /// A 304 is about this stored response (§4.3.4): it has the same validator, or none.
  func confirms(_ response: Received, _ stored: StoredResponse) -> Bool {
    guard let etag = response.fields.bytes("etag"), StoredResponse.isStrong(etag), let known = stored.strongETag else {
      return true
    }
    return etag == known
  }

  /// The 304 to a condition of the caller's says that this stored response is the one the caller has.
  func isConfirmed(_ stored: StoredResponse, by response: Received, for request: CacheRequest) -> Bool {
    guard confirms(response, stored) else { return false }
    let asked = request.fields
    if let etag = stored.etag { return (response.fields.bytes("etag") ?? asked.bytes("if-none-match")) == etag }
    guard let modified = stored.lastModified else { return false }
    return !asked.has("if-none-match")
      && (response.fields.bytes("last-modified") ?? asked.bytes("if-modified-since")) == modified
  }

  /// What the answer to HEAD makes of a stored response (§4.3.5): brought up to date, or nil where it is another one now.
  func updated(_ stored: StoredResponse, byHead response: Received) -> StoredResponse? {
    let news = response.fields
    func differs(_ name: String, _ known: [UInt8]?) -> Bool { news.bytes(name).map { $0 != known } ?? false }
    if differs("etag", stored.etag) || differs("last-modified", stored.lastModified) { return nil }
    if let length = news.first("content-length"), stored.isComplete, length != String(stored.length) { return nil }
    return freshened(stored, by: response)
  }

  // MARK: Invalidation

  /// The keys of what an answer to a request that changes something makes void (§4.4): its own, and those that Location
  /// and Content-Location name on the same server.
  func invalidated(_ request: CacheRequest, _ response: Received, url: String) -> [String] {
    guard request.isUnsafe, (200..<400).contains(response.status) else { return [] }
    var keys = [request.key]
    guard case .success(let here) = URLParts.parse(url) else { return keys }
    for name in ["location", "content-location"] {
      guard let reference = response.fields.first(name), !reference.isEmpty,
        case .success(let target) = URLParts.resolve(reference, against: url),
        case .success(let there) = URLParts.parse(target), RedirectRules.sameOrigin(here, there)
      else { continue }
      keys.append(CacheKey.make(target, realm: request.realm))
    }
    return keys
  }

  // MARK: Parts

  /// Two parts of one representation put together: the later one's fields, and where the bytes of each go. Nil where
  /// they are not known to belong together, or leave a gap (§3.4).
  func combined(_ stored: StoredResponse, with later: StoredResponse) -> Combination? {
    guard let part = stored.part, let next = later.part, part.total == next.total, let etag = stored.strongETag,
      etag == later.strongETag, stored.bounds.upperBound >= later.bounds.lowerBound,
      later.bounds.upperBound >= stored.bounds.lowerBound
    else { return nil }
    let whole =
      min(
        stored.bounds.lowerBound, later.bounds.lowerBound)..<max(
        stored.bounds.upperBound, later.bounds.upperBound)
    var result = later
    result.length = whole.count
    result.part = StoredResponse.Part(first: whole.lowerBound, total: part.total)
    if whole == 0..<part.total {
      result.part = nil
      result.status = 200
      result.reason = "OK"
      result.fields.remove("content-range")
      result.fields.set("Content-Length", String(whole.count))
    } else {
      result.fields.set("Content-Range", "bytes \(whole.lowerBound)-\(whole.upperBound - 1)/\(part.total)")
      result.fields.set("Content-Length", String(whole.count))
    }
    return Combination(
      response: result, before: later.bounds.lowerBound - whole.lowerBound,
      after: whole.upperBound - later.bounds.upperBound)
  }

  struct Combination: Equatable {
    var response: StoredResponse
    /// Bytes of the stored part that come before the later one's …
    var before: Int
    /// … and how many of its last ones come after.
    var after: Int
  }
}
