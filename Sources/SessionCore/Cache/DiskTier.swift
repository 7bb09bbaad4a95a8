import Glibc

/// Stored responses on disk: what is known of each in an SQLite database, the bodies as files beside it. Several
/// processes may use one at the same time, and any of them may be killed: a body has its name before the row is there
/// that mentions it, and a row is gone before its body is.
///
/// Nothing is opened before there is something to find or to store.
final class DiskTier {
  let capacity: Int
  let bodies: BodyFiles
  private let directory: String
  private var file: DatabaseFile
  private var database: Database?
  private var filter: KeyFilter?
  /// Before that time (Unix seconds) the filter's file is not looked for again …
  private var nextLook = 0.0
  /// … and the disk is left alone.
  private var disabledUntil = 0.0
  /// What could not be removed when it had to be.
  private var voidKeys: Set<String> = []

  /// How long the disk is left alone after it failed.
  private static let recovery = 60.0
  private static let sweepInterval = 24.0 * 3600

  init(directory: String, capacity: Int) {
    self.directory = directory
    self.capacity = capacity
    bodies = BodyFiles(directory: "\(directory)/bodies")
    file = DatabaseFile(
      path: "\(directory)/cache.sqlite", subject: "cache", version: 1, schema: Self.schema, makesDirectory: true,
      isChecked: false)
  }

  private static let schema = [
    """
    CREATE TABLE responses (
      id INTEGER PRIMARY KEY AUTOINCREMENT, key TEXT NOT NULL, selecting TEXT NOT NULL, status INTEGER NOT NULL,
      reason TEXT NOT NULL, version TEXT NOT NULL, fields BLOB NOT NULL, requested_at REAL NOT NULL,
      received_at REAL NOT NULL, stored_at REAL NOT NULL, used_at REAL NOT NULL, file TEXT NOT NULL,
      length INTEGER NOT NULL, digest BLOB NOT NULL, part_first INTEGER, part_total INTEGER,
      user_info BLOB NOT NULL, size INTEGER NOT NULL)
    """,
    "CREATE INDEX responses_key ON responses (key)",
    "CREATE INDEX responses_used ON responses (used_at)",
    "CREATE TABLE facts (name TEXT PRIMARY KEY, value)",
    "INSERT INTO facts VALUES ('size', 0), ('swept_at', 0)",
    """
    CREATE TRIGGER responses_added AFTER INSERT ON responses
    BEGIN UPDATE facts SET value = value + NEW.size WHERE name = 'size'; END
    """,
    """
    CREATE TRIGGER responses_removed AFTER DELETE ON responses
    BEGIN UPDATE facts SET value = value - OLD.size WHERE name = 'size'; END
    """,
  ]

  // MARK: Opening

  /// False: nothing is stored for the key, as far as can be seen without opening anything.
  private func mayHave(_ key: String) -> Bool {
    if let filter { return filter.mayHave(key) }
    let now = WallClock.now
    guard now >= nextLook else { return false }
    filter = KeyFilter(path: filterPath)
    if let filter { return filter.mayHave(key) }
    if file.exists { return true }
    nextLook = now + 1
    return false
  }

  private var filterPath: String { "\(directory)/cache.keys" }

  /// The database; nil where there is none, or none that can be used.
  private func open(creating: Bool) -> Database? {
    if let database { return database }
    guard WallClock.now >= disabledUntil, creating || file.exists else { return nil }
    guard let opened = file.open() else {
      disabledUntil = WallClock.now + Self.recovery
      return nil
    }
    database = opened
    prepareFilter(opened)
    sweep(opened)
    let keys = voidKeys
    voidKeys = []
    keys.forEach(remove(key:))
    return database
  }

