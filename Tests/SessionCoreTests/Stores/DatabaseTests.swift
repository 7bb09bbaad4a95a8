import Glibc
import Testing

@testable import SessionCore

@Suite struct DatabaseTests {
  let directory: TemporaryDirectory

  init() throws { directory = try TemporaryDirectory() }

  private func path(_ name: String) -> String { "\(directory.path)/\(name)" }

  private func file(version: Int = 1, isSecret: Bool = false) -> DatabaseFile {
    DatabaseFile(
      path: path("store.sqlite"), subject: "test storage", version: version,
      schema: ["CREATE TABLE things(name TEXT PRIMARY KEY, value BLOB)"], isSecret: isSecret)
  }

  private func names(_ database: Database) throws -> [String] {
    var names: [String] = []
    try database.query("SELECT name FROM things ORDER BY name") { row in
      names.append(row.text(0))
      return true
    }
    return names
  }

  @Test("Values come back as they were put in")
  func values() throws {
    let database = try #require(file().open())
    try database.run("INSERT INTO things VALUES (?, ?)", .text("a"), .blob([0, 255, 0]))
    try database.run("INSERT INTO things VALUES (?, ?)", .text("b"), .blob([]))
    try database.run("INSERT INTO things VALUES (?, ?)", .text("c"), .null)
    var seen: [[UInt8]?] = []
    try database.query("SELECT value FROM things ORDER BY name") { row in
      seen.append(row.isNull(0) ? nil : row.bytes(0))
      return true
    }
    #expect(seen == [[0, 255, 0], [], nil])
  }

  @Test("A failed transaction leaves nothing behind")
  func transaction() throws {
    let database = try #require(file().open())
    #expect(throws: DatabaseProblem.self) {
      try database.transaction { () throws(DatabaseProblem) in
        try database.run("INSERT INTO things VALUES ('a', NULL)")
        try database.run("INSERT INTO things VALUES ('a', NULL)")
      }
    }
    #expect(try names(database).isEmpty)
  }

  @Test("Only the user can read it")
  func mode() throws {
    let database = try #require(file().open())
    try database.run("INSERT INTO things VALUES ('a', NULL)")
    for suffix in ["", "-wal", "-shm"] {
      var status = stat()
      #expect(stat(path("store.sqlite" + suffix), &status) == 0)
      #expect(status.st_mode & 0o777 == 0o600)
    }
  }

  @Test("A secret file that others can read is refused")
  func secret() throws {
    _ = try #require(file(isSecret: true).open())
    chmod(path("store.sqlite"), 0o640)
    #expect(file(isSecret: true).open() == nil)
    #expect(file().open() != nil)
  }

  @Test("A damaged file is set aside", arguments: ["text", "cut", "page"])
  func damage(kind: String) throws {
    do {
      let database = try #require(file().open())
      for number in 0..<500 {
        try database.run("INSERT INTO things VALUES (?, ?)", .text("\(number)"), .blob(Array(repeating: 7, count: 100)))
      }
      try database.run("PRAGMA wal_checkpoint(TRUNCATE)")
    }
    let place = path("store.sqlite")
    switch kind {
    case "text": _ = directory.write("store.sqlite", String(repeating: "A", count: 5000))
    case "cut": truncate(place, 20_000)
    default:
      let descriptor = open(place, O_WRONLY)
      let noise = [UInt8](repeating: 0x5A, count: 12_000)
      pwrite(descriptor, noise, noise.count, 4096)
      close(descriptor)
    }
    let database = try #require(file().open())
    #expect(try names(database).isEmpty)
    try database.run("INSERT INTO things VALUES ('a', NULL)")
    #expect(access(place + ".damaged", F_OK) == 0)
  }

  @Test("A newer version's file is left alone")
  func newer() throws {
    do {
      let database = try #require(file().open())
      try database.run("INSERT INTO things VALUES ('a', NULL)")
      try database.run("PRAGMA user_version = 9")
    }
    #expect(file().open() == nil)
    #expect(try names(try #require(file(version: 9).open())) == ["a"])
  }

  @Test("Where no file can be there is none", arguments: ["missing/store.sqlite", "."])
  func unusable(name: String) {
    let file = DatabaseFile(path: path(name), subject: "test storage", version: 1, schema: [])
    #expect(file.open() == nil)
  }

  @Test("A full disk is an error like others")
  func full() throws {
    let database = try #require(file().open())
    try database.run("PRAGMA max_page_count = 4")
    let problem = #expect(throws: DatabaseProblem.self) {
      try database.run("INSERT INTO things VALUES ('a', ?)", .blob(Array(repeating: 1, count: 100_000)))
    }
    #expect(problem?.isDamage == false)
    #expect(try names(database).isEmpty)
  }
}
