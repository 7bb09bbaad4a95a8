import Foundation
import TestSupport
import Testing

/// Each store of default sessions with each thing that can befall its file: requests work, the store works (in memory
/// where it must), and the user is told once.
@Suite struct StoreDamageTests {
  enum Store: String, CaseIterable {
    case cookies, credentials, hsts, altsvc, cache

    var file: String { rawValue == "cache" ? "cache/httpscript/cache.sqlite" : "state/httpscript/\(rawValue).sqlite" }

    /// What warnings call it.
    var subject: String {
      switch self {
      case .cookies: "cookie storage"
      case .credentials: "credential storage"
      case .hsts: "HSTS storage"
      case .altsvc: "Alt-Svc storage"
      case .cache: "cache"
      }
    }

    /// Puts something into the store by a request, or as scripts do, and shows that it is there.
    var script: String {
      switch self {
      case .cookies: "get '/?header=Set-Cookie:%20a=1%3BMax-Age=1000' print(get '/?echo=Cookie')"
      case .credentials:
        """
        print(get "/")
        local storage, space = session.configuration.credential_storage, { host = "localhost" }
        storage:set(http.credential { user = "u", password = "p", persistence = "permanent" }, space)
        print(storage:default(space).password)
        """
      case .hsts:
        "get '/?header=Strict-Transport-Security:%20max-age=100' print(assert(session:get((base:gsub('^https', 'http')))).url)"
      case .altsvc:
        // The alternative is the server by another name.
        "get('/?header=Alt-Svc:%20http%252F1.1%3D%22127.0.0.1:' .. base:match('%d+$') .. '%22') print(get '/?echo=Alt-Used')"
      case .cache:
        """
        for _, size in ipairs { 10, 20000 } do
          local url = base .. "/x?header=Cache-Control:%20max-age=600&" .. ("x"):rep(size)
          print(#assert(session:get(url)).body > size, session:get(url).from_cache)
        end
        """
      }
    }

    func lines(_ server: TLSServer) -> [String] {
      switch self {
      case .cookies: ["a=1"]
      case .credentials: ["GET /", "p"]
      case .hsts: [server.url]
      case .altsvc: ["127.0.0.1:\(server.port)"]
      case .cache: ["true\ttrue", "true\ttrue"]
      }
    }
  }

  enum Damage: String, CaseIterable {
    case truncated, overwritten, newer, isDirectory

    /// The file is put aside and a new one begun.
    var isRepaired: Bool { self == .truncated || self == .overwritten }
  }

  private static let server = Result { try TLSServer() }

  private static let prelude = """
    local http, base = require "http", arg[1]
    local session = http.session(http.configuration.default { ca_file = arg[2] })
    local function get(target) return assert(session:get(base .. target)).body end

    """

  /// The script of a store as a process with its home in `directory`.
  private func run(
    _ store: Store, _ directory: TemporaryDirectory, through wrapper: String? = nil
  ) async throws -> RunResult {
    let server = try Self.server.get()
    let script = try directory.write("script.lua", Self.prelude + store.script)
    let authority = try directory.write(
      "ca.pem", Array(Data(contentsOf: URL(fileURLWithPath: server.authority))))
    let arguments = [Executable.path, script, server.url, authority]
    var launch = Launch(
      program: "/bin/sh", arguments: ["-c", wrapper ?? "exec \"$@\"", "sh"] + arguments,
      environment: [
        "PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": directory.path, "XDG_STATE_HOME": directory.path + "/state",
        "XDG_CACHE_HOME": directory.path + "/cache",
      ], directory: directory.path)
    launch.input = []
    let result = await (try RunningProcess(launch, deadline: 60)).finish()
    #expect(result.lines == store.lines(server) && result.ending == .exited(0), "\(store): \(result)")
    return result
  }