  /// Makes the filter where it is missing, or has more in it than there is.
  private func prepareFilter(_ database: Database) {
    let known = KeyFilter(path: filterPath)
    filter = known ?? KeyFilter(path: filterPath, creating: true)
    guard let filter else { return }
    let isEmpty = (try? database.integer("SELECT EXISTS (SELECT 1 FROM responses)")) == 0
    guard known == nil || isEmpty else { return }
    // Nobody else stores meanwhile.
    try? database.transaction { () throws(DatabaseProblem) in
      filter.clear()
      try database.query("SELECT DISTINCT key FROM responses") { row in
        filter.add(row.text(0))
        return true
      }
    }
  }

  /// Once a day, removes what killed processes left.
  private func sweep(_ database: Database) {
    let now = WallClock.now
    guard let last = try? database.integer("SELECT value FROM facts WHERE name = 'swept_at'"),
      now - Double(last) > Self.sweepInterval
    else { return }
    var names: Set<String> = []
    let isDone: Void? = try? database.transaction { () throws(DatabaseProblem) in
      try database.run("UPDATE facts SET value = ? WHERE name = 'swept_at'", .integer(Int(now)))
      try database.query("SELECT file FROM responses") { row in
        names.insert(row.text(0))
        return true
      }
    }
    if isDone != nil { bodies.sweep(keeping: names) }
  }

  /// Does something with the database. Nil where that failed: a damaged one is replaced, a full disk left alone.
  private func attempt<Value>(
    creating: Bool = false, _ body: (Database) throws(DatabaseProblem) -> Value
  ) -> Value? {
    guard let database = open(creating: creating) else { return nil }
    do throws(DatabaseProblem) {
      return try body(database)
    } catch {
      if error.isBusy { return nil }
      self.database = nil
      if error.isDamage {
        file.isChecked = true
        _ = open(creating: false)
      } else {
        disabledUntil = WallClock.now + Self.recovery
        file.warn("cache: \(file.path): \(error.message); responses are kept in memory only")
      }
      return nil
    }
  }

  /// There is a database to store something in.
  var isReady: Bool { open(creating: true) != nil }

  /// Storing failed beneath SQLite.
  func failed() {
    disabledUntil = WallClock.now + Self.recovery
    file.warn("cache: \(directory): \(String(cString: strerror(errno))); responses are kept in memory only")
  }

  // MARK: Finding

  private static let columns = """
    id, key, selecting, status, reason, version, fields, requested_at, received_at, stored_at, file, length, digest, \
    part_first, part_total, user_info
    """

  func variants(_ key: String) -> [StoredResponse] {
    guard mayHave(key), !voidKeys.contains(key) else { return [] }
    return attempt { database throws(DatabaseProblem) in
      var found: [StoredResponse] = []
      try database.query("SELECT \(Self.columns) FROM responses WHERE key = ?", .text(key)) { row in
        if let one = Self.response(row) { found.append(one) }
        return true
      }
      return found
    } ?? []
  }

  private static func response(_ row: Row) -> StoredResponse? {
    guard let selecting = SelectingFields(text: row.text(2)) else { return nil }
    var response = StoredResponse(
      id: row.integer(0), key: row.text(1), status: row.integer(3), reason: row.text(4), httpVersion: row.text(5),
      fields: row.bytes(6).withUnsafeBytes { MessageFields(block: $0) }, selecting: selecting,
      requestedAt: row.real(7), receivedAt: row.real(8), length: row.integer(11),
      place: .file(name: row.text(10), digest: row.bytes(12)))
    response.storedAt = row.real(9)
    if !row.isNull(13) { response.part = StoredResponse.Part(first: row.integer(13), total: row.integer(14)) }
    response.userInfo = row.bytes(15)
    return response
  }

  // MARK: Storing

  /// Stores responses whose bodies are written, each in the place of the one that answers the same requests. False:
  /// nothing was stored.
  /// - Parameter used: When others were used, by their numbers.
  func store(_ responses: [StoredResponse], used: [Int: Double]) -> Bool {
    let removed: [String]? = attempt(creating: !responses.isEmpty) { database throws(DatabaseProblem) in
      try database.transaction { () throws(DatabaseProblem) in
        var removed: [String] = []
        for (id, date) in used {
          try database.run("UPDATE responses SET used_at = ? WHERE id = ?", .real(date), .integer(id))
        }
        for one in responses { removed += try Self.insert(one, into: database) }
        return try removed + makeRoom(database)
      }
    }
    guard let removed else { return false }
    responses.forEach { filter?.add($0.key) }
    removed.forEach(bodies.remove)
    return true
  }

