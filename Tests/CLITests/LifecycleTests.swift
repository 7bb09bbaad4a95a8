import TestSupport
import Testing

/// The life of tasks and sessions: suspension, counts, times, and what becomes of what nobody holds.
@Suite struct LifecycleTests {
  static let lives = [
    ScriptCase(
      "suspensions nest, also before the start, and states follow",
      """
      local session = http.session()
      local task = session:data_task(base .. "/end")
      task:suspend()
      task:resume()
      print(task.state)
      task:resume()
      print(task.state)
      task:suspend() task:suspend()
      print(task.state)
      task:resume()
      http.sleep(0.1)
      print(task.state, task.response)
      task:resume()
      print(assert(task:wait()).body, task.state)
      task:resume() task:suspend() task:cancel()
      print(task.state, task.error)
      """, prints: "suspended", "running", "suspended", "suspended\tnil", "end\tcompleted", "completed\tnil"),
    ScriptCase(
      "no time limit runs while a task is suspended",
      """
      local session = http.session{ timeout_for_request = 0.5, timeout_for_resource = 0.8 }
      local task = session:data_task(base .. "/slow")
      task:resume()
      http.sleep(0.1)
      task:suspend()
      http.sleep(1.2)
      print(task.state)
      task:resume()
      print(assert(task:wait()).body)
      """, prints: "suspended", "slow"),
    ScriptCase(
      "a copy is a task of its own; descriptions and user_info are the script's",
      """
      local session = http.session()
      session.description = "mine"
      print(tostring(session))
      local request = http.request{ url = base .. "/end", headers = { ["X-A"] = "1" } }
      local task = session:data_task(request)
      task.description, task.user_info, task.priority = "first", { 1 }, 0.75
      request.headers["X-A"] = "2"
      local copy = task:copy()
      print(copy.state, copy.description, copy.original_request.headers["X-A"], copy.identifier - task.identifier)
      task:cancel()
      print(select(2, task:wait()).code)
      copy:resume()
      print(assert(copy:wait()).body, task.description, task.user_info[1], task.priority, copy.priority)
      """,
      prints: "http.session: mine", "suspended\tnil\t1\t1", "cancelled", "end\tfirst\t1\t0.75\t0.5"),
    ScriptCase(
      "byte counts, over redirects and with each kind of body",
      """
      local session = http.session()
      local function counts(fields)
        local task = session:data_task(http.request(fields))
        task:resume()
        assert(task:wait())
        return ("%d/%d %d/%d"):format(task.count_of_bytes_sent, task.count_of_bytes_expected_to_send,
          task.count_of_bytes_received, task.count_of_bytes_expected_to_receive)
      end
      local function pieces(n)
        return function() if n > 0 then n = n - 1 return "12345" end end
      end
      local path = os.tmpname()
      local file = io.open(path, "w") file:write(("x"):rep(1000)) file:close()
      print(counts{ url = base .. "/end" })
      print(counts{ url = base .. "/echo", method = "POST", body = "12345" })
      print(counts{ url = base .. "/echo", method = "PUT", body = { file = path } })
      print(counts{ url = base .. "/echo", method = "POST", body = pieces(3) })
      print(counts{ url = base .. "/307", method = "POST", body = "12345" })
      print(counts{ url = base .. "/chunked" })
      """,
      prints: "0/0 3/3", "5/5 5/5", "1000/1000 1000/1000", "15/-1 15/15", "10/5 5/5", "0/0 6/-1"),
    ScriptCase(
      "a request ends when its body has been sent",
      """
      local function parts(n) return function() if n > 0 then n = n - 1 http.sleep(0.2) return "x" end end end
      local m = assert(http.post(base .. "/echo", { body = parts(2) })).metrics.transaction_metrics[1]
      print(m.request_end - m.request_start > 0.3, m.request_end <= m.response_end, m.response_start <= m.response_end)
      m = assert(http.get(base .. "/end")).metrics.transaction_metrics[1]
      print(m.request_end >= m.request_start, m.request_end <= m.response_end)
      """, prints: "true\ttrue\ttrue", "true\ttrue"),
    ScriptCase(
      "a session that nobody holds any more does its tasks to the end and is let go",
      """
      local weak, done = setmetatable({}, { __mode = "k" }), 0
      for i = 1, 10 do
        local delegate = { did_complete = function(session, task) done = done + task.response.status end }
        local session = http.session({}, delegate)
        weak[session], weak[delegate] = true, true
        session:data_task(base .. "/slow"):resume()
      end
      collectgarbage()
      while done < 2000 do
        collectgarbage()
        http.sleep(0.02)
      end
      http.sleep(0.05)
      collectgarbage() collectgarbage()
      http.sleep(0)
      collectgarbage()
      print(done, next(weak))
      """, prints: "2000\tnil"),
    ScriptCase(
      "tasks of each kind begin by their priority",
      """
      local session = http.session{ http_maximum_connections_per_host = 1, cache = false }
      local begun = {}
      local function start(kind, priority, argument)
        local task = session[kind .. "_task"](session, { url = base .. "/end", method = argument and "PUT" }, argument)
        task.priority = priority
        task:resume()
        return http.spawn(function()
          assert(task:wait())
          begun[#begun + 1] = kind
        end)
      end
      local first = session:data_task(base .. "/slow")
      first:resume()
      local jobs = {
        start("data", http.priority.low), start("download", http.priority.default),
        start("upload", http.priority.high, { data = "x" }),
      }
      for _, job in ipairs(jobs) do assert(job:wait() == nil and job.state == "completed") end
      print(table.concat(begun, " "))
      print(select(2, pcall(function() first.priority = 2 end)):match("a task's .*"))
      print(select(2, pcall(http.get, base .. "/end", { priority = -1 })):match("option .*"))
      """,
      prints: "upload download data", "a task's 'priority' must be from 0 to 1",
      "option 'priority' must be from 0 to 1"),
    ScriptCase(
      "what a script sees of a task's request is a copy",
      """
      local function spoil(task)
        task.original_request.url, task.current_request.method = base .. "/slow", "PUT"
        task.original_request.body = "another"
      end
      local session = http.session(nil, { did_create_task = function(_, task) spoil(task) end })
      print(assert(session:post(base .. "/echo", { body = "sent" })).body)
      local task = session:data_task(http.request { url = base .. "/echo", method = "POST", body = "sent too" })
      spoil(task)
      local copy = task:copy()
      task:resume() copy:resume()
      print(assert(task:wait()).body, assert(copy:wait()).body)
      """, prints: "sent", "sent too\tsent too"),
    ScriptCase(
      "and so it is where the task was made of a URL alone",
      """
      local task = http.session():data_task(base .. "/slow")
      task.original_request.url, task.current_request.method = base .. "/echo", "POST"
      task.original_request.headers["X-A"] = "b"
      local copy = task:copy()
      print(copy.original_request.url == base .. "/slow", copy.original_request.method)
      task:resume() copy:resume()
      print(assert(task:wait()).body, assert(copy:wait()).body)
      """, prints: "true\tGET", "slow\tslow"),
    ScriptCase(
      "a task that nobody holds is run, and its completion called",
      """
      do
        http.session():data_task(base .. "/slow", function(data, r, err) print(data, r.status, err) end):resume()
      end
      collectgarbage()
      """, prints: "slow\t200\tnil"),
  ]

