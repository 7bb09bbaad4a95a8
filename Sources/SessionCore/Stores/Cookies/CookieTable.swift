/// Cookies in a database. Session cookies are not kept: putting one there only removes what it replaces.
struct CookieTable {
  let database: Database

  static func file(_ path: String, makesDirectory: Bool = false, isGiven: Bool = false) -> DatabaseFile {
    DatabaseFile(
      path: path, subject: "cookie storage", version: 1,
      schema: [
        """
        CREATE TABLE cookies(domain TEXT NOT NULL, path TEXT NOT NULL, name BLOB NOT NULL, host_only INTEGER NOT NULL,
          value BLOB NOT NULL, expires REAL NOT NULL, secure INTEGER NOT NULL, http_only INTEGER NOT NULL,
          same_site TEXT NOT NULL, created REAL NOT NULL, PRIMARY KEY(domain, path, name, host_only)) WITHOUT ROWID
        """
      ], makesDirectory: makesDirectory, isGiven: isGiven)
  }

  /// A number that changes when another process writes.
  func version() throws(DatabaseProblem) -> Int { try database.integer("PRAGMA data_version") ?? 0 }

  func load(_ body: (Cookie) -> Void) throws(DatabaseProblem) {
    let columns = "name, value, domain, path, created, expires, secure, http_only, host_only, same_site"
    try database.query("SELECT \(columns) FROM cookies ORDER BY created") { row in
      var cookie = Cookie(
        name: row.bytes(0), value: row.bytes(1), domain: row.text(2), path: row.text(3), created: row.real(4))
      cookie.expires = row.real(5)
      cookie.isSecure = row.boolean(6)
      cookie.isHTTPOnly = row.boolean(7)
      cookie.isHostOnly = row.boolean(8)
      cookie.sameSite = Cookie.SameSite(rawValue: row.text(9)) ?? .unspecified
      body(cookie)
      return true
    }
  }

  func apply(_ changes: [CookieJar.Change], now: Double) throws(DatabaseProblem) {
    try database.transaction { () throws(DatabaseProblem) in
      for change in changes {
        switch change {
        case .put(let cookie): try put(cookie)
        case .remove(let key): try remove(key)
        }
      }
      try database.run("DELETE FROM cookies WHERE expires <= ?", .real(now))
    }
  }

  private func put(_ cookie: Cookie) throws(DatabaseProblem) {
    guard let expires = cookie.expires else { return try remove(cookie.key) }
    // The older time of making stays, as it does in memory.
    try database.run(
      """
      INSERT INTO cookies VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
      ON CONFLICT DO UPDATE SET value = excluded.value, expires = excluded.expires, secure = excluded.secure,
        http_only = excluded.http_only, same_site = excluded.same_site
      """,
      .text(cookie.domain), .text(cookie.path), .blob(cookie.name), SQLValue(cookie.isHostOnly), .blob(cookie.value),
      .real(expires), SQLValue(cookie.isSecure), SQLValue(cookie.isHTTPOnly), .text(cookie.sameSite.rawValue),
      .real(cookie.created))
  }

  private func remove(_ key: Cookie.Key) throws(DatabaseProblem) {
    try database.run(
      "DELETE FROM cookies WHERE domain = ? AND path = ? AND name = ? AND host_only = ?", .text(key.domain),
      .text(key.path), .blob(key.name), SQLValue(key.isHostOnly))
  }
}
