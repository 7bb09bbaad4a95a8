/// Cookies in memory and the rules of keeping them (RFC 6265bis §5.7, §5.8.3), without any I/O.
struct CookieJar {
  /// What must be done to a copy of the jar for it to be the same again.
  enum Change: Equatable {
    case put(Cookie)
    case remove(Cookie.Key)
  }

  /// By their domain.
  private var domains: [String: [Cookie]] = [:]
  private(set) var count = 0
  /// What has changed since `takeChanges`.
  private var changes: [Change] = []
  private var newest = 0.0

  /// As many as browsers keep. When there are more, the number sinks to the second one, so that it is not counted with
  /// every cookie.
  static let domainLimit = (most: 180, least: 150)
  static let limit = (most: 3300, least: 3000)

  var isEmpty: Bool { count == 0 }

  var all: [Cookie] { domains.values.flatMap { $0 } }

  mutating func takeChanges() -> [Change] {
    defer { changes.removeAll(keepingCapacity: true) }
    return changes
  }

  // MARK: Setting

  /// Takes what a response from `place` sets.
  mutating func set(_ cookie: Cookie, from place: CookiePlace, now: Double) -> CookieRefusal? {
    if !cookie.isSecure, !place.isSecure, hidesSecure(cookie) { return .wouldHideSecure }
    set(cookie, now: now)
    return nil
  }

  /// Keeps a cookie, in the place of the one with the same key; one that has expired only removes that.
  /// - Parameter isDated: the time it was made at is known, and stays as it is.
  mutating func set(_ cookie: Cookie, now: Double, isDated: Bool = false) {
    guard !cookie.isExpired(now) else {
      remove(cookie.key)
      return
    }
    var cookie = cookie
    if let index = index(of: cookie.key) {
      cookie.created = domains[cookie.domain]?[index].created ?? cookie.created
      domains[cookie.domain]?[index] = cookie
    } else {
      // The time must tell which was first also where the clock does not.
      if !isDated, cookie.created <= newest, cookie.created > newest - 1 { cookie.created = newest.nextUp }
      newest = max(newest, cookie.created)
      domains[cookie.domain, default: []].append(cookie)
      count += 1
    }
    changes.append(.put(cookie))
    makeRoom(in: cookie.domain, now: now)
  }

  /// Adds a cookie that the copy has already. One that is here and has changed since stays.
  mutating func load(_ cookie: Cookie) {
    guard index(of: cookie.key) == nil else { return }
    newest = max(newest, cookie.created)
    domains[cookie.domain, default: []].append(cookie)
    count += 1
  }

  /// Repeats a change that was made before the copy was loaded.
  mutating func apply(_ change: Change) {
    switch change {
    case .remove(let key): remove(key)
    case .put(let cookie):
      remove(cookie.key)
      load(cookie)
    }
  }

  /// An insecure cookie of the name of a Secure one that would be sent beside or in place of it.
  private func hidesSecure(_ cookie: Cookie) -> Bool {
    domains.values.joined().contains { other in
      other.isSecure && other.name == cookie.name
        && (CookieRules.host(cookie.domain, isIn: other.domain) || CookieRules.host(other.domain, isIn: cookie.domain))
        && CookieRules.path(cookie.path, isUnder: other.path)
    }
  }

  // MARK: Sending

  /// The cookies for a request, in the order of sending: longer paths first, then the older ones.
  mutating func cookies(for place: CookiePlace, now: Double) -> [Cookie] {
    var found: [Cookie] = []
    forEachDomain(of: place.host) { domain in
      guard let bucket = domains[domain] else { return }
      for (index, cookie) in bucket.enumerated() where cookie.matches(place) && !cookie.isExpired(now) {
        domains[domain]?[index].accessed = now
        found.append(cookie)
      }
    }
    return found.sorted(by: Self.isSentBefore)
  }

  /// The host's own name and those above it.
  private func forEachDomain(of host: String, _ body: (String) -> Void) {
    body(host)
    if HostName.isAddress(host) { return }
    var rest = host[...]
    while let dot = rest.utf8.firstIndex(of: UInt8(ascii: ".")) {
      rest = rest[rest.utf8.index(after: dot)...]
      body(String(rest))
    }
  }

  static func isSentBefore(_ a: Cookie, _ b: Cookie) -> Bool {
    let (first, second) = (a.path.utf8.count, b.path.utf8.count)
    return first != second ? first > second : a.created < b.created
  }

  // MARK: Removing

  /// - Returns: whether it was there.
  @discardableResult
  mutating func remove(_ key: Cookie.Key) -> Bool {
    guard let index = index(of: key) else { return false }
    domains[key.domain]?.remove(at: index)
    if domains[key.domain]?.isEmpty == true { domains[key.domain] = nil }
    count -= 1
    changes.append(.remove(key))
    return true
  }

  /// - Returns: how many there were.
  @discardableResult
  mutating func removeAll(where isUnwanted: (Cookie) -> Bool) -> Int {
    let keys = all.filter(isUnwanted).map(\.key)
    for key in keys { remove(key) }
    return keys.count
  }

  /// Forgets the cookies that a copy has, before it is loaded again.
  mutating func unload() {
    for (domain, bucket) in domains {
      let kept = bucket.filter { $0.expires == nil }
      count -= bucket.count - kept.count
      domains[domain] = kept.isEmpty ? nil : kept
    }
  }

  private func index(of key: Cookie.Key) -> Int? {
    domains[key.domain]?.firstIndex { $0.name == key.name && $0.path == key.path && $0.isHostOnly == key.isHostOnly }
  }

  /// Too many in a domain, or in all: the expired ones go first, then (in a domain) those that are not Secure, then
  /// those that were used the longest time ago.
  private mutating func makeRoom(in domain: String, now: Double) {
    if let bucket = domains[domain], bucket.count > Self.domainLimit.most {
      remove(bucket.count - Self.domainLimit.least, of: bucket, sparingSecure: true, now: now)
    }
    if count > Self.limit.most { remove(count - Self.limit.least, of: all, sparingSecure: false, now: now) }
  }

  private mutating func remove(_ number: Int, of cookies: [Cookie], sparingSecure: Bool, now: Double) {
    func rank(_ cookie: Cookie) -> Int { cookie.isExpired(now) ? 0 : sparingSecure && cookie.isSecure ? 2 : 1 }
    let order = cookies.sorted { a, b in
      let (first, second) = (rank(a), rank(b))
      return first != second ? first < second : (a.accessed, a.created) < (b.accessed, b.created)
    }
    for cookie in order.prefix(number) { remove(cookie.key) }
  }
}
