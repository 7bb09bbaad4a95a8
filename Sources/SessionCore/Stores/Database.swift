import CLateLibraries
import CSQLite
import Glibc

/// Why a database did not do what it was asked to, in SQLite's number and words.
struct DatabaseProblem: Error {
  /// The primary result code (`SQLITE_…`).
  let code: Int32
  let message: String

  init(code: Int32, message: String) {
    self.code = code & 0xFF
    self.message = message
  }

  /// What the file holds cannot be made sense of.
  var isDamage: Bool { code == SQLITE_CORRUPT || code == SQLITE_NOTADB }
  /// Another process kept it for longer than the time limit: the same may work the next time.
  var isBusy: Bool { code == SQLITE_BUSY || code == SQLITE_LOCKED }
}

/// An SQLite database: prepared statements and transactions. Belongs to one thread; other processes may use the file
/// at the same time. `DatabaseFile` opens one so that it can be relied upon.
final class Database {
  let path: String
  fileprivate let handle: OpaquePointer
  private var statements: [String: Statement] = [:]
  /// Device and number of the file that was opened.
  private let file: (dev_t, ino_t)?

  /// How long a statement waits for another process, in milliseconds.
  private static let patience: Int32 = 10_000

  /// Opens a file that exists.
  init(path: String) throws(DatabaseProblem) {
    guard late_load("libsqlite3.so.0") else {
      throw DatabaseProblem(code: SQLITE_CANTOPEN, message: "libsqlite3 cannot be loaded")
    }
    var handle: OpaquePointer?
    let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX
    let result = sqlite3_open_v2(path, &handle, flags, nil)
    guard result == SQLITE_OK, let handle else {
      _ = sqlite3_close_v2(handle)
      throw DatabaseProblem(code: result, message: Self.text(sqlite3_errstr(result)))
    }
    self.path = path
    file = Self.fileNow(at: path)
    self.handle = handle
    _ = sqlite3_busy_timeout(handle, Self.patience)
  }

  deinit {
    statements.values.forEach { $0.finalize() }
    _ = sqlite3_close_v2(handle)
  }

  /// False when another file is at the path by now: what is written here is seen by nobody any more.
  var isInPlace: Bool {
    guard let file, let now = Self.fileNow(at: path) else { return false }
    return file == now
  }

  private static func fileNow(at path: String) -> (dev_t, ino_t)? {
    var status = stat()
    return stat(path, &status) == 0 ? (status.st_dev, status.st_ino) : nil
  }

  /// Rows changed by the last statement.
  var changes: Int { Int(sqlite3_changes(handle)) }

  /// The number of the row inserted last.
  var lastInsertedRow: Int { Int(sqlite3_last_insert_rowid(handle)) }

  /// Runs a statement that gives no rows, or whose rows are of no interest.
  func run(_ sql: String, _ values: SQLValue...) throws(DatabaseProblem) {
    try run(sql, values)
  }

  /// The same with the values in a list.
  func run(_ sql: String, _ values: [SQLValue]) throws(DatabaseProblem) {
    let statement = try prepared(sql)
    defer { statement.reset() }
    try statement.bind(values)
    while try statement.step() {}
  }

  /// Runs a statement and shows each row to `body`, which answers whether it wants the next one.
  func query(_ sql: String, _ values: SQLValue..., row body: (Row) -> Bool) throws(DatabaseProblem) {
    let statement = try prepared(sql)
    defer { statement.reset() }
    try statement.bind(values)
    while try statement.step(), body(Row(statement: statement)) {}
  }

  /// The integer in the first column of the first row.
  func integer(_ sql: String, _ values: SQLValue...) throws(DatabaseProblem) -> Int? {
    let statement = try prepared(sql)
    defer { statement.reset() }
    try statement.bind(values)
    return try statement.step() ? Row(statement: statement).integer(0) : nil
  }

  /// Does several things or none of them. Takes the lock for writing at once, so that what was read is still true when
  /// it comes to writing.
  func transaction<Value>(_ body: () throws(DatabaseProblem) -> Value) throws(DatabaseProblem) -> Value {
    try run("BEGIN IMMEDIATE")
    do throws(DatabaseProblem) {
      let value = try body()
      try run("COMMIT")
      return value
    } catch {
      if sqlite3_get_autocommit(handle) == 0 { try? run("ROLLBACK") }
      throw error
    }
  }

