/// Which hosts have asked to be spoken to over https only (RFC 6797), in memory and in a file where there is one.
///
/// libcurl has an engine of its own for this, one for each handle, which changes the scheme after cookies, credentials
/// and the queue have been chosen for the other one; so the hosts are remembered here, and a request's URL is changed
/// before anything else is done with it.
public final class HSTSStorage {
  private struct Host {
    var expires: Double
    var includesSubdomains: Bool
  }

  private let file: StoreFile
  private var hosts: [String: Host] = [:]
  private var lastLook = -Double.infinity
  private var lastVersion: Int?

  /// How old, in seconds, what another process wrote may be before it is seen here.
  private static let staleness = 1.0

  public init(_ place: StorePlace = .memory) { file = StoreFile(place) }

  /// That of default sessions, in the user's state directory.
  public static func standard(_ directories: Directories = .standard) -> HSTSStorage {
    guard let state = directories.state else { return HSTSStorage(.nowhere) }
    return HSTSStorage(.file(Self.file(state + "/hsts.sqlite", makesDirectory: true)))
  }

  static func file(_ path: String, makesDirectory: Bool = false) -> DatabaseFile {
    DatabaseFile(
      path: path, subject: "HSTS storage", version: 1,
      schema: [
        """
        CREATE TABLE hosts(name TEXT PRIMARY KEY, expires REAL NOT NULL, includes_subdomains INTEGER NOT NULL)
        WITHOUT ROWID
        """
      ], makesDirectory: makesDirectory)
  }

  // MARK: Asking

  /// Whether a host is to be spoken to over https only.
  func covers(_ name: String, now: Double) -> Bool {
    if now - lastLook > Self.staleness { look(now) }
    if hosts.isEmpty { return false }
    let date = WallClock.now
    var rest = name.lowercased()[...]
    if let own = hosts[String(rest)], own.expires > date { return true }
    while let dot = rest.utf8.firstIndex(of: UInt8(ascii: ".")) {
      rest = rest[rest.utf8.index(after: dot)...]
      if let parent = hosts[String(rest)], parent.includesSubdomains, parent.expires > date { return true }
    }
    return false
  }

  /// The same URL over https (RFC 6797 §8.3); a port that is not the usual one stays.
  static func secured(_ url: String) -> String {
    let end = URLParts.authorityEnd(url)
    let authority = url[..<end].dropFirst("http".utf8.count)
    return "https" + (authority.hasSuffix(":80") ? authority.dropLast(3) : authority) + url[end...]
  }

  private func look(_ now: Double) {
    lastLook = now
    file.use { database throws(DatabaseProblem) in
      let version = try database.integer("PRAGMA data_version")
      guard version != lastVersion || version == nil else { return }
      lastVersion = version
      try load(database)
    }
  }

  private func load(_ database: Database) throws(DatabaseProblem) {
    hosts.removeAll()
    try database.query("SELECT name, expires, includes_subdomains FROM hosts") { row in
      hosts[row.text(0)] = Host(expires: row.real(1), includesSubdomains: row.boolean(2))
      return true
    }
  }

  // MARK: Learning

  /// Takes the policy that a host has sent over https. An address has none.
  func learn(_ policy: HSTSPolicy, of name: String) {
    let name = name.lowercased()
    guard !HostName.isAddress(name) else { return }
    if policy.maxAge <= 0 { return forget(name) }
    let expires = WallClock.now + policy.maxAge
    // The same again is written when it makes a difference.
    if let known = hosts[name], known.includesSubdomains == policy.includesSubdomains,
      abs(known.expires - expires) < policy.maxAge / 20
    {
      return
    }
    hosts[name] = Host(expires: expires, includesSubdomains: policy.includesSubdomains)
    let isKept = file.use(making: !file.place.isMemory) { database throws(DatabaseProblem) in
      try database.run("DELETE FROM hosts WHERE expires <= ?", .real(WallClock.now))
      try database.run(
        "INSERT OR REPLACE INTO hosts VALUES (?, ?, ?)", .text(name), .real(expires),
        SQLValue(policy.includesSubdomains))
    }
    if !isKept { file.place.warnOfNowhere() }
  }

  private func forget(_ name: String) {
    guard hosts.removeValue(forKey: name) != nil else { return }
    file.use { database throws(DatabaseProblem) in try database.run("DELETE FROM hosts WHERE name = ?", .text(name)) }
  }

  /// Forgets everything.
  public func removeAll() {
    hosts.removeAll()
    file.use { database throws(DatabaseProblem) in try database.run("DELETE FROM hosts") }
  }
}
