import Glibc
import TestSupport
import Testing

/// Upload tasks: where the body comes from, when it is sent again, and what the server's early answers do to it.
@Suite struct UploadTaskTests {
  static func server() throws -> ScriptedServer {
    try ScriptedServer { connection in
      while var request = try connection.readHead() {
        switch request.path {
        case "/early401", "/early413":
          connection.recordNow(request)
          let status = request.path == "/early401" ? "401 Unauthorized" : "413 Content Too Large"
          return try connection.send(Reply(status: status, fields: [("Connection", "close")], "early"))
        case "/early417" where request["Expect"] != nil:
          connection.recordNow(request)
          return try connection.send(Reply(status: "417 Expectation Failed", fields: [("Connection", "close")]))
        default: break
        }
        if request["Expect"] != nil { try connection.send("HTTP/1.1 100 Continue\r\n\r\n") }
        try connection.readBody(of: &request)
        connection.recordNow(request)
        switch request.path {
        case "/307": try connection.send(.redirect("307 Temporary Redirect", to: "/store"))
        case "/303": try connection.send(.redirect("303 See Other", to: "/store"))
        default:
          let framing = request["Content-Length"] ?? request["Transfer-Encoding"] ?? "none"
          try connection.send(
            Reply("\(request.method) \(request.body.count) \(framing) \(request["Content-Type"] ?? "-")"))
        }
      }
    }
  }

  static let cases = [
    ScriptCase(
      "the three sources of a body",
      """
      local path = os.tmpname()
      local file = assert(io.open(path, "wb"))
      file:write(("f"):rep(100000))
      file:close()
      local asked = 0
      local session = http.session(http.configuration.ephemeral(), {
        need_new_body_stream = function()
          asked = asked + 1
          local left = 3
          return function()
            left = left - 1
            return left >= 0 and ("s"):rep(1000) or nil
          end
        end,
      })
      local request = http.request { url = base .. "/store", method = "PUT", body = "the request's own" }
      for _, source in ipairs { { file = path }, { data = "d\\0ta" }, { data = "" }, { stream = true } } do
        local task = session:upload_task(request, source)
        print(task.kind, task.state)
        task:resume()
        print(assert(task:wait()).body, asked)
      end
      print(request.body)
      os.remove(path)
      """,
      prints: "upload\tsuspended", "PUT 100000 100000 -\t0", "upload\tsuspended", "PUT 4 4 -\t0", "upload\tsuspended",
      "PUT 0 0 -\t0", "upload\tsuspended", "PUT 3000 chunked -\t1", "the request's own"),
    ScriptCase(
      "a stream is asked for again for a 307, and not for a 303",
      """
      local asked = 0
      local session = http.session(http.configuration.ephemeral(), {
        need_new_body_stream = function()
          asked = asked + 1
          local given = false
          return function()
            if given then return nil end
            given = true
            return "stream " .. asked
          end
        end,
      })
      for _, path in ipairs { "/307", "/303" } do
        asked = 0
        local task = session:upload_task(http.request { url = base .. path, method = "POST" }, { stream = true })
        task:resume()
        print(assert(task:wait()).body, asked)
      end
      """, prints: "POST 8 chunked -\t2", "GET 0 none -\t1"),
    ScriptCase(
      "a stream that nobody gives is an error, and nothing is sent",
      """
      local session = http.session(http.configuration.ephemeral())
      local task = session:upload_task(base .. "/store", { stream = true })
      task:resume()
      local r, err = task:wait()
      print(r, err.code)
      local given = http.session(http.configuration.ephemeral(), { need_new_body_stream = function() end })
      task = given:upload_task(base .. "/store", { stream = true })
      task:resume()
      print(select(2, task:wait()).code)
      task = given:upload_task(base .. "/store", { file = "/no/such/file" })
      task:resume()
      print(select(2, task:wait()).code)
      """, prints: "nil\trequest_body_stream_exhausted", "request_body_stream_exhausted", "file_does_not_exist"),
    ScriptCase(
      "completion, progress and the data handler",
      """
      local steps, last, expected = 0, 0, nil
      local handlers = {
        did_send_body_data = function(_, task, sent, total, wanted)
          assert(sent > 0 and total == last + sent and total <= wanted)
          steps, last, expected = steps + 1, total, wanted
        end,
      }
      local session = http.session(http.configuration.ephemeral(), handlers)
      local task = session:upload_task(base .. "/store", { data = ("x"):rep(5000000) }, function(data, r, err)
        print(data, r.status, err)
      end)
      task:resume()
      assert(task:wait())
      print(steps > 3, last, expected, task.count_of_bytes_sent, task.count_of_bytes_expected_to_send)
      local pieces = {}
      handlers.did_receive_data = function(_, _, data) pieces[#pieces + 1] = data end
      task = session:upload_task(base .. "/store", { data = "x" })
      last = 0
      task:resume()
      print(assert(task:wait()).body, table.concat(pieces), last)
      """,
      prints: "POST 5000000 5000000 -\t200\tnil", "true\t5000000\t5000000\t5000000\t5000000",
      "nil\tPOST 1 1 -\t1"),
    ScriptCase(
      "an early answer is the response, and the body stays behind",
      """
      local session = http.session(http.configuration.ephemeral())
      local body = ("x"):rep(3000000)
      for _, path in ipairs { "/early401", "/early413" } do
        local task = session:upload_task(base .. path, { data = body })
        task:resume()
        local r = assert(task:wait())
        print(r.status, r.body, task.count_of_bytes_sent)
      end
      local task = session:upload_task(base .. "/early417", { data = body })
      task:resume()
      print(assert(task:wait()).body)
      """, prints: "401\tearly\t0", "413\tearly\t0", "POST 3000000 3000000 -"),
    ScriptCase(
      "wrong use is an error at the caller's line",
      """
      local session = http.session(http.configuration.ephemeral())
      local function try(...)
        local ok, message = pcall(session.upload_task, session, base, ...)
        print(ok, (message:gsub("^.-: ", "")))
      end
      try()
      try({ data = "x", file = "y" })
      try({ fil = "y" })
      try({ data = 1 })
      """,
      prints: "false\targument #2 of upload_task must be table, not nil",
      "false\targument #2 of upload_task must be one of { file = path }, { data = string } and { stream = true }",
      "false\tunknown option 'fil' (did you mean 'file'?)", "false\toption 'data' must be string, not number"),
    ScriptCase(
      "a reader that has been read from is no body for another task; need_new_body_stream is asked anew",
      """
      local function reader()
        local left = 2
        return function() left = left - 1 return left >= 0 and "xy" or nil end
      end
      local session = http.session(http.configuration.ephemeral(), { need_new_body_stream = reader })
      local function show(r, err) print(r and r.body:match("^%u+ %d+") or err.code) end
      local function run(task) task:resume() show(task:wait()) end
      local request = http.request { url = base .. "/store", method = "PUT", body = reader() }
      show(http.send(request))
      show(http.send(request))
      request.body = reader()
      show(http.send(request))
      request.body = reader()
      local task = session:data_task(request)
      run(task)
      run(task:copy())
      local upload = session:upload_task(base .. "/store", { stream = true })
      run(upload)
      run(upload:copy())
      """,
      prints: "PUT 4", "request_body_stream_exhausted", "PUT 4", "PUT 4", "request_body_stream_exhausted", "POST 4",
      "POST 4"),
  ]

