import TestSupport
import Testing

/// Tasks, sessions and delegates where the other URLSession on Linux goes wrong.
@Suite struct SessionTaskTests {
  static func server() throws -> ScriptedServer {
    try ScriptedServer { connection in
      while let request = try connection.readRequest() {
        switch request.path {
        case "/slow":
          try connection.pause(0.7)
          try connection.send(Reply("slow"))
        case "/big": try connection.send(Reply(body: Array(repeating: 0x42, count: 5_000_000)))
        case "/endless":
          try connection.send("HTTP/1.1 200 OK\r\n\r\n")
          while true {
            try connection.send([1])
            try connection.pause(0.02)
          }
        case "/silent": connection.waitForClose()
        case "/parts":
          try connection.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n01234")
          try connection.pause(1.2)
          try connection.send("56789")
        case "/echo": try connection.send(Reply(body: request.body))
        case "/go": try connection.send(.redirect(to: "/"))
        default: try connection.send(Reply(request["X-Name"] ?? "ok"))
        }
      }
    }
  }

  static let tasks = [
    ScriptCase(
      "the life of a task",
      """
      local session = http.session(http.configuration.ephemeral())
      local task = session:data_task(base .. "/")
      print(task.state, task.kind, math.type(task.identifier), task.response)
      task:resume()
      print(task.state)
      local r = assert(task:wait())
      print(task.state, r.status, task.response.status, task.count_of_bytes_received, task.error)
      print(task.original_request.url == base .. "/", assert(task:wait()).status)
      """,
      prints: "suspended\tdata\tinteger\tnil", "running", "completed\t200\t200\t2\tnil", "true\t200"),
    ScriptCase(
      "a completion function replaces the delegate's data and completion",
      """
      local seen = {}
      local session = http.session(http.configuration.ephemeral(), {
        did_create_task = function() seen[#seen + 1] = "created" end,
        did_receive_data = function() seen[#seen + 1] = "data" end,
        did_complete = function() seen[#seen + 1] = "complete" end,
      })
      local done
      session:data_task(base .. "/", function(data, r, err) done = true print(data, r.status, err) end):resume()
      while not done do http.sleep(0.01) end
      print(table.concat(seen, " "))
      """, prints: "ok\t200\tnil", "created"),
    ScriptCase(
      "a delegate's calls come in Apple's order",
      """
      local seen = {}
      local function note(name) return function() if seen[#seen] ~= name then seen[#seen + 1] = name end end end
      local session = http.session(http.configuration.ephemeral(), {
        did_create_task = note "create", will_perform_redirection = note "redirect",
        did_send_body_data = note "sent", did_receive_response = note "response", did_receive_data = note "data",
        did_finish_collecting_metrics = note "metrics", did_complete = note "complete",
      })
      for _, request in ipairs { { url = base .. "/go" }, { url = base .. "/echo", method = "POST", body = "x" } } do
        local task = session:data_task(http.request(request))
        task:resume()
        assert(task:wait())
        print(table.concat(seen, " "))
        seen = {}
      end
      """, prints: "create redirect response data metrics complete", "create sent response data metrics complete"),
    ScriptCase(
      "cancel at every point: wait says cancelled, did_complete comes once",
      """
      local function run(path, point)
        local calls, task = 0, nil
        local session = http.session(http.configuration.ephemeral(), {
          did_receive_response = function(_, t) if point == "response" then t:cancel() end end,
          did_receive_data = function(_, t) if point == "data" then t:cancel() end end,
          did_complete = function(_, t) calls = calls + 1 t:cancel() end,
        })
        task = session:data_task(base .. path)
        if point == "before" then task:cancel() end
        task:resume()
        if point == "after" then task:cancel() end
        if point == "later" then http.sleep(0.1) task:cancel() end
        local r, err = task:wait()
        http.sleep(0.02)
        print(point, type(r), err and err.code, task.state, calls)
      end
      for _, point in ipairs { "before", "after", "later", "response", "data" } do run("/endless", point) end
      run("/", "complete")
      """,
      prints: "before\tnil\tcancelled\tcompleted\t1", "after\tnil\tcancelled\tcompleted\t1",
      "later\tnil\tcancelled\tcompleted\t1", "response\tnil\tcancelled\tcompleted\t1",
      "data\tnil\tcancelled\tcompleted\t1", "complete\ttable\tnil\tcompleted\t1"),
    ScriptCase(
      "the disposition cancel delivers nothing",
      """
      local bytes = 0
      local session = http.session(http.configuration.ephemeral(), {
        did_receive_response = function() return "cancel" end,
        did_receive_data = function(_, _, data) bytes = bytes + #data end,
      })
      local task = session:data_task(base .. "/big")
      task:resume()
      local r, err = task:wait()
      print(r, err.code, bytes)
      """, prints: "nil\tcancelled\t0"),
    ScriptCase(
      "a suspended task keeps its place and its time",
      """
      local session = http.session(http.configuration.ephemeral { timeout_for_request = 2 })
      local task = session:data_task(base .. "/parts")
      task:resume()
      http.sleep(0.2)
      task:suspend()
      print(task.state)
      http.sleep(2.5)
      task:resume()
      print(assert(task:wait()).body)
      """, prints: "suspended", "0123456789"),
  ]

