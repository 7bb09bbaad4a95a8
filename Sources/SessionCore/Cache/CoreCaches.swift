/// The caches of all sessions: when they are written, and what is brought up to date without a task.
final class CoreCaches {
  /// Those that sessions have, to be written in time.
  private var written: [Weak] = []
  /// By key, what is being brought up to date.
  private var revalidations: Set<String> = []
  private var lastRevalidation = Int.min

  private struct Weak {
    weak var cache: ResponseCache?
  }

  func adopt(_ cache: ResponseCache) {
    written.removeAll { $0.cache == nil }
    if !written.contains(where: { $0.cache === cache }) { written.append(Weak(cache: cache)) }
  }

  /// When the next cache wants to be written (MonotonicClock); nil for none.
  var deadline: Double? {
    var first: Double?
    for one in written {
      if let deadline = one.cache?.writeDeadline { first = min(first ?? deadline, deadline) }
    }
    return first
  }

  func write(due now: Double) {
    for one in written {
      if let cache = one.cache, let deadline = cache.writeDeadline, deadline <= now { cache.write() }
    }
  }

  func writeAll() { written.forEach { $0.cache?.write() } }

  // MARK: Revalidation

  /// Tasks of this kind have numbers that nobody else gives.
  static func isRevalidation(_ task: TaskID) -> Bool { task.rawValue < Int.min / 2 }

  var isRevalidating: Bool { !revalidations.isEmpty }
  /// The last one has just ended: who waits for that must be told.
  private var hasCalmed = false

  func takeCalm() -> Bool {
    defer { hasCalmed = false }
    return hasCalmed
  }

  /// The number of a new one; nil where the key's is under way already.
  func beginRevalidation(_ key: String) -> TaskID? {
    guard revalidations.insert(key).inserted else { return nil }
    lastRevalidation += 1
    return TaskID(lastRevalidation)
  }

  func endRevalidation(_ key: String) {
    revalidations.remove(key)
    hasCalmed = revalidations.isEmpty
  }
}

extension SessionCore {
  /// Brings a stored response up to date that has been given out stale. Nobody hears of it.
  func revalidate(_ request: Request, _ options: TaskRequest, in session: Session) {
    guard let id = caches.beginRevalidation(CacheKey.make(request.url, realm: session.cacheRealm)) else { return }
    let task = TaskRequest(request)
    task.cachePolicy = .reloadRevalidatingCacheData
    task.authentication = options.authentication
    task.decompress = false
    task.requestTimeout = options.requestTimeout
    task.resourceTimeout = min(options.resourceTimeout ?? .infinity, Self.revalidationTime)
    start(id, session, task)
  }

  /// How long it may take in all.
  private static let revalidationTime = 30.0
}