  @Test(arguments: cases)
  func behaviour(_ scriptCase: ScriptCase) async throws {
    let server = try Self.server()
    try await check(scriptCase, server.url)
  }

  @Test("a server that stops reading pauses the reader, and memory stays flat")
  func pausedReader() async throws {
    let gate = Gate()
    let server = try ScriptedServer { connection in
      guard var request = try connection.readHead() else { return }
      guard gate.wait(seconds: 90) else { return }
      try connection.readBody(of: &request)
      try connection.send(Reply("\(request.body.count)"))
    }
    let script = """
      local given = 0
      local session = http.session(http.configuration.ephemeral(), {
        need_new_body_stream = function()
          return function(size)
            if given >= 640 * 65536 then return nil end
            given = given + 65536
            return ("r"):rep(65536)
          end
        end,
      })
      local request = http.request { url = base, method = "POST", headers = { Expect = "" } }
      local task = session:upload_task(request, { stream = true })
      task:resume()
      local before
      repeat
        before = given
        http.sleep(0.5)
      until given == before and given > 0
      print(given < 24 * 1048576)
      io.flush()
      print(assert(task:wait()).body)
      """
    let running = try Executable(.file(prelude + script), arguments: [server.url]).start()
    #expect(await running.wrote("true"))
    gate.open()
    let result = await running.finish()
    #expect(result.lines == ["true", "41943040"], "\(result)")
  }

  @Test("a file of 8 GiB goes out at constant memory")
  func hugeFile() async throws {
    let total = 8 << 30
    let server = try ScriptedServer { connection in
      guard let request = try connection.readHead() else { return }
      connection.recordNow(request)
      if request["Expect"] != nil { try connection.send("HTTP/1.1 100 Continue\r\n\r\n") }
      try connection.discard(count: total)
      try connection.send(Reply("stored"))
    }
    let directory = try TemporaryDirectory()
    let path = try directory.write("huge", "")
    #expect(truncate(path, off_t(total)) == 0)
    let script = """
      local session = http.session(http.configuration.ephemeral())
      local task = session:upload_task(base, { file = arg[2] })
      task:resume()
      print(assert(task:wait()).body, task.count_of_bytes_sent)
      local peak = io.open("/proc/self/status"):read("a"):match("VmHWM:%s*(%d+)")
      print(tonumber(peak) < 100000 or peak)
      """
    var run = Executable(.file(prelude + script), arguments: [server.url, path])
    run.deadline = 600
    let result = try await run.run()
    #expect(result.lines == ["stored\t\(total)", "true"], "\(result)")
    #expect(server.requests.first?["Content-Length"] == "\(total)")
  }
}
