import Foundation
import TestSupport
import Testing

/// The cache on disk: from one run to the next, damaged, unwritable, too small.
@Suite struct CacheStoreTests {
  /// Everything may be stored; the body says which request it answers.
  private static func server(_ size: Int = 0) throws -> ScriptedServer {
    let counter = Counter()
    return try ScriptedServer { request in
      let body = "\(request.target) \(counter.increase()) " + String(repeating: "x", count: size)
      return Reply(fields: [("Cache-Control", "max-age=600")], body)
    }
  }

  private static let script = #"""
    for _, path in ipairs { "/a", "/b", "/a" } do
      local r = assert(http.get(base .. path))
      print(r.body:match("^(%S+ %d+)"), r.from_cache)
    end
    """#

  private static let fresh = ["/a 1\tfalse", "/b 2\tfalse", "/a 1\ttrue"]
  private static let known = ["/a 1\ttrue", "/b 2\ttrue", "/a 1\ttrue"]

  /// Runs the script with a cache in a directory that stays.
  private func run(
    _ server: ScriptedServer, _ home: TemporaryDirectory, _ script: String = Self.script,
    configure: (inout Executable) -> Void = { _ in }
  ) async throws -> RunResult {
    try await runScript(script, [server.url]) { run in
      run.environment["XDG_CACHE_HOME"] = home.path
      configure(&run)
    }
  }

  private func bodies(_ home: TemporaryDirectory) -> [String] {
    let root = home.path + "/httpscript/bodies"
    return (FileManager.default.enumerator(atPath: root)?.allObjects as? [String] ?? [])
      .filter { $0.count > 3 }.map { root + "/" + $0 }
  }

  private func database(_ home: TemporaryDirectory) -> String { home.path + "/httpscript/cache.sqlite" }

  @Test(
    "what one run stored the next one has; reset forgets it, ephemeral sessions and cache = false know nothing of it")
  func acrossRuns() async throws {
    let server = try Self.server()
    let home = try TemporaryDirectory()
    #expect(try await run(server, home).lines == Self.fresh)
    #expect(try await run(server, home).lines == Self.known)
    let others = #"""
      for _, c in ipairs { http.configuration.ephemeral(), http.configuration.default { cache = false } } do
        local s = http.session(c)
        print(s:get(base .. "/a").from_cache, s:get(base .. "/a").from_cache)
      end
      local path = os.getenv("XDG_CACHE_HOME") .. "/httpscript"
      print(http.cache { path = path }:get(base .. "/a").data:match("^%S+ 1"), http.shared.configuration.cache.path == path)
      http.shared:flush()
      http.shared:reset()
      print(http.get(base .. "/a").from_cache)
      """#
    let result = try await run(server, home, others)
    #expect(result.lines == ["false\ttrue", "false\tfalse", "/a 1\ttrue", "false"], "\(result)")
    #expect(result.errors.isEmpty, "\(result)")
  }

  @Test("directory, database and bodies are for the user alone")
  func modes() async throws {
    let home = try TemporaryDirectory()
    let server = try Self.server()
    _ = try await run(server, home)
    func mode(_ path: String) throws -> Int? {
      try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    }
    #expect(try mode(home.path + "/httpscript") == 0o700)
    #expect(try mode(database(home)) == 0o600)
    #expect(bodies(home).count == 2)
    for body in bodies(home) { #expect(try mode(body) == 0o600) }
  }

  @Test("a script whose responses may not be stored opens nothing")
  func nothingToStore() async throws {
    let server = try ScriptedServer { _ in Reply("plain") }
    let home = try TemporaryDirectory()
    let script = #"""
      print(http.get(base).body)
      for line in io.lines("/proc/self/maps") do if line:find("sqlite") then print(line) end end
      """#
    let result = try await run(server, home, script)
    #expect(result.lines == ["plain"] && home.names.isEmpty, "\(result)")
  }

  @Test("a request for which nothing is stored does not open what is there")
  func nothingToFind() async throws {
    let server = try ScriptedServer { request in
      Reply(fields: request.target == "/a" ? [("Cache-Control", "max-age=600")] : [], "x")
    }
    let home = try TemporaryDirectory()
    let script = #"""
      print(http.get(base .. arg[2]).from_cache)
      local found = false
      for line in io.lines("/proc/self/maps") do found = found or line:find("sqlite") ~= nil end
      print(found)
      """#
    for (path, lines) in [("/a", ["false", "false"]), ("/b", ["false", "false"]), ("/a", ["true", "true"])] {
      let result = try await runScript(script, [server.url, path]) { $0.environment["XDG_CACHE_HOME"] = home.path }
      #expect(result.lines == lines, "\(path): \(result)")
    }
  }

  // MARK: Damage

  enum Damage: String, CaseIterable {
    case emptied, cut, overwritten, bodiesChanged, bodiesCut, bodiesGone, bodiesAreDirectories, filterGone, filterCut
  }

  @Test(arguments: Damage.allCases)
  func damage(_ damage: Damage) async throws {
    let server = try Self.server(5000)
    let home = try TemporaryDirectory()
    #expect(try await run(server, home).lines == Self.fresh)
    try await inflict(damage, home)
    let result = try await run(server, home)
    #expect(result.ending == .exited(0), "\(result)")
    let isHarmless = [Damage.filterGone, .filterCut].contains(damage)
    #expect(result.lines == (isHarmless ? Self.known : ["/a 3\tfalse", "/b 4\tfalse", "/a 3\ttrue"]), "\(result)")
    // It works as before again.
    let after = try await run(server, home)
    #expect(after.lines.allSatisfy { $0.hasSuffix("true") }, "\(after)")
    #expect(after.errors.isEmpty, "\(after)")
    let verdict = try await integrity(home)
    #expect(verdict == "ok")
  }

  private func inflict(_ damage: Damage, _ home: TemporaryDirectory) async throws {
    let files = FileManager.default
    let path = database(home)
    // Everything in one file, so that it is worth damaging.
    try await sql(home, "PRAGMA wal_checkpoint(TRUNCATE)")
    for suffix in ["-wal", "-shm"] { try? files.removeItem(atPath: path + suffix) }
    switch damage {
    case .emptied: try Data().write(to: URL(fileURLWithPath: path))
    case .cut:
      let whole = try Data(contentsOf: URL(fileURLWithPath: path))
      try whole.prefix(whole.count / 2).write(to: URL(fileURLWithPath: path))
    case .overwritten: try Data(repeating: 0x2A, count: 20_000).write(to: URL(fileURLWithPath: path))
    case .bodiesChanged:
      for body in bodies(home) {
        var bytes = try Data(contentsOf: URL(fileURLWithPath: body))
        bytes[10] ^= 1
        try bytes.write(to: URL(fileURLWithPath: body))
      }
    case .bodiesCut: for body in bodies(home) { try Data("x".utf8).write(to: URL(fileURLWithPath: body)) }
    case .bodiesGone: try files.removeItem(atPath: home.path + "/httpscript/bodies")
    case .bodiesAreDirectories:
      for body in bodies(home) {
        try files.removeItem(atPath: body)
        try files.createDirectory(atPath: body, withIntermediateDirectories: false)
      }
    case .filterGone: try files.removeItem(atPath: home.path + "/httpscript/cache.keys")
    case .filterCut: try Data("x".utf8).write(to: URL(fileURLWithPath: home.path + "/httpscript/cache.keys"))
    }
  }

  @Test("a store of a newer version is left alone, with a warning")
  func newerVersion() async throws {
    let server = try Self.server()
    let home = try TemporaryDirectory()
    _ = try await run(server, home)
    try await sql(home, "PRAGMA user_version = 99")
    let before = try Data(contentsOf: URL(fileURLWithPath: database(home)))
    let result = try await run(server, home)
    #expect(result.lines == ["/a 3\tfalse", "/b 4\tfalse", "/a 3\ttrue"], "\(result)")
    #expect(result.stderr.contains("newer version") && result.stderr.split(separator: "\n").count == 1, "\(result)")
    #expect(try Data(contentsOf: URL(fileURLWithPath: database(home))) == before)
  }

  @Test("a directory that cannot be written, one that is a file, and no HOME at all: in memory, with one warning")
  func nowhere() async throws {
    let server = try Self.server()
    let home = try TemporaryDirectory()
    try home.write("file", "x")
    for directory in ["/proc/nothing", home.path + "/file"] {
      let counted = server.requests.count
      let result = try await run(server, home) { $0.environment["XDG_CACHE_HOME"] = directory }
      #expect(
        result.lines == ["/a \(counted + 1)\tfalse", "/b \(counted + 2)\tfalse", "/a \(counted + 1)\ttrue"], "\(result)"
      )
      #expect(result.stderr.split(separator: "\n").count == 1, "\(result)")
    }
    let counted = server.requests.count
    let result = try await runScript(Self.script, [server.url]) { run in
      run.usesBareEnvironment = true
      run.environment = ["PATH": "/usr/bin:/bin"]
    }
    #expect(result.lines.last == "/a \(counted + 1)\ttrue", "\(result)")
    #expect(result.stderr.split(separator: "\n").count == 1, "\(result)")
  }

  @Test("a full disk: the responses come, and are kept in memory")
  func fullDisk() async throws {
    let server = try Self.server(20_000)
    let home = try TemporaryDirectory()
    // Whatever is written beyond this is refused, as by a full disk.
    let script = "ulimit -f 8; trap '' XFSZ; exec \"$@\""
    let file = try home.write("script.lua", prelude + Self.script)
    var launch = Launch(
      program: "/bin/sh", arguments: ["-c", script, "sh", Executable.path, file, server.url],
      environment: ["HOME": home.path, "XDG_CACHE_HOME": home.path + "/cache", "XDG_STATE_HOME": home.path + "/state"],
      directory: home.path)
    launch.input = []
    let result = await (try RunningProcess(launch, deadline: 30)).finish()
    #expect(result.lines == Self.fresh, "\(result)")
    #expect(result.ending == .exited(0), "\(result)")
  }

  // MARK: Capacity

  @Test("what was used least recently goes first, on disk and in memory")
  func eviction() async throws {
    let server = try Self.server(10_000)
    let home = try TemporaryDirectory()
    let script = #"""
      local function fill(cache, flush)
        local s = http.session { cache = cache }
        for i = 1, 8 do
          assert(s:get(base .. "/" .. i))
          assert(s:get(base .. "/1"))
          if flush then s:flush() end
        end
        local kept = {}
        for i = 1, 8 do kept[i] = cache:get(base .. "/" .. i) and "1" or "0" end
        print(table.concat(kept), cache.usage.memory <= 60000, cache.usage.disk <= 60000)
      end
      fill(http.cache { memory_capacity = 60000 })
      fill(http.cache { path = os.getenv("XDG_CACHE_HOME") .. "/own", memory_capacity = 1000, disk_capacity = 60000 }, true)
      """#
    let result = try await run(server, home, script)
    for line in result.lines {
      let kept = line.prefix { $0 != "\t" }
      #expect(kept.first == "1" && kept.last == "1" && kept.contains("0"), "\(result)")
      #expect(line.hasSuffix("true\ttrue"), "\(result)")
    }
    #expect(result.lines.count == 2, "\(result)")
  }

  @Test("a body larger than the cache is not stored, a large one goes to its file as it comes")
  func largeBodies() async throws {
    let server = try Self.server(3_000_000)
    let home = try TemporaryDirectory()
    let script = #"""
      local small = http.session { cache = http.cache { path = os.getenv("XDG_CACHE_HOME") .. "/own", disk_capacity = 1000000 } }
      print(small:get(base .. "/x").from_cache, small:get(base .. "/x").from_cache)
      local first, second = http.get(base .. "/y"), http.get(base .. "/y")
      print(second.from_cache, first.body == second.body)
      local size = 0
      local third = http.get(base .. "/y", { sink = function(piece) size = size + #piece end })
      print(third.from_cache, size == #first.body)
      """#
    let result = try await run(server, home, script)
    #expect(result.lines == ["false\tfalse", "true\ttrue", "true\ttrue"], "\(result)")
  }

  // MARK: SQLite from outside

  private func sql(_ home: TemporaryDirectory, _ statement: String) async throws {
    _ = try await python(home, "db.execute(\(JSONValue.string(statement).text)); db.commit()")
  }

  private func integrity(_ home: TemporaryDirectory) async throws -> String {
    try await python(home, "print(db.execute('PRAGMA integrity_check').fetchone()[0])")
  }

  private func python(_ home: TemporaryDirectory, _ code: String) async throws -> String {
    try await sqliteFromOutside(database(home), code)
  }
}

/// Runs Python with a database open as `db`; answers what it prints.
func sqliteFromOutside(_ path: String, _ code: String) async throws -> String {
  let text = "import sqlite3, sys; db = sqlite3.connect(sys.argv[1])\n" + code
  let launch = Launch(program: "/usr/bin/python3", arguments: ["-c", text, path], environment: [:], directory: "/")
  let result = await (try RunningProcess(launch, deadline: 30)).finish()
  return result.stdout.trimmingCharacters(in: .whitespacesAndNewlines)
}