  /// A directory with a store that has been filled, all of it in the main file.
  private func filled(_ store: Store) async throws -> (TemporaryDirectory, String) {
    let directory = try TemporaryDirectory()
    let result = try await run(store, directory)
    #expect(result.stderr.isEmpty, "\(store): \(result)")
    let path = directory.path + "/" + store.file
    _ = try await sqliteFromOutside(path, "db.execute('PRAGMA wal_checkpoint(TRUNCATE)')")
    for suffix in ["-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + suffix) }
    return (directory, path)
  }

  private func inflict(_ damage: Damage, _ path: String) throws {
    var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
    switch damage {
    case .truncated: bytes = bytes.prefix(bytes.count / 2)
    case .overwritten: bytes = Data(repeating: 0x2A, count: bytes.count)
    // The version stands at byte 60.
    case .newer: bytes.replaceSubrange(60..<64, with: [0, 0, 0, 99])
    case .isDirectory:
      try FileManager.default.removeItem(atPath: path)
      return try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
    }
    let file = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
    try file.truncate(atOffset: 0)
    try file.write(contentsOf: bytes)
    try file.close()
  }

  @Test(arguments: Store.allCases, Damage.allCases)
  func damage(_ store: Store, _ damage: Damage) async throws {
    let (directory, path) = try await filled(store)
    try inflict(damage, path)
    let before = try? Data(contentsOf: URL(fileURLWithPath: path))
    let result = try await run(store, directory)
    let warnings = result.stderr.split(separator: "\n")
    #expect(warnings.count == 1, "\(store): \(result)")
    #expect(warnings.first?.hasPrefix("httpscript: warning: \(store.subject)") == true, "\(store): \(result)")
    #expect(FileManager.default.fileExists(atPath: path + ".damaged") == damage.isRepaired)
    if damage.isRepaired {
      let after = try await run(store, directory)
      #expect(after.stderr.isEmpty, "\(store): \(after)")
      let verdict = try await sqliteFromOutside(path, "print(db.execute('PRAGMA integrity_check').fetchone()[0])")
      #expect(verdict == "ok")
    } else {
      let after = try? Data(contentsOf: URL(fileURLWithPath: path))
      #expect(after == before)
    }
  }

  @Test("a full disk, with the store there and without", arguments: Store.allCases, [true, false])
  func fullDisk(_ store: Store, _ isThere: Bool) async throws {
    let directory = try await isThere ? filled(store).0 : TemporaryDirectory()
    // Whatever is written beyond this is refused, as by a full disk.
    let result = try await run(store, directory, through: "ulimit -f 1; trap '' XFSZ; exec \"$@\"")
    let warnings = result.stderr.split(separator: "\n")
    #expect(warnings.count <= 1, "\(store): \(result)")
    #expect(warnings.allSatisfy { $0.hasPrefix("httpscript: warning: \(store.subject)") }, "\(store): \(result)")
    let after = try await run(store, directory)
    #expect(after.stderr.isEmpty, "\(store): \(after)")
  }

  @Test(
    "a directory that cannot be written, with the store there and without", arguments: Store.allCases, [true, false])
  func readOnly(_ store: Store, _ isThere: Bool) async throws {
    let directory = try await isThere ? filled(store).0 : TemporaryDirectory()
    // Nothing is forbidden to root.
    let wrapper = """
      chmod -R a-w "$HOME"; chmod -R go+rX "$HOME"; chmod go-r "$HOME"/state/*/credentials.sqlite 2>/dev/null
      if [ "$(id -u)" = 0 ]; then
        chown -R 65534:65534 "$HOME"
        exec setpriv --reuid=65534 --regid=65534 --clear-groups -- "$@"
      fi
      exec "$@"
      """
    let result = try await run(store, directory, through: wrapper)
    let warnings = result.stderr.split(separator: "\n")
    #expect(warnings.count == 1 && warnings[0].hasPrefix("httpscript: warning: "), "\(store): \(result)")
    _ = try? await RunningProcess(
      Launch(program: "/bin/chmod", arguments: ["-R", "u+w", directory.path], environment: [:], directory: "/"),
      deadline: 30
    ).finish()
  }
}
