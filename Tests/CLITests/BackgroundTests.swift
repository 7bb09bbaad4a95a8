import Foundation
import Glibc
import TestSupport
import Testing

/// Sessions whose downloads and uploads go on across the runs of a script.
@Suite("Background sessions")
struct BackgroundTests {
  /// A session of the identifier in `arg[2]`'s container, with a delegate that prints what it hears.
  static let opening = """
    local delegate = {}
    local function say(...) print(...) io.flush() end
    function delegate.did_create_task(_, task) say("created", task.kind, task.identifier) end
    function delegate.did_resume_at_offset(_, task, offset) say("on from", task.identifier, offset > 0) end
    function delegate.did_write_data(_, task, _, total) if total > 1400000 then say("well on") end end
    function delegate.did_finish_downloading(_, task, location)
      say("file", task.identifier, #assert(io.open(location, "rb")):read("a"))
      assert(os.rename(location, arg[2] .. "/out" .. task.identifier))
    end
    function delegate.did_complete(_, task, err)
      say("ended", task.identifier, err and err.code or task.response.status, task.description)
    end
    function delegate.did_finish_events_for_background_session() say("all told") end
    local function open(fields)
      fields = fields or {}
      fields.shared_container = arg[2] .. "/state"
      return http.session(http.configuration.background("org.example.sync", fields), delegate)
    end

    """

  /// Runs what opens the session and does no more.
  private static func goOn(
    _ server: ScriptedServer, _ directory: TemporaryDirectory, prints lines: [String],
    sourceLocation: SourceLocation = #_sourceLocation
  ) async throws -> RunResult {
    try await expectScript(
      opening + "assert(open())", [server.url, directory.path], prints: lines, sourceLocation: sourceLocation
    ) { $0.deadline = 60 }
  }

  private static func begin(
    _ server: ScriptedServer, _ directory: TemporaryDirectory, _ script: String
  ) throws -> RunningScript {
    var run = Executable(.file(prelude + opening + script), arguments: [server.url, directory.path])
    run.deadline = 60
    return try run.start()
  }

  private static let state = "state/background.httpscript/org.example.sync"

  private static func names(_ directory: TemporaryDirectory) -> [String] {
    ((try? FileManager.default.contentsOfDirectory(atPath: "\(directory.path)/\(state)")) ?? []).sorted()
  }

  @Test("a killed or ended process's download is gone on with, from where it was", arguments: [SIGKILL, SIGTERM])
  func download(signal: Int32) async throws {
    // The first answer stops in the middle.
    let server = try ScriptedServer { connection in
      while let request = try connection.readRequest() {
        let isFirst = request.path == "/file" && request["Range"] == nil
        if !isFirst { try SegmentTests.answer(request, connection) } else { try Self.half(connection) }
      }
    }
    let directory = try TemporaryDirectory()
    let script = """
      local session = assert(open())
      local task = session:download_task(base .. "/file")
      task.description = "the file"
      task:resume()
      assert(session:download_task(base .. "/whole").state == "suspended")
      """
    let first = try Self.begin(server, directory, script)
    #expect(await first.wrote("well on"))
    first.signal(signal)
    let result = await first.finish()
    #expect(!result.stdout.contains("ended"), "\(result)")
    let second = """
      local session = assert(open())
      for _, task in ipairs(session:all_tasks()) do
        say(task.kind, task.identifier, task.state, task.description, task.original_request.url == base .. "/file")
      end
      local data, upload, download = session:tasks()
      say(#data, #upload, #download)
      local task = session:all_tasks()[1]
      assert(task:wait())
      session:all_tasks()[1]:resume()
      """
    let lines = [
      "download\t1\trunning\tthe file\ttrue", "download\t2\tsuspended\tnil\tfalse", "0\t0\t2", "on from\t1\ttrue",
      "file\t1\t3000000", "ended\t1\t206\tthe file", "all told", "file\t2\t3000000", "ended\t2\t200\tnil", "all told",
    ]
    let last = try await runScript(Self.opening + second, [server.url, directory.path]) { $0.deadline = 60 }
    #expect(last.lines.filter { $0 != "well on" } == lines, "\(last)")
    let ranges = server.requests.filter { $0.path == "/file" }.map { $0["Range"] }
    #expect(ranges.count == 2 && ranges[0] == nil, "\(ranges)")
    let offset = ranges[1].flatMap { Int($0.dropFirst("bytes=".count).dropLast()) } ?? 0
    #expect(offset > 1_000_000, "\(ranges)")
    #expect(directory.read("out1") == SegmentTests.content)
    #expect(directory.read("out2") == SegmentTests.content)
    // Nothing is left to be remembered.
    #expect(Self.names(directory) == [])
    try await expectScript(
      Self.opening + "say(#assert(open()):all_tasks())", [server.url, directory.path], prints: ["0"])
  }