  @Test(arguments: lives)
  func life(_ scriptCase: ScriptCase) async throws {
    let server = try ScriptedServer { connection in
      while let request = try connection.readRequest() {
        switch request.path {
        case "/slow":
          try connection.pause(0.2)
          try connection.send(Reply("slow"))
        case "/echo": try connection.send(Reply(body: request.body))
        case "/307": try connection.send(Reply.redirect("307 Again", to: "/echo"))
        case "/chunked":
          try connection.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
          try connection.send(chunked([[1, 2, 3], [4, 5, 6]]))
        default: try connection.send(Reply("end"))
        }
      }
    }
    try await check(scriptCase, server.url)
  }

  @Test("A suspended upload sends nothing and goes on where it was")
  func suspendedUpload() async throws {
    let size = 20_000_000
    let server = try ScriptedServer { connection in
      guard let request = try connection.readHead() else { return }
      connection.recordNow(request)
      let start = try connection.read(count: 100_000)
      try connection.pause(0.4)
      let rest = try connection.read(count: size - 100_000)
      let body = start + rest
      let isWhole = stride(from: 0, to: size, by: 4096).allSatisfy { body[$0] == UInt8($0 / 1_000_000) }
      try connection.send(Reply(isWhole ? "whole" : "torn"))
    }
    let script = """
      local parts = {}
      for i = 0, 19 do parts[#parts + 1] = string.char(i):rep(1000000) end
      local session = http.session{ timeout_for_request = 5 }
      local task = session:data_task(http.request{
        url = base, method = "POST", body = table.concat(parts), headers = { Expect = "" },
      })
      task:resume()
      http.sleep(0.2)
      task:suspend()
      http.sleep(0.1)
      local sent = task.count_of_bytes_sent
      http.sleep(0.8)
      print(task.count_of_bytes_sent == sent, sent > 0 and sent < 20000000)
      task:resume()
      print(assert(task:wait()).body, task.count_of_bytes_sent)
      """
    try await expectScript(script, [server.url], prints: ["true\ttrue", "whole\t\(size)"])
    #expect(server.requests.count == 1)
  }