  /// Statements are compiled once.
  private func prepared(_ sql: String) throws(DatabaseProblem) -> Statement {
    if let known = statements[sql] { return known }
    let made = try Statement(sql, in: self)
    statements[sql] = made
    return made
  }

  private static func text(_ words: UnsafePointer<CChar>?) -> String {
    words.map { String(cString: $0) } ?? "unknown error"
  }

  fileprivate func problem(_ code: Int32) -> DatabaseProblem {
    DatabaseProblem(code: code, message: Self.text(sqlite3_errmsg(handle)))
  }
}

/// What can be bound to a statement.
enum SQLValue {
  case null
  case integer(Int)
  case real(Double)
  case text(String)
  case blob([UInt8])

  init(_ value: Double?) { self = value.map { .real($0) } ?? .null }
  init(_ value: String?) { self = value.map { .text($0) } ?? .null }
  /// Bytes that are not UTF-8 are no text to SQLite.
  init(_ value: Octets?) {
    self = value.map { octets in octets.text.map { .text($0) } ?? .blob(octets.bytes) } ?? .null
  }
  init(_ value: Bool) { self = .integer(value ? 1 : 0) }
}

/// The row a statement stands at; columns count from 0.
struct Row {
  fileprivate let statement: Statement

  func isNull(_ column: Int) -> Bool {
    sqlite3_column_type(statement.handle, Int32(column)) == SQLITE_NULL
  }
  func integer(_ column: Int) -> Int { Int(sqlite3_column_int64(statement.handle, Int32(column))) }
  func boolean(_ column: Int) -> Bool { integer(column) != 0 }
  func real(_ column: Int) -> Double { sqlite3_column_double(statement.handle, Int32(column)) }

  func text(_ column: Int) -> String { String(decoding: bytes(column), as: UTF8.self) }

  func bytes(_ column: Int) -> [UInt8] {
    guard let start = sqlite3_column_blob(statement.handle, Int32(column)) else { return [] }
    let count = Int(sqlite3_column_bytes(statement.handle, Int32(column)))
    return Array(UnsafeRawBufferPointer(start: start, count: count))
  }
}

/// A compiled statement.
private final class Statement {
  let handle: OpaquePointer?
  private unowned let database: Database

  init(_ sql: String, in database: Database) throws(DatabaseProblem) {
    self.database = database
    var made: OpaquePointer?
    let result = sqlite3_prepare_v2(database.handle, sql, -1, &made, nil)
    handle = made
    if result != SQLITE_OK { throw database.problem(result) }
  }

  func finalize() { _ = sqlite3_finalize(handle) }

  func reset() {
    _ = sqlite3_reset(handle)
    _ = sqlite3_clear_bindings(handle)
  }

  func bind(_ values: [SQLValue]) throws(DatabaseProblem) {
    for (index, value) in values.enumerated() {
      let result = bind(value, at: Int32(index + 1))
      if result != SQLITE_OK { throw database.problem(result) }
    }
  }

  private func bind(_ value: SQLValue, at place: Int32) -> Int32 {
    switch value {
    case .null: return sqlite3_bind_null(handle, place)
    case .integer(let number): return sqlite3_bind_int64(handle, place, sqlite3_int64(number))
    case .real(let number): return sqlite3_bind_double(handle, place, number)
    case .text(let text): return sqlite3_bind_text(handle, place, text, -1, csqlite_transient())
    case .blob(let bytes):
      // An empty array has no address, and that would mean NULL.
      guard !bytes.isEmpty else { return sqlite3_bind_blob(handle, place, "", 0, csqlite_transient()) }
      return sqlite3_bind_blob(handle, place, bytes, Int32(clamping: bytes.count), csqlite_transient())
    }
  }

  /// Goes on to the next row. False: there is none.
  func step() throws(DatabaseProblem) -> Bool {
    let result = sqlite3_step(handle)
    switch result {
    case SQLITE_ROW: return true
    case SQLITE_DONE: return false
    default: throw database.problem(result)
    }
  }
}