  static let sessions = [
    ScriptCase(
      "a session has a copy of its configuration",
      """
      local c = http.configuration.ephemeral { http_additional_headers = { ["X-Name"] = "first" } }
      local session = http.session(c)
      c.http_additional_headers = { ["X-Name"] = "second" }
      print(assert(session:get(base)).body)
      print(assert(session:get(base, { headers = { ["X-Name"] = "own" } })).body)
      """, prints: "first", "own"),
    ScriptCase(
      "invalidating cancels what runs and tells the delegate last",
      """
      local seen = {}
      local session = http.session(http.configuration.ephemeral(), {
        did_complete = function(_, _, err) seen[#seen + 1] = err.code end,
        did_become_invalid = function() seen[#seen + 1] = "invalid" end,
      })
      for _ = 1, 2 do session:data_task(base .. "/silent"):resume() end
      http.sleep(0.05)
      session:invalidate_and_cancel()
      http.sleep(0.1)
      print(table.concat(seen, " "))
      """, prints: "cancelled cancelled invalid"),
    ScriptCase(
      "finishing lets what runs come to its end",
      """
      local seen = {}
      local session = http.session(http.configuration.ephemeral(), {
        did_complete = function(_, task, err) seen[#seen + 1] = task.response.status end,
        did_become_invalid = function() seen[#seen + 1] = "invalid" end,
      })
      session:data_task(base .. "/slow"):resume()
      session:finish_tasks_and_invalidate()
      http.sleep(1.5)
      print(table.concat(seen, " "))
      """, prints: "200 invalid"),
    ScriptCase(
      "a task of an invalidated session is an error at the caller's line",
      """
      local session = http.session(http.configuration.ephemeral())
      session:invalidate_and_cancel()
      local ok, message = pcall(function()
        session:data_task(base)
      end)
      print(ok, tostring(message):match("script%.lua:(%d+):"), tostring(message):find("invalid") ~= nil)
      http.shared:invalidate_and_cancel()
      print(assert(http.get(base)).body)
      """, prints: "false\t5\ttrue", "ok"),
    ScriptCase(
      "a session lists its tasks",
      """
      local session = http.session(http.configuration.ephemeral())
      for _ = 1, 3 do session:data_task(base .. "/silent"):resume() end
      session:data_task(base)
      local data, upload, download = session:tasks()
      print(#data, #upload, #download, #session:all_tasks())
      session:invalidate_and_cancel()
      """, prints: "4\t0\t0\t4"),
    ScriptCase(
      "thirty posts at once",
      """
      local results = http.map((function() local t = {} for i = 1, 30 do t[i] = i end return t end)(), 30, function(i)
        return assert(http.post(base .. "/echo", { body = ("x"):rep(20000) .. i })).body:sub(20001)
      end)
      print(#results, results[1], results[30])
      """, prints: "30\t1\t30"),
    ScriptCase(
      "metrics tell of each transaction",
      """
      local session = http.session(http.configuration.ephemeral())
      assert(session:get(base .. "/"))
      local m = assert(session:get(base .. "/go")).metrics
      local t = m.transaction_metrics
      print(#t, m.redirect_count, t[1].response.status, t[2].response.status, t[1].is_reused_connection)
      print(t[2].network_protocol_name, t[2].resource_fetch_type, t[2].remote_port == tonumber(base:match("%d+$")))
      print(m.task_interval.duration > 0, t[2].response_end >= t[2].request_start)
      """, prints: "2\t1\t302\t200\ttrue", "http/1.1\tnetwork_load\ttrue", "true\ttrue"),
  ]

  @Test(arguments: tasks + sessions)
  func behaviour(_ scriptCase: ScriptCase) async throws {
    let server = try Self.server()
    try await check(scriptCase, server.url)
  }

  @Test("requests queued behind the per-host limit are not on the clock")
  func perHostQueue() async throws {
    let server = try Self.server()
    let script = """
      local session = http.session(http.configuration.ephemeral {
        http_maximum_connections_per_host = 2, timeout_for_request = 1.2,
      })
      local results = http.map({ 1, 2, 3, 4, 5, 6 }, 6, function()
        local r, err = session:get(base .. "/slow")
        return r and r.body or tostring(err)
      end)
      print(table.concat(results, " "))
      """
    try await expectScript(script, [server.url], prints: ["slow slow slow slow slow slow"])
    #expect(server.peakConnections == 2)
  }
}
