import Glibc
import TestSupport
import Testing

/// SIGINT and SIGTERM, once and twice.
@Suite struct SignalTests {
  static func server() throws -> ScriptedServer {
    try ScriptedServer { connection in
      if try connection.readRequest() != nil { connection.waitForClose() }
    }
  }

  @Test("the first signal cancels tasks and runs their completions", arguments: [SIGINT, SIGTERM])
  func first(signal: Int32) async throws {
    let server = try Self.server()
    let script = """
      local session = http.session(http.configuration.ephemeral(), {
        did_complete = function(_, _, err) print("complete", err.code) end,
      })
      session:data_task(base):resume()
      print("begun")
      io.stdout:flush()
      """
    let running = try Executable(.file(prelude + script), arguments: [server.url]).start()
    #expect(await running.wrote("begun"))
    running.signal(signal)
    let result = await running.finish()
    #expect(result.lines == ["begun", "complete\tcancelled"], "\(result)")
    #expect(result.ending == .exited(128 + signal) || result.ending == .signalled(signal), "\(result)")
    #expect(result.seconds < 30)
  }

  @Test("a status the dying script sets does not win", arguments: [SIGINT, SIGTERM])
  func status(signal: Int32) async throws {
    let server = try Self.server()
    let script = """
      print("begun") io.stdout:flush()
      local r, err = http.get(base)
      print(err.code)
      os.exit(0)
      """
    let running = try Executable(.file(prelude + script), arguments: [server.url]).start()
    #expect(await running.wrote("begun"))
    running.signal(signal)
    let result = await running.finish()
    #expect(result.ending == .exited(128 + signal) || result.ending == .signalled(signal), "\(result)")
  }

  @Test("a second signal ends at once", arguments: [SIGINT, SIGTERM])
  func second(signal: Int32) async throws {
    let server = try Self.server()
    let script = """
      local session = http.session(http.configuration.ephemeral(), {
        did_complete = function() print("dying") io.stdout:flush() http.sleep(60) end,
      })
      session:data_task(base):resume()
      print("begun") io.stdout:flush()
      """
    let running = try Executable(.file(prelude + script), arguments: [server.url]).start()
    #expect(await running.wrote("begun"))
    running.signal(signal)
    #expect(await running.wrote("dying"))
    running.signal(signal)
    let result = await running.finish()
    #expect(result.ending == .exited(128 + signal) || result.ending == .signalled(signal), "\(result)")
    #expect(result.seconds < 30)
  }

  static let runaways = [
    "print('begun') io.stdout:flush() while true do end",
    "print('begun') io.stdout:flush() coroutine.wrap(function() while true do pcall(error) end end)()",
    "http.spawn(function() print('begun') io.stdout:flush() repeat until false end):wait()",
    "print('begun') io.stdout:flush() http.sleep(1000)",
    "print('begun') io.stdout:flush() http.sleep(math.huge)",
    "print('begun') io.stdout:flush() while true do pcall(http.sleep, 0.01) end",
    "print('begun') io.stdout:flush() while true do pcall(coroutine.wrap(function() while true do pcall(error) end end)) end",
    "print('begun') io.stdout:flush() while true do pcall(function() while true do end end) print('caught') io.stdout:flush() end",
  ]

  @Test("a runaway script can be interrupted", arguments: runaways, [SIGINT, SIGTERM])
  func runaway(script: String, signal: Int32) async throws {
    var run = Executable(.file(prelude + script))
    run.deadline = 90
    let running = try run.start()
    #expect(await running.wrote("begun"))
    running.signal(signal)
    if script.contains("caught"), await running.wrote("caught") { running.signal(signal) }
    let result = await running.finish()
    #expect(result.ending == .exited(128 + signal) || result.ending == .signalled(signal), "\(result)")
    #expect(result.seconds < 90)
  }
}
