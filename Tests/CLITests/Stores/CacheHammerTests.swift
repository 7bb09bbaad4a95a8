import Foundation
import TestSupport
import Testing

/// Several processes at once on one cache, some of them killed.
@Suite struct CacheHammerTests {
  /// Asks for changing sets of URLs, with variants, removals and changes on the server's side, and looks at each body:
  /// it must be one the server has made for that URL and language.
  private static let script = #"""
    local seed, seconds = tonumber(arg[2]), tonumber(arg[3])
    math.randomseed(seed)
    local session = http.session { cache = http.cache {
      path = os.getenv("XDG_CACHE_HOME") .. "/shared", memory_capacity = 200000, disk_capacity = 3000000,
    } }
    local stop = http.now() + seconds
    local requests, hits = 0, 0
    local function one()
      while http.now() < stop do
        local path, language = "/" .. math.random(200), math.random(2) == 1 and "de" or "en"
        local r, err = session:get(base .. path, { headers = { ["Accept-Language"] = language } })
        if not r then io.stderr:write(tostring(err), "\n") os.exit(3) end
        local name, tongue, size, rest = r.body:match("^(%S+) (%a+) (%d+) (x*)$")
        if name ~= path or tongue ~= language or #rest ~= tonumber(size) then
          io.stderr:write("wrong body for ", path, " ", language, ": ", r.body:sub(1, 60), "\n")
          os.exit(4)
        end
        requests = requests + 1
        if r.from_cache then hits = hits + 1 end
        if math.random(50) == 1 then session:post(base .. path, { body = "x" }) end
        if math.random(500) == 1 then session.configuration.cache:remove(base .. path) end
      end
    end
    local jobs = {}
    for i = 1, 4 do jobs[i] = http.spawn(one) end
    for _, job in ipairs(jobs) do assert(not select(2, job:wait())) end
    print(requests, hits)
    """#

  @Test("8 processes, one killed each second: no wrong body, the database whole, nobody waits for ever")
  func killed() async throws {
    let seconds = ProcessInfo.processInfo.environment["HAMMER_SECONDS"].flatMap { Double($0) } ?? 8
    let server = try ScriptedServer { request in
      if request.method == "POST" { return Reply(status: "204 No Content") }
      let size = (request.target.utf8.reduce(0) { $0 &* 31 &+ Int($1) } & 0xFFFF) * 3 / 2
      let age = size % 3 == 0 ? "max-age=1" : "max-age=600"
      return Reply(
        fields: [("Cache-Control", age), ("Vary", "Accept-Language")],
        "\(request.target) \(request["Accept-Language"] ?? "") \(size) " + String(repeating: "x", count: size))
    }
    let home = try TemporaryDirectory()
    await ProcessSlots.shared.take(2)
    let failures = try await hammer(server, home, seconds)
    await ProcessSlots.shared.give(2)
    #expect(failures.isEmpty, "\(failures)")
    let database = home.path + "/shared/cache.sqlite"
    #expect(try await sqliteFromOutside(database, "print(db.execute('PRAGMA integrity_check').fetchone()[0])") == "ok")
    let sums =
      "print(*db.execute(\"select (select sum(size) from responses) = (select value from facts where name = 'size')\").fetchone())"
    #expect(try await sqliteFromOutside(database, sums) == "1")
  }

  /// Keeps 8 processes running and kills one each second; answers what went wrong with the others.
  private func hammer(
    _ server: ScriptedServer, _ home: TemporaryDirectory, _ seconds: Double
  ) async throws -> [String] {
    let end = Date(timeIntervalSinceNow: seconds)
    var seed = 0
    func start() throws -> RunningScript {
      seed += 1
      let left = max(1, end.timeIntervalSinceNow)
      var run = Executable(.file(prelude + Self.script), arguments: [server.url, "\(seed)", "\(left)"])
      run.environment["XDG_CACHE_HOME"] = home.path
      run.deadline = left + 60
      return try run.start()
    }
    var running = try (0..<8).map { _ in try start() }
    var failures: [String] = []
    while end.timeIntervalSinceNow > 1 {
      try await Task.sleep(for: .seconds(1))
      let victim = running.removeFirst()
      victim.signal(SIGKILL)
      let result = await victim.finish()
      if result.ending != .signalled(SIGKILL), result.ending != .exited(0) { failures.append("\(result)") }
      running.append(try start())
    }
    for one in running {
      let result = await one.finish()
      if result.ending != .exited(0) || !result.errors.isEmpty { failures.append("\(result)") }
    }
    return failures
  }
}