  @Test("A suspended download takes nothing and goes on where it was")
  func suspendedDownload() async throws {
    let body = (0..<40).flatMap { [UInt8](repeating: $0, count: 1_000_000) }
    let server = try ScriptedServer { _ in Reply(body: body) }
    let script = """
      local got, task = 0
      local session = http.session({}, { did_receive_data = function(_, t, data)
        for i = 1, #data, 4096 do
          if data:byte(i) ~= (got + i - 1) // 1000000 then error("out of place") end
        end
        got = got + #data
        if got > 5000000 and not task.user_info then
          task.user_info = true
          task:suspend()
        end
      end })
      task = session:data_task(base)
      task:resume()
      while not task.user_info do http.sleep(0.01) end
      http.sleep(0.3)
      local before = got
      http.sleep(0.5)
      print(got == before, got < 8000000, task.state)
      task:resume()
      assert(task:wait())
      print(got)
      """
    try await expectScript(script, [server.url], prints: ["true\ttrue\tsuspended", "40000000"])
    #expect(server.requests.count == 1)
  }

  @Test("A body read from a function is asked for anew when a connection dies under it")
  func staleConnection() async throws {
    let server = try ScriptedServer { connection in
      while let request = try connection.readRequest() {
        // The connection dies once the second request has come.
        if request.path == "/p", connection.index == 0 { return }
        try connection.send(Reply("\(request.method) \(request.bodyText)"))
      }
    }
    let script = """
      local function reader(text) return function() local piece = text text = nil return piece end end
      for _, method in ipairs { "PUT", "POST" } do
        local asked = 0
        local session = http.session({ http_maximum_connections_per_host = 1 }, {
          need_new_body_stream = function() asked = asked + 1 return reader("again") end,
        })
        assert(session:get(base .. "/first"))
        local task = session:data_task(http.request{ url = base .. "/p", method = method, body = reader("body") })
        task:resume()
        local r, err = task:wait()
        print(method, r and r.body or err.code, asked)
        break
      end
      """
    try await expectScript(script, [server.url], prints: ["PUT\tPUT again\t1"])
    let second = try ScriptedServer { connection in
      while let request = try connection.readRequest() {
        if request.path == "/p" { return }
        try connection.send(Reply("ok"))
      }
    }
    let post = script.replacing("\"PUT\", \"POST\"", with: "\"POST\"")
    try await expectScript(post, [second.url], prints: ["POST\tnetwork_connection_lost\t0"])
    #expect(second.lines == ["GET /first", "POST /p"])
  }

  @Test("A job that nothing can wake any more is told of")
  func strandedJob() async throws {
    let script = """
      local job
      job = http.spawn(function() return job:wait() end)
      http.sleep(0)
      """
    let result = try await runScript(script)
    #expect(result.status == 0)
    #expect(result.stderr.contains("script.lua:3 waits for something that cannot happen any more"), "\(result)")
    #expect(result.stderr.hasPrefix("httpscript: the job at "), "\(result)")
  }

  @Test("A script that waits for a task it never resumed is told what to do")
  func neverResumed() async throws {
    let result = try await runScript("http.session():data_task(\"http://127.0.0.1:9/\"):wait()")
    #expect(result.ending == .exited(1))
    #expect(result.stderr.hasPrefix("httpscript: the script waits for something that cannot happen"), "\(result)")
    #expect(result.stderr.contains("a task that is suspended wants resume()"), "\(result)")
  }
}