  /// The first half of the file, and then nothing more.
  private static func half(_ connection: Connection) throws {
    try connection.send("HTTP/1.1 200 OK\r\nETag: \"v1\"\r\nContent-Length: \(SegmentTests.size)\r\n\r\n")
    try connection.send(SegmentTests.content.prefix(SegmentTests.size / 2))
    connection.waitForClose()
  }

  @Test("what is set on a task at any time is there in the next run")
  func fields() async throws {
    let server = try ScriptedServer { connection in
      while try connection.readRequest() != nil { try Self.half(connection) }
    }
    let directory = try TemporaryDirectory()
    let script = """
      local session = assert(open())
      local first = session:download_task(base .. "/file")
      first.description, first.priority = "never begun", 0.25
      local second = session:download_task(base .. "/file")
      second:resume()
      second.description, second.priority = "begun", 0.75
      assert(not pcall(function() second.priority = 2 end))
      say(first.description, first.priority, second.description, second.priority)
      """
    let running = try Self.begin(server, directory, script)
    #expect(await running.wrote("never begun\t0.25\tbegun\t0.75"))
    running.signal(SIGKILL)
    _ = await running.finish()
    let next = """
      for _, task in ipairs(assert(open()):all_tasks()) do
        say(task.identifier, task.state, task.description, task.priority)
        task:cancel()
      end
      """
    let result = try await runScript(Self.opening + next, [server.url, directory.path]) { $0.deadline = 60 }
    #expect(
      Array(result.lines.prefix(2)) == ["1\tsuspended\tnever begun\t0.25", "2\trunning\tbegun\t0.75"], "\(result)")
    #expect(result.lines.contains("ended\t2\tcancelled\tbegun"), "\(result)")
  }

  @Test("killed at random moments, again and again", arguments: 0..<4)
  func killed(seed: Int) async throws {
    let server = try SegmentTests.server(pause: 0.02)
    let directory = try TemporaryDirectory()
    let script = """
      local session = assert(open())
      say("begun")
      if #session:all_tasks() == 0 then session:download_task(base .. "/file") end
      for _, task in ipairs(session:all_tasks()) do task:resume() end
      """
    for round in 0..<5 {
      let running = try Self.begin(server, directory, script)
      #expect(await running.wrote("begun"))
      try await Task.sleep(for: .milliseconds(Int.random(in: 20...500)))
      running.signal(SIGKILL)
      _ = await running.finish()
      #expect(directory.read("out1").map { $0 == SegmentTests.content } ?? true)
      if round == 3, seed % 2 == 0 { Self.damage("\(directory.path)/\(Self.state)/1.download") }
    }
    let last = try await runScript(Self.opening + script, [server.url, directory.path]) { $0.deadline = 60 }
    #expect(last.ending == .exited(0), "\(last)")
    #expect(last.lines.contains { $0.hasPrefix("ended\t") && $0.contains("\t20") }, "\(last)")
    let files = directory.names.filter { $0.hasPrefix("out") }
    #expect(!files.isEmpty)
    for name in files { #expect(directory.read(name) == SegmentTests.content) }
  }

  /// Changes a byte, as a bad disk may.
  private static func damage(_ path: String) {
    let descriptor = Glibc.open(path, O_WRONLY)
    guard descriptor >= 0 else { return }
    _ = "x".withCString { pwrite(descriptor, $0, 1, 17) }
    close(descriptor)
  }

  @Test("an upload from a file begins again; headers, method and body are what they were")
  func upload() async throws {
    let hold = Gate()
    let server = try ScriptedServer { connection in
      guard let request = try connection.readRequest() else { return }
      if !hold.isOpen { return connection.waitForClose() }
      try connection.send(Reply(status: "201 Created", "thanks"), to: request)
    }
    let directory = try TemporaryDirectory()
    try directory.write("body", Array(repeating: 0x61, count: 100_000))
    let script = """
      local session = assert(open())
      local request = http.request { url = base .. "/up", method = "PUT",
        headers = { Authorization = "Bearer secret", ["X-Part"] = "7" } }
      session:upload_task(request, { file = "body" }):resume()
      say("begun")
      """
    var run = Executable(.file(prelude + Self.opening + script), arguments: [server.url, directory.path])
    run.directory = directory.path
    let first = try run.start()
    #expect(await first.wrote("begun"))
    while server.requests.isEmpty { try await Task.sleep(for: .milliseconds(5)) }
    first.signal(SIGKILL)
    _ = await first.finish()
    hold.open()
    // Secrets are kept, or the request could not be made again; for the user's eyes alone.
    var status = stat()
    #expect(lstat("\(directory.path)/\(Self.state)/1.task", &status) == 0 && status.st_mode & 0o777 == 0o600)
    _ = try await Self.goOn(server, directory, prints: ["ended\t1\t201\tnil", "all told"])
    let requests = server.requests
    #expect(requests.map(\.line) == ["PUT /up", "PUT /up"])
    #expect(requests.allSatisfy { $0.body.count == 100_000 && $0["Authorization"] == "Bearer secret" })
    #expect(requests.allSatisfy { $0["X-Part"] == "7" })
  }

  @Test("what had ended and was not told is told by the next process")
  func undelivered() async throws {
    let server = try ScriptedServer { connection in
      while let request = try connection.readRequest() {
        switch request.path {
        case "/missing": try connection.send(Reply(status: "404 Not Found", "no such page"), to: request)
        case "/cut" where request["X-Rest"] != nil:
          let rest = String(repeating: "x", count: 90)
          try connection.send(
            Reply(
              status: "206 Partial Content", fields: [("ETag", "\"1\""), ("Content-Range", "bytes 10-99/100")], rest))
        case "/cut":
          try connection.send("HTTP/1.1 200 OK\r\nETag: \"1\"\r\nContent-Length: 100\r\n\r\n0123456789")
          return
        default: try connection.send(Reply("the whole file"), to: request)
        }
      }
    }
    let directory = try TemporaryDirectory()
    // The handler of the first end never returns, so none of the ends has been told when the process is killed. It speaks
    // a turn of the loop later than it is called: the record of the end is written in that turn.
    let script = """
      local session
      for name in pairs(delegate) do delegate[name] = nil end
      function delegate.did_finish_downloading() http.sleep(0) say("there") http.sleep(600) end
      delegate.did_complete = delegate.did_finish_downloading
      session = assert(open())
      session:download_task(base .. "/file"):resume()
      session:download_task(base .. "/missing"):resume()
      session:download_task(base .. "/cut"):resume()
      """
    let first = try Self.begin(server, directory, script)
    #expect(await first.wrote("there\nthere\nthere\n"))
    first.signal(SIGKILL)
    _ = await first.finish()
    server.forget()
    let second = """
      local ended = delegate.did_complete
      function delegate.did_complete(session, task, err)
        ended(session, task, err)
        if task.identifier == 3 then io.open(arg[2] .. "/blob", "wb"):write(err.resume_data):close() end
      end
      assert(open())
      """
    let result = try await runScript(Self.opening + second, [server.url, directory.path])
    #expect(
      result.lines.sorted() == [
        "all told", "ended\t1\t200\tnil", "ended\t2\t404\tnil", "ended\t3\tnetwork_connection_lost\tnil",
        "file\t1\t14", "file\t2\t12",
      ], "\(result)")
    #expect(server.requests.isEmpty)
    // The resume data that came with the failure is of use, in an ordinary session too.
    let third = """
      local blob = io.open(arg[2] .. "/blob", "rb"):read("a")
      local task = http.shared:download_task({ resume_data = blob, headers = { ["X-Rest"] = "yes" } })
      task:resume()
      print(assert(task:wait()).status)
      """
    try await expectScript(third, [server.url, directory.path], prints: ["206"])
    try await expectScript(
      Self.opening + "say(#assert(open()):all_tasks())", [server.url, directory.path], prints: ["0"])
  }

  @Test("one process at a time has an identifier; it is free when the session is invalid")
  func twoProcesses() async throws {
    let server = try ScriptedServer { _ in Reply("fine") }
    let directory = try TemporaryDirectory()
    let script = """
      local session = assert(open())
      say("open")
      http.sleep(600)
      """
    let holder = try Self.begin(server, directory, script)
    #expect(await holder.wrote("open"))
    let other = """
      local session, err = open()
      print(session, err.domain, err.code, err.message:find("org.example.sync", 1, true) ~= nil)
      local free = assert(http.session(http.configuration.background("org.example.other", {
        shared_container = arg[2] .. "/state" }), delegate))
      print(pcall(http.session, free.configuration))
      function delegate.did_become_invalid() print("invalid") end
      free:finish_tasks_and_invalidate()
      http.sleep(0.05)
      print(http.session(free.configuration))
      """
    let result = try await runScript(Self.opening + other, [server.url, directory.path])
    #expect(result.lines.count == 4, "\(result)")
    #expect(result.lines.first == "nil\turl\tbackground_session_in_use_by_another_process\ttrue", "\(result)")
    #expect(result.lines.dropFirst().first?.contains("already in this process") == true, "\(result)")
    #expect(Array(result.lines.suffix(2)) == ["invalid", "http.session"], "\(result)")
    holder.signal(SIGKILL)
    _ = await holder.finish()
    _ = try await Self.goOn(server, directory, prints: [])
  }

  @Test("what Apple's background sessions refuse is refused; data tasks run, and are not remembered")
  func limits() async throws {
    let server = try ScriptedServer { _ in Reply("fine") }
    let directory = try TemporaryDirectory()
    let script = """
      local session = assert(open())
      local function refused(...) local ok, message = pcall(...) print(ok, (message:gsub("^.-: ", ""))) end
      refused(session.download_task, session, base, print)
      refused(session.data_task, session, base, print)
      refused(session.upload_task, session, base, { data = "x" })
      refused(session.upload_task, session, base, { stream = true })
      refused(http.configuration.background, "")
      local task = session:data_task(base)
      task:resume()
      print(assert(task:wait()).body)
      print(session.configuration.session_sends_launch_events, http.configuration.default().session_sends_launch_events)
      local quiet = assert(http.session(http.configuration.background("quiet", {
        shared_container = arg[2] .. "/state", session_sends_launch_events = false }), delegate))
      quiet:download_task(base .. "/q"):resume()
      """
    let result = try await runScript(Self.opening + script, [server.url, directory.path])
    #expect(
      result.lines == [
        "false\tcompletion functions are not supported in background sessions: use a delegate, or wait for the task",
        "false\tcompletion functions are not supported in background sessions: use a delegate, or wait for the task",
        "false\tbackground sessions upload from files only: argument #2 of upload_task must be { file = path }",
        "false\tbackground sessions upload from files only: argument #2 of upload_task must be { file = path }",
        "false\ta background session needs an identifier that is not empty",
        "created\tdata\t1", "ended\t1\t200\tnil", "fine", "true\tfalse", "created\tdownload\t1", "file\t1\t4",
        "ended\t1\t200\tnil",
      ], "\(result)")
  }

  @Test("cancelled tasks are over; their files go, what resume data refers to stays")
  func cancelled() async throws {
    let server = try SegmentTests.server(pause: 0.05)
    let directory = try TemporaryDirectory()
    let script = """
      local session = assert(open())
      delegate.did_write_data = nil
      local function begin()
        local task = session:download_task(base .. "/file")
        task:resume()
        while task.count_of_bytes_received < 200000 do http.sleep(0.01) end
        return task
      end
      local first = begin()
      first:cancel()
      first:wait()
      local blob = begin():cancel_by_producing_resume_data()
      local again = session:download_task { resume_data = blob }
      again:resume()
      assert(again:wait())
      """
    let result = try await runScript(Self.opening + script, [server.url, directory.path]) { $0.deadline = 60 }
    #expect(
      result.lines == [
        "created\tdownload\t1", "ended\t1\tcancelled\tnil", "all told", "created\tdownload\t2",
        "ended\t2\tcancelled\tnil", "all told", "created\tdownload\t3", "on from\t3\ttrue", "file\t3\t3000000",
        "ended\t3\t206\tnil", "all told",
      ], "\(result)")
    #expect(directory.read("out3") == SegmentTests.content)
    #expect(Self.names(directory) == [])
  }

  @Test("a damaged record is set aside with a warning, one of a later version left alone; the others go on")
  func damagedState() async throws {
    let server = try ScriptedServer { _ in Reply("fine") }
    let directory = try TemporaryDirectory()
    let script = """
      local session = assert(open())
      for i = 1, 3 do session:download_task(base .. "/" .. i) end
      """
    _ = try await runScript(Self.opening + script, [server.url, directory.path])
    #expect(Self.names(directory) == ["1.task", "2.task", "3.task", "lock"])
    let first = "\(directory.path)/\(Self.state)/1.task"
    Self.damage(first)
    let result = try await runScript(
      Self.opening + "for _, task in ipairs(assert(open()):all_tasks()) do say(task.identifier) task:resume() end",
      [server.url, directory.path])
    #expect(
      result.lines == ["2", "3", "file\t2\t4", "ended\t2\t200\tnil", "file\t3\t4", "ended\t3\t200\tnil", "all told"]
        || result.lines.sorted().count == 7, "\(result)")
    #expect(result.stderr.contains("1.task is damaged, and has been set aside as"), "\(result)")
    #expect(Self.names(directory) == ["1.task.damaged", "lock"])
    // Its number is not given again.
    try await expectScript(
      Self.opening + "print(assert(open()):data_task(base).identifier)", [server.url, directory.path],
      prints: ["created\tdata\t2", "2"])
  }
}
