/// A cookie storage (`HTTPCookieStorage`): the jar, and its copy in a file where it has one, which other processes may
/// use at the same time.
///
/// The file is opened when it is there and a request is made, or when the first cookie comes that is to be kept.
/// Belongs to the thread that runs transfers.
public final class CookieStorage {
  /// For all sessions that use the storage; a session's own policy comes on top of it.
  public var acceptPolicy = CookieAcceptPolicy.always
  private var jar = CookieJar()
  private let place: StorePlace
  private var table: CookieTable?
  /// There is no use in trying to open the file.
  private var isDetached: Bool
  private var lastVersion = 0
  private var lastLook = -Double.infinity
  /// What has still to be written, in order.
  private var pending: [CookieJar.Change] = []

  /// How old, in seconds, what another process wrote may be before it is seen here.
  private static let staleness = 0.1
  /// Changes that are kept for a file that cannot be written at the moment.
  private static let pendingLimit = 10_000

  public init(_ place: StorePlace = .memory) {
    self.place = place
    isDetached = place.path == nil
  }

  /// Where the file is; nil for a storage in memory.
  public var path: String? { place.path }

  // MARK: Transfers

  /// Whether there may be a cookie for some request: a look at the file, from time to time, and no more.
  func mayHold(_ now: Double) -> Bool {
    if !isDetached, now - lastLook > Self.staleness { look(now) }
    return !jar.isEmpty
  }

  /// The cookies that go with a request, in order.
  public func cookies(for place: CookiePlace) -> [Cookie] { jar.cookies(for: place, now: WallClock.now) }

  /// Takes a Set-Cookie field.
  @discardableResult
  public func set(
    _ field: UnsafeRawBufferPointer, from place: CookiePlace, policy: CookieAcceptPolicy = .always,
    mainDocument: String? = nil
  ) -> Result<Cookie, CookieRefusal> {
    guard acceptPolicy.accepts(from: place.host, mainDocument: mainDocument),
      policy.accepts(from: place.host, mainDocument: mainDocument)
    else { return .failure(.policy) }
    let now = WallClock.now
    let result = SetCookie.parse(field).flatMap { $0.cookie(from: place, now: now) }
    guard case .success(let cookie) = result else { return result }
    if let refusal = jar.set(cookie, from: place, now: now) { return .failure(refusal) }
    noteChanges()
    return result
  }

  /// There are changes that `commit` has to write.
  var needsCommit: Bool { !pending.isEmpty }

  // MARK: Scripts

  /// Sees what other processes have written by now.
  public func refresh() {
    if !isDetached { look(MonotonicClock.now) }
  }

  /// All cookies that have not expired.
  public var all: [Cookie] {
    let now = WallClock.now
    return jar.all.filter { !$0.isExpired(now) }
  }

  /// Keeps a cookie as it is; one that has expired removes its like.
  /// - Parameters:
  ///   - host: whose cookie it is, where that is known.
  ///   - isDated: `created` is the time it was made at; otherwise it is made now.
  public func set(_ cookie: Cookie, from host: String? = nil, isDated: Bool = false) -> Result<Cookie, CookieRefusal> {
    var cookie = cookie
    if !cookie.isHostOnly, CookieRules.isPublicSuffix(cookie.domain) {
      // A suffix's own site may have cookies for itself alone.
      guard cookie.domain == host else { return .failure(.publicSuffix) }
      cookie.isHostOnly = true
    }
    guard CookieRules.keepsPromise(cookie) else { return .failure(.prefix) }
    if cookie.name.isEmpty, cookie.value.isEmpty { return .failure(.empty) }
    if cookie.name.count + cookie.value.count > SetCookie.sizeLimit { return .failure(.tooLarge) }
    jar.set(cookie, now: WallClock.now, isDated: isDated)
    noteChanges()
    return .success(cookie)
  }

  /// Removes the cookies that `isUnwanted` chooses. Returns how many there were.
  @discardableResult
  public func remove(where isUnwanted: (Cookie) -> Bool) -> Int {
    let count = jar.removeAll(where: isUnwanted)
    noteChanges()
    return count
  }

  // MARK: The file

  private func noteChanges() {
    let changes = jar.takeChanges()
    if place.isMemory { return }
    pending += changes
    if isDetached || pending.count > Self.pendingLimit { return dropPending() }
  }

  private func dropPending() {
    let isKept = pending.contains { if case .put(let cookie) = $0 { cookie.expires != nil } else { false } }
    pending.removeAll()
    if isKept { place.warnOfNowhere() }
  }

  /// Writes what has changed. Safe against the end of the process once it is back.
  public func commit() {
    guard !pending.isEmpty, !isDetached else { return }
    if table == nil {
      // Session cookies alone make no file.
      let isOfInterest = pending.contains { if case .put(let cookie) = $0 { cookie.expires != nil } else { false } }
      guard isOfInterest || place.exists else { return pending.removeAll() }
      guard open() else { return }
    }
    guard isInPlace else { return restore() }
    attempt { table throws(DatabaseProblem) in
      try table.apply(pending, now: WallClock.now)
      pending.removeAll(keepingCapacity: true)
    }
  }

  private func look(_ now: Double) {
    lastLook = now
    guard table != nil else {
      if place.exists { _ = open() }
      return
    }
    guard isInPlace else { return restore() }
    var isChanged = false
    attempt { table throws(DatabaseProblem) in isChanged = try table.version() != lastVersion }
    if isChanged { load() }
  }

  private func open() -> Bool {
    guard let database = place.open() else {
      isDetached = true
      pending.removeAll()
      return false
    }
    table = CookieTable(database: database)
    load()
    return table != nil
  }

  /// Makes the jar what the file is, but for session cookies and what has still to be written.
  private func load() {
    attempt { table throws(DatabaseProblem) in
      lastVersion = try table.version()
      var loaded: [Cookie] = []
      try table.load { loaded.append($0) }
      jar.unload()
      loaded.forEach { jar.load($0) }
      pending.forEach { jar.apply($0) }
      _ = jar.takeChanges()
    }
  }

  private func attempt(_ body: (CookieTable) throws(DatabaseProblem) -> Void) {
    do throws(DatabaseProblem) {
      // The database is closed before a failure is dealt with, where that closes it.
      if let table { try body(table) }
    } catch {
      failed(error)
    }
  }

  /// A full disk or a busy file: what could not be written is tried again with the next change.
  private func failed(_ problem: DatabaseProblem) {
    if problem.isDamage { return restore() }
    place.warn("cannot be used at the moment (\(problem.message)); cookies are kept in memory")
  }

  private var isInPlace: Bool { table?.database.isInPlace ?? true }

  /// The file is damaged, or another process found it so and has begun a new one: that one gets what is in memory.
  private func restore() {
    table = nil
    guard let database = place.open() else {
      isDetached = true
      return
    }
    let table = CookieTable(database: database)
    self.table = table
    do throws(DatabaseProblem) {
      try table.apply(jar.all.map { .put($0) }, now: WallClock.now)
      lastVersion = try table.version()
      pending.removeAll()
    } catch {
      place.warn("cannot be used (\(error.message)); cookies are kept in memory only")
      self.table = nil
      isDetached = true
    }
  }
}