  /// The names of the files whose rows went.
  private static func insert(
    _ response: StoredResponse, into database: Database
  ) throws(DatabaseProblem) -> [String] {
    guard case .file(let name, let digest) = response.place else { return [] }
    var removed: [String] = []
    try database.query(
      "DELETE FROM responses WHERE key = ? AND selecting = ? RETURNING file", .text(response.key),
      .text(response.selecting.text)
    ) { row in
      removed.append(row.text(0))
      return true
    }
    let block = response.fields.block
    try database.run(
      """
      INSERT INTO responses (key, selecting, status, reason, version, fields, requested_at, received_at, stored_at,
        used_at, file, length, digest, part_first, part_total, user_info, size)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
      """,
      [
        .text(response.key), .text(response.selecting.text), .integer(response.status), .text(response.reason),
        .text(response.httpVersion), .blob(block.array), .real(response.requestedAt), .real(response.receivedAt),
        .real(response.storedAt), .real(response.storedAt), .text(name), .integer(response.length), .blob(digest),
        response.part.map { .integer($0.first) } ?? .null, response.part.map { .integer($0.total) } ?? .null,
        .blob(response.userInfo), .integer(response.length + block.count + response.userInfo.count + 512),
      ])
    return removed
  }

  private static func delete(
    _ condition: String, _ value: SQLValue, _ database: Database
  ) throws(DatabaseProblem) -> [String] {
    var names: [String] = []
    try database.query("DELETE FROM responses WHERE \(condition) RETURNING file", value) { row in
      names.append(row.text(0))
      return true
    }
    return names
  }

  /// Removes what was used least recently, and some more than is needed.
  private func makeRoom(_ database: Database) throws(DatabaseProblem) -> [String] {
    guard var size = try size(database), size > capacity else { return [] }
    var oldest: [Int] = []
    try database.query("SELECT id, size FROM responses ORDER BY used_at, id") { row in
      oldest.append(row.integer(0))
      size -= row.integer(1)
      return size > capacity - capacity / 8
    }
    var names: [String] = []
    for id in oldest { names += try Self.delete("id = ?", .integer(id), database) }
    return names
  }

  private func size(_ database: Database) throws(DatabaseProblem) -> Int? {
    try database.integer("SELECT value FROM facts WHERE name = 'size'")
  }

  /// Puts the fields of a response in the place of those stored.
  func update(_ response: StoredResponse) {
    _ = attempt { database throws(DatabaseProblem) in
      try database.run(
        """
        UPDATE responses SET fields = ?, requested_at = ?, received_at = ?, stored_at = ?, used_at = ?, user_info = ?
        WHERE id = ?
        """,
        [
          .blob(response.fields.block.array), .real(response.requestedAt), .real(response.receivedAt),
          .real(response.storedAt), .real(WallClock.now), .blob(response.userInfo), .integer(response.id),
        ])
    }
  }

  // MARK: Removing

  func remove(key: String) {
    guard mayHave(key) else { return }
    if !remove("key = ?", .text(key)) { voidKeys.insert(key) }
  }

  func remove(_ response: StoredResponse) { remove("id = ?", .integer(response.id)) }

  func remove(since date: Double) { remove("stored_at >= ?", .real(date)) }

  @discardableResult
  private func remove(_ condition: String, _ value: SQLValue) -> Bool {
    let removed = attempt { database throws(DatabaseProblem) in
      try database.transaction { () throws(DatabaseProblem) in try Self.delete(condition, value, database) }
    }
    removed?.forEach(bodies.remove)
    return removed != nil
  }

  var usage: Int { attempt { database throws(DatabaseProblem) in try size(database) ?? 0 } ?? 0 }
}
