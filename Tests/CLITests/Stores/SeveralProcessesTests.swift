import Foundation
import TestSupport
import Testing

/// Many processes work on the same stores, and some are killed.
@Suite struct SeveralProcessesTests {
  /// Writes a cookie and a credential with a rising number, and says so when both are kept, until a file tells it to end.
  static let worker = """
    local http = require "http"
    local cookies_path, credentials_path, stop, name = table.unpack(arg)
    io.stdout:setvbuf("line")
    local cookies = assert(http.cookie_storage { path = cookies_path })
    local credentials = assert(http.credential_storage { path = credentials_path })
    local url, number = "http://" .. name .. ".test/", 0
    repeat
      number = number + 1
      assert(cookies:set({ name = "c", value = tostring(number), expires = os.time() + 1000 }, url))
      credentials:set(http.credential { user = "u", password = tostring(number), persistence = "permanent" },
        { host = name })
      print(number)
      cookies:cookies(url)
      local file = io.open(stop)
    until file
    """

  /// What one process said it had kept.
  struct Claim: Sendable {
    let name: String
    let number: Int
  }

  @Test("no cookie or credential that was kept is lost, and the files are whole", .timeLimit(.minutes(5)))
  func hammering() async throws {
    let directory = try TemporaryDirectory()
    let paths = ["cookies", "credentials", "stop"].map { "\(directory.path)/\($0)" }
    let isLong = ProcessInfo.processInfo.environment["HTTPSCRIPT_LONG"] != nil
    let (workers, kills) = (8, isLong ? 60 : 6)
    func start(_ name: String) throws -> RunningScript {
      var run = Executable(.file(Self.worker), arguments: paths + [name])
      run.deadline = 240
      return try run.start()
    }
    var running: [(name: String, process: RunningScript)] = []
    for number in 0..<workers { running.append(("w\(number)", try start("w\(number)"))) }
    var claims: [Claim] = []
    for round in 0..<kills {
      if isLong { try await Task.sleep(for: .seconds(1)) }
      let victim = running.removeFirst()
      #expect(await victim.process.wrote("\n20\n"), "\(victim.name) does not get on")
      victim.process.signal(SIGKILL)
      claims.append(Self.claim(victim.name, await victim.process.finish()))
      running.append(("k\(round)", try start("k\(round)")))
    }
    for one in running { #expect(await one.process.wrote("\n20\n"), "\(one.name) does not get on") }
    _ = try directory.write("stop", [])
    for one in running {
      let result = await one.process.finish()
      #expect(result.ending == .exited(0) && result.stderr == "", "\(one.name): \(result)")
      claims.append(Self.claim(one.name, result))
    }
    try await Self.verify(claims, paths)
  }

  private static func claim(_ name: String, _ result: RunResult) -> Claim {
    // The last line may be cut off.
    let whole = result.stdout.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
    return Claim(name: name, number: whole.last.flatMap { Int($0) } ?? 0)
  }

  private static func verify(_ claims: [Claim], _ paths: [String]) async throws {
    let check = """
      local cookies = assert(http.cookie_storage { path = arg[1] })
      local credentials = assert(http.credential_storage { path = arg[2] })
      for i = 3, #arg do
        local list = cookies:cookies("http://" .. arg[i] .. ".test/")
        print(#list == 1 and list[1].value, (credentials:default { host = arg[i] } or {}).password)
      end
      """
    let result = try await runScript(check, Array(paths.prefix(2)) + claims.map(\.name))
    #expect(result.ending == .exited(0) && result.stderr == "", "\(result)")
    for (claim, line) in zip(claims, result.lines) {
      let kept = line.split(separator: "\t").map { Int($0) ?? -1 }
      #expect(kept.count == 2 && kept.allSatisfy { $0 >= claim.number }, "\(claim) but \(line)")
      #expect(claim.number >= 20)
    }
    #expect(result.lines.count == claims.count)
    for path in paths.prefix(2) {
      let text = try await sqliteFromOutside(path, "print(db.execute('pragma integrity_check').fetchone()[0])")
      #expect(text == "ok")
      #expect(!FileManager.default.fileExists(atPath: path + ".damaged"))
    }
  }
}
