/// The cache as scripts see it (`URLCache`'s methods).
extension ResponseCache {
  /// The cache of default sessions, in the user's cache directory.
  public static func standard(_ directories: Directories = .standard) -> ResponseCache {
    ResponseCache(directory: directories.cache, isStandard: true)
  }

  /// What is stored for a request, however old; nil for nothing.
  public func response(for request: Request) -> CachedResponse? {
    let asked = cacheRequest(request)
    guard let stored = rules.select(asked, variants(asked.key)), let body = body(of: stored),
      let data = body.bytes(0..<body.length)
    else { return nil }
    return CachedResponse(stored, data, url: request.url, now: WallClock.now)
  }

  /// Stores a response in the place of the one that answers the same requests, whether HTTP would let it be stored or
  /// not. False: it is too large, or varies with everything.
  public func store(_ cached: CachedResponse, for request: Request) -> Bool {
    let asked = cacheRequest(request)
    let now = WallClock.now
    var stored = StoredResponse(
      key: asked.key, status: cached.head.status, reason: cached.head.reason, httpVersion: cached.head.httpVersion,
      fields: MessageFields(), requestedAt: now, receivedAt: now, length: cached.data.count)
    cached.apply(to: &stored)
    guard cached.storage != .notAllowed, cached.data.count <= limit(stored.storage),
      let selecting = try? SelectingFields(response: stored.fields, directives: stored.directives, request: asked)
    else { return false }
    stored.selecting = selecting
    store(stored, cached.data)
    write()
    return true
  }

  /// Removes all that is stored for a URL.
  public func remove(url: String) { remove(key: CacheKey.make(url)) }

  /// A request as a session with the usual settings would send it.
  private func cacheRequest(_ request: Request) -> CacheRequest {
    var fields = request.headers
    for field in ConnectionOptions.usualFields
    where !fields.contains(where: { HeaderText.equalNames($0.name, field.name) }) { fields.append(field) }
    return CacheRequest(method: "GET", key: CacheKey.make(request.url), fields: MessageFields(fields))
  }
}
