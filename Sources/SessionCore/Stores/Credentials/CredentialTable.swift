/// Permanent credentials in a database. Their secrets stand there as they are: the file's mode is what protects them.
struct CredentialTable {
  let database: Database

  static func file(_ path: String, makesDirectory: Bool = false, isGiven: Bool = false) -> DatabaseFile {
    DatabaseFile(
      path: path, subject: "credential storage", version: 1,
      schema: [
        // A part of the space that is not named is NULL.
        """
        CREATE TABLE credentials(number INTEGER PRIMARY KEY AUTOINCREMENT, host TEXT NOT NULL, is_proxy INTEGER NOT NULL,
          port INTEGER, scheme TEXT, realm TEXT, method TEXT, kind TEXT NOT NULL, user TEXT NOT NULL, secret TEXT,
          key TEXT, is_default INTEGER NOT NULL)
        """,
        "CREATE INDEX by_host ON credentials(host)",
      ], makesDirectory: makesDirectory, isSecret: true, isGiven: isGiven)
  }

  private static let samePattern =
    "host = ? AND is_proxy = ? AND port IS ? AND scheme IS ? AND realm IS ? AND method IS ?"

  private func values(_ pattern: SpacePattern) -> [SQLValue] {
    [
      .text(pattern.host), SQLValue(pattern.isProxy), pattern.port.map { .integer($0) } ?? .null,
      SQLValue(pattern.scheme), SQLValue(pattern.realm), SQLValue(pattern.method),
    ]
  }

  func put(_ entry: CredentialStorage.Entry) throws(DatabaseProblem) {
    guard let row = SecretRow(entry.credential.secret) else { return }
    try database.transaction { () throws(DatabaseProblem) in
      try removeRow(row, entry.pattern)
      if entry.isDefault {
        try database.run("UPDATE credentials SET is_default = 0 WHERE " + Self.samePattern, values(entry.pattern))
      }
      try database.run(
        """
        INSERT INTO credentials(host, is_proxy, port, scheme, realm, method, kind, user, secret, key, is_default)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        """,
        values(entry.pattern) + [
          .text(row.kind), SQLValue(row.user), SQLValue(row.secret), SQLValue(row.key), SQLValue(entry.isDefault),
        ])
    }
  }

  func remove(_ credential: Credential, for pattern: SpacePattern) throws(DatabaseProblem) -> Bool {
    guard let row = SecretRow(credential.secret) else { return false }
    try removeRow(row, pattern)
    return database.changes > 0
  }

  private func removeRow(_ row: SecretRow, _ pattern: SpacePattern) throws(DatabaseProblem) {
    try database.run(
      "DELETE FROM credentials WHERE \(Self.samePattern) AND kind = ? AND user = ?",
      values(pattern) + [.text(row.kind), SQLValue(row.user)])
  }

  func removeAll() throws(DatabaseProblem) { try database.run("DELETE FROM credentials") }

  /// Those of a host, in the order of their storing.
  func entries(of host: String, isProxy: Bool, _ body: (CredentialStorage.Entry) -> Void) throws(DatabaseProblem) {
    let columns = "port, scheme, realm, method, kind, user, secret, key, is_default"
    try database.query(
      "SELECT \(columns) FROM credentials WHERE host = ? AND is_proxy = ? ORDER BY number", .text(host),
      SQLValue(isProxy)
    ) { row in
      func text(_ column: Int) -> String? { row.isNull(column) ? nil : row.text(column) }
      func octets(_ column: Int) -> Octets? { row.isNull(column) ? nil : Octets(bytes: row.bytes(column)) }
      let pattern = SpacePattern(
        host: host, port: row.isNull(0) ? nil : row.integer(0), scheme: text(1), realm: octets(2), method: text(3),
        isProxy: isProxy)
      let stored = SecretRow(kind: row.text(4), user: octets(5) ?? "", secret: octets(6), key: text(7))
      if let secret = stored.value {
        body(
          CredentialStorage.Entry(
            pattern: pattern, credential: Credential(secret, persistence: .permanent), isDefault: row.boolean(8)))
      }
      return true
    }
  }
}
