import Foundation
import Glibc
import TestSupport
import Testing

/// Download tasks: where the file is, how long, and what the delegate hears.
@Suite struct DownloadTaskTests {
  static let big = (0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 9) }

  static func server() throws -> ScriptedServer {
    try ScriptedServer { connection in
      while let request = try connection.readRequest() {
        switch request.path {
        case "/big": try connection.send(Reply(fields: [("Content-Type", "application/x-test")], body: big))
        case "/go": try connection.send(Reply(status: "302 Found", fields: [("Location", "/file")], "redirect's body"))
        case "/missing": try connection.send(Reply(status: "404 Not Found", "no such page"))
        case "/empty": try connection.send(Reply(""))
        case "/cut": return try connection.send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf")
        case "/hang":
          try connection.send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf")
          connection.waitForClose()
        case "/coding": try connection.send(Reply(request["Accept-Encoding"] ?? "none"))
        default: try connection.send(Reply("0123456789"))
        }
      }
    }
  }

  static let read = """
    local function read(path)
      local file = io.open(path, "rb")
      if not file then return "gone" end
      local text = file:read("a")
      file:close()
      return text
    end

    """

  static let cases = [
    ScriptCase(
      "wait gives a location that lives until the process ends",
      read + """
        local task = http.session(http.configuration.ephemeral()):download_task(base .. "/file")
        print(task.kind, task.state)
        task:resume()
        local r = assert(task:wait())
        print(r.status, r.body, read(r.location), r.location == task.response.location)
        print(task.count_of_bytes_received, task.count_of_bytes_expected_to_receive)
        """, prints: "download\tsuspended", "200\tnil\t0123456789\ttrue", "10\t10"),
    ScriptCase(
      "a completion gets the location, and the file goes when it returns",
      read + """
        local where, inside, status
        http.session(http.configuration.ephemeral()):download_task(base .. "/file", function(location, r, err)
          where, inside, status = location, read(location), r.status
          http.sleep(0.02)
          assert(read(location) == "0123456789")
        end):resume()
        http.sleep(0.3)
        print(inside, status, read(where))
        """, prints: "0123456789\t200\tgone"),
    ScriptCase(
      "the delegate moves it in did_finish_downloading",
      read + """
        local target = os.tmpname()
        local session = http.session(http.configuration.ephemeral(), {
          did_finish_downloading = function(_, task, location) assert(os.rename(location, target)) end,
        })
        local task = session:download_task(base .. "/file")
        task:resume()
        local r = assert(task:wait())
        print(r.location, read(target))
        os.remove(target)
        """, prints: "nil\t0123456789"),
    ScriptCase(
      "an error in did_finish_downloading fails the task and the file goes",
      read + """
        local where
        local session = http.session(http.configuration.ephemeral(), {
          did_finish_downloading = function(_, task, location) where = location error("no room") end,
          did_complete = function(_, _, err) print(err.code) end,
        })
        local task = session:download_task(base .. "/file")
        task:resume()
        print(task:wait() == nil, read(where))
        """, prints: "handler_error", "true\tgone"),
    ScriptCase(
      "handlers come in Apple's order, and there is no did_receive_response",
      read + """
        local seen = {}
        local function note(name) return function() if seen[#seen] ~= name then seen[#seen + 1] = name end end end
        local total, sum, expected = 0, 0, nil
        local session = http.session(http.configuration.ephemeral(), {
          did_create_task = note "create", will_perform_redirection = note "redirect",
          did_receive_response = note "response", did_receive_data = note "data",
          did_write_data = function(_, _, written, all, wanted)
            note "write" ()
            sum, total, expected = sum + written, all, wanted
            assert(sum == total and total <= wanted and written > 0)
          end,
          did_finish_downloading = note "finish", did_finish_collecting_metrics = note "metrics",
          did_complete = note "complete",
        })
        local task = session:download_task(base .. "/go")
        task:resume()
        assert(task:wait())
        print(table.concat(seen, " "), total, expected)
        seen, sum = {}, 0
        task = session:download_task(base .. "/big")
        task:resume()
        assert(task:wait())
        print(table.concat(seen, " "), total, expected)
        """, prints: "create redirect write finish metrics complete\t10\t10",
      "create write finish metrics complete\t3000000\t3000000"),
    ScriptCase(
      "an error page and an empty body are files too",
      read + """
        local session = http.session(http.configuration.ephemeral())
        for _, path in ipairs { "/missing", "/empty" } do
          local task = session:download_task(base .. path)
          task:resume()
          local r = assert(task:wait())
          print(r.status, "[" .. read(r.location) .. "]")
        end
        """, prints: "404\t[no such page]", "200\t[]"),
    ScriptCase(
      "failed and cancelled downloads leave nothing",
      read + """
        local directory = os.tmpname()
        os.remove(directory)
        assert(os.execute("mkdir " .. directory))
        local session = http.session(http.configuration.ephemeral { shared_container = directory })
        local function files() return io.popen("find " .. directory .. " -type f -name '*.download' | wc -l"):read("n") end
        local task = session:download_task(base .. "/cut")
        task:resume()
        print(select(2, task:wait()).code, files())
        task = session:download_task(base .. "/hang")
        task:resume()
        while task.count_of_bytes_received == 0 do http.sleep(0.01) end
        print(files())
        task:cancel()
        print(select(2, task:wait()).code, files())
        task = session:download_task(base .. "/file")
        task:resume()
        local r = assert(task:wait())
        print(r.location:find(directory, 1, true) == 1, assert(r:save(directory .. "/here")) == r.location)
        print(read(directory .. "/here"))
        local none = http.session(http.configuration.ephemeral { shared_container = directory .. "/none" })
        task = none:download_task(base .. "/file")
        task:resume()
        print(select(2, task:wait()).code)
        """, prints: "network_connection_lost\t0", "1", "cancelled\t0", "true\ttrue", "0123456789", "cannot_create_file"
    ),
    ScriptCase(
      "download tasks are listed with their kind, copied with it, and can be waited for twice",
      """
      local session = http.session(http.configuration.ephemeral())
      local task = session:download_task(http.request(base .. "/hang"))
      task:resume()
      local data, upload, download = session:tasks()
      print(#data, #upload, #download, download[1] == task, task:copy().kind)
      task:cancel()
      task:wait()
      print(select(2, task:wait()).code)
      """, prints: "0\t0\t1\ttrue\tdownload", "cancelled"),
  ]

  @Test(arguments: cases)
  func behaviour(_ scriptCase: ScriptCase) async throws {
    let server = try Self.server()
    try await check(scriptCase, server.url)
  }

  @Test(
    "a process leaves nothing of its downloads, however it ends", arguments: ["return", "os.exit(0)", "error('x')"])
  func leavesNothing(ending: String) async throws {
    let server = try Self.server()
    let container = try TemporaryDirectory()
    let script = """
      local session = http.session(http.configuration.ephemeral { shared_container = arg[2] })
      local task = session:download_task(base .. "/file")
      task:resume()
      assert(io.open(assert(task:wait()).location))
      session:download_task(base .. "/hang"):resume()
      http.sleep(0.1)
      for _, one in ipairs(session:all_tasks()) do if "\(ending)" == "return" then one:cancel() end end
      \(ending)
      """
    let result = try await runScript(script, [server.url, container.path])
    #expect(result.ending == .exited(ending == "error('x')" ? 1 : 0), "\(result)")
    #expect(container.names == [])
  }

  @Test("what a killed process left goes with the next download; a live one's stays")
  func leftovers() async throws {
    let server = try Self.server()
    let container = try TemporaryDirectory()
    let holding = """
      local session = http.session(http.configuration.ephemeral { shared_container = arg[2] })
      local task = session:download_task(base .. "/file")
      task:resume()
      local r = assert(task:wait())
      print(r.location)
      io.flush()
      http.sleep(600)
      """
    var run = Executable(.file(prelude + holding), arguments: [server.url, container.path])
    run.deadline = 300
    let killed = try run.start()
    #expect(await killed.wrote("download"))
    let alive = try run.start()
    #expect(await alive.wrote("download"))
    #expect(container.names.count == 2)
    killed.signal(SIGKILL)
    _ = await killed.finish()
    let third = """
      local session = http.session(http.configuration.ephemeral { shared_container = arg[2] })
      local task = session:download_task(base .. "/file")
      task:resume()
      assert(task:wait())
      """
    try await expectScript(third, [server.url, container.path], prints: [])
    #expect(container.names.count == 1)
    alive.signal(SIGTERM)
    let result = await alive.finish()
    #expect(result.ending == .exited(128 + SIGTERM), "\(result)")
    #expect(container.names == [])
  }

  @Test("many downloads leave files and descriptors as they were")
  func manyTasks() async throws {
    let server = try Self.server()
    let container = try TemporaryDirectory()
    let script = """
      local session = http.session(http.configuration.ephemeral { shared_container = arg[2] })
      local function count(command) return io.popen(command):read("n") end
      local function descriptors() return count("ls /proc/$PPID/fd | wc -l") end
      local list = {}
      for i = 1, 500 do list[i] = i end
      local before
      for _ = 1, 4 do
        http.map(list, 6, function()
          local task = session:download_task(base .. "/file", function() end)
          task:resume()
          assert(task:wait())
        end)
        before = before or descriptors()
      end
      print(count("find " .. arg[2] .. " -name '*.download' | wc -l"), descriptors() <= before + 6)
      """
    var run = Executable(.file(prelude + script), arguments: [server.url, container.path])
    run.deadline = 120
    let result = try await run.run()
    #expect(result.lines == ["0\ttrue"], "\(result)")
    #expect(container.names == [])
  }
}
