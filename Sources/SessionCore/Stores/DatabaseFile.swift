import CCurlShim
import CSQLite
import Glibc

/// The file of a store, opened so that the store can rely on it: made when it is not there (for the user alone),
/// brought to the schema that is asked for, and set aside with a warning when it is damaged. Where no database can be
/// had the store works in memory, and one warning says so.
public struct DatabaseFile {
  /// The whole path.
  let path: String
  /// What the user calls it: "cookie storage".
  let subject: String
  /// The schema's version (`PRAGMA user_version`), from 1.
  let version: Int
  /// The statements that make the tables of that version.
  let schema: [String]
  /// Whether a directory that is not there is made, with those above it.
  var makesDirectory = false
  /// A file that others can read is refused.
  var isSecret = false

  /// The whole file is looked at when it is opened; for a large one that takes its time.
  var isChecked = true
  /// The path is one that a script gave: what is there and was never a database is somebody else's, and left alone.
  var isGiven = false

  var exists: Bool { access(path, F_OK) == 0 }

  /// What a database begins with (SQLite's file format, §1.3.1).
  private static let mark = Array("SQLite format 3\0".utf8)

  /// Whether something else than a database is at a path. An empty file may become one.
  public static func isForeign(_ path: String) -> Bool {
    let descriptor = Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    return isForeign(descriptor)
  }

  private static func isForeign(_ descriptor: Int32) -> Bool {
    var start = [UInt8](repeating: 0, count: mark.count)
    let count = pread(descriptor, &start, start.count, 0)
    return count > 0 && !start.prefix(count).elementsEqual(mark)
  }

  /// Opens it. Nil where that cannot be: the user has been told.
  func open() -> Database? {
    do throws(DatabaseProblem) {
      return try openOrRepair()
    } catch {
      let text = "\(subject): \(path): \(error.message); it is kept in memory only"
      let isOfDirectory = makesDirectory && [SQLITE_CANTOPEN, SQLITE_READONLY, SQLITE_IOERR].contains(error.code)
      if isOfDirectory { Warnings.tell(Self.directorySubject, text) } else { warn(text) }
      return nil
    }
  }

  /// What is wrong with the state directory is said once, and not for each store.
  static let directorySubject = "state directory"

  /// Says what went wrong with the open database, once.
  func warn(_ text: String) { Warnings.tell(text, text) }

  /// Opens what is there, and replaces it when it is damaged.
  private func openOrRepair() throws(DatabaseProblem) -> Database {
    try prepare()
    do throws(DatabaseProblem) {
      return try openWhole()
    } catch {
      guard error.isDamage else { throw error }
      return try replace()
    }
  }

  /// Makes directory and file where they are missing, so that the file is nobody else's from the start; SQLite gives
  /// the files beside it the same mode.
  private func prepare() throws(DatabaseProblem) {
    if makesDirectory, let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) {
      let problem = Directories.make(String(path[..<slash]))
      if problem != 0 { throw systemProblem("cannot make its directory", problem) }
    }
    let descriptor = Glibc.open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOCTTY, 0o600)
    guard descriptor >= 0 else { throw systemProblem("cannot be opened", errno) }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw systemProblem("cannot be opened", errno) }
    guard status.st_mode & S_IFMT == S_IFREG else {
      throw DatabaseProblem(code: SQLITE_CANTOPEN, message: "is no regular file")
    }
    if isSecret, status.st_mode & 0o077 != 0 {
      throw DatabaseProblem(code: SQLITE_PERM, message: "others can read or change the file; make it mode 0600")
    }
    if isGiven, Self.isForeign(descriptor) {
      throw DatabaseProblem(code: SQLITE_NOTADB, message: "holds something else than a database and is left alone")
    }
  }

  private func systemProblem(_ what: String, _ number: Int32) -> DatabaseProblem {
    DatabaseProblem(code: SQLITE_CANTOPEN, message: "\(what): \(String(cString: strerror(number)))")
  }

  private func openWhole() throws(DatabaseProblem) -> Database {
    let database = try Database(path: path)
    try enterWriteAheadMode(database)
    // In this mode a commit survives the end of the process without a sync, and the database survives that of power.
    try database.run("PRAGMA synchronous = NORMAL")
    if isSecret { try database.run("PRAGMA secure_delete = ON") }
    let found = try database.integer("PRAGMA user_version") ?? 0
    if found > version {
      throw DatabaseProblem(code: SQLITE_SCHEMA, message: "was made by a newer version of httpscript and is left alone")
    }
    if found < version { try makeSchema(database) }
    if isChecked { try check(database) }
    return database
  }

  /// Two processes may try at the same moment, and SQLite does not wait where that could be for ever.
  private func enterWriteAheadMode(_ database: Database) throws(DatabaseProblem) {
    for attempt in 1... {
      do throws(DatabaseProblem) {
        return try database.run("PRAGMA journal_mode = WAL")
      } catch {
        guard error.isBusy, attempt < 200 else { throw error }
        usleep(10_000)
      }
    }
  }

  private func makeSchema(_ database: Database) throws(DatabaseProblem) {
    try database.transaction { () throws(DatabaseProblem) in
      // Another process may have been faster.
      guard try database.integer("PRAGMA user_version") ?? 0 < version else { return }
      for statement in schema { try database.run(statement) }
      try database.run("PRAGMA user_version = \(version)")
    }
  }

  private func check(_ database: Database) throws(DatabaseProblem) {
    var verdict = "ok"
    try database.query("PRAGMA quick_check(1)") { row in
      verdict = row.text(0)
      return false
    }
    guard verdict == "ok" else { throw DatabaseProblem(code: SQLITE_CORRUPT, message: verdict) }
  }

  /// Sets a damaged file aside and makes a new one. One process at a time, and only when no other has done so.
  private func replace() throws(DatabaseProblem) -> Database {
    let directory = path.utf8.lastIndex(of: UInt8(ascii: "/")).map { String(path[...$0]) } ?? "."
    let lock = Glibc.open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard lock >= 0 else { throw systemProblem("cannot be replaced", errno) }
    defer { close(lock) }
    while flock(lock, LOCK_EX) != 0, errno == EINTR {}
    do throws(DatabaseProblem) {
      return try openWhole()
    } catch {
      guard error.isDamage else { throw error }
    }
    for suffix in ["-wal", "-shm"] { unlink(path + suffix) }
    guard rename(path, path + ".damaged") == 0 else { throw systemProblem("cannot be set aside", errno) }
    warn("\(subject): \(path) was damaged; it is now \(path).damaged, and a new one has been begun")
    try prepare()
    return try openWhole()
  }
}
