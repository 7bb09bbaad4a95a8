import TestSupport
import Testing

/// The order of a task's calls, exactly, whatever happens at each of them.
@Suite struct DelegateOrderTests {
  static func server() throws -> ScriptedServer {
    try ScriptedServer { connection in
      while let request = try connection.readRequest() {
        switch request.path {
        case "/302": try connection.send(Reply.redirect(to: "/end"))
        case "/307": try connection.send(Reply.redirect("307 Again", to: "/end"))
        case "/308-twice": try connection.send(Reply.redirect("308 Again", to: "/307"))
        case "/hints":
          try connection.send("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n")
          try connection.send(Reply("end"))
        case "/cut": try connection.send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf")
        case "/lost": return
        case "/silent": connection.waitForClose()
        default: try connection.send(Reply("end"))
        }
        if request.path == "/cut" { return }
      }
    }
  }

  /// `run(path, request fields, act)`: a task with every handler; `act(name, task, session)` is called in each. Prints
  /// nothing; returns the calls as one text, and what `wait` gave.
  private static let runner = """
    local NAMES = {
      create = "did_create_task", redirect = "will_perform_redirection", stream = "need_new_body_stream",
      sent = "did_send_body_data", hints = "did_receive_informational_response", response = "did_receive_response",
      data = "did_receive_data", metrics = "did_finish_collecting_metrics", complete = "did_complete",
    }
    local ORDER = { "create", "redirect", "stream", "sent", "hints", "response", "data", "metrics", "complete" }
    local function reader(text)
      return function()
        local piece = text
        text = nil
        return piece
      end
    end
    local function run(path, fields, act, configuration)
      local calls, delegate = {}, {}
      for short, name in pairs(NAMES) do
        delegate[name] = function(session, task, given)
          if calls[#calls] ~= short then calls[#calls + 1] = short end
          if short == "complete" then calls[#calls + 1] = given and given.code end
          local answer = act and act(short, task, session)
          if answer ~= nil then return answer end
          if short == "stream" then return reader("again") end
        end
      end
      function delegate.did_become_invalid() calls[#calls + 1] = "invalid" end
      local session = http.session(configuration or {}, delegate)
      fields = fields or {}
      fields.url = base .. path
      local task = session:data_task(http.request(fields))
      task:resume()
      local r, err = task:wait()
      return table.concat(calls, " "), r, err, session, task, calls
    end
    -- Without waiting for a 100 (Continue).
    local function streamed() return { method = "POST", body = reader("body"), headers = { Expect = "" } } end

    """

  static let orders = [
    ScriptCase(
      "data tasks",
      """
      print((run("/end")))
      print((run("/end", { method = "POST", body = "body" })))
      print((run("/end", streamed())))
      print((run("/hints")))
      print((run("/302")))
      print((run("/302", { method = "POST", body = "body" })))
      print((run("/307", { method = "POST", body = "body" })))
      print((run("/307", streamed())))
      print((run("/308-twice", streamed())))
      print((run("/cut")))
      print((run("/lost")))
      """,
      prints: "create response data metrics complete", "create sent response data metrics complete",
      "create sent response data metrics complete", "create hints response data metrics complete",
      "create redirect response data metrics complete", "create sent redirect response data metrics complete",
      "create sent redirect sent response data metrics complete",
      "create sent redirect stream sent response data metrics complete",
      "create sent redirect stream sent redirect stream sent response data metrics complete",
      "create response data metrics complete network_connection_lost",
      "create metrics complete network_connection_lost"),
    ScriptCase(
      "refused redirects and responses, and no new stream",
      """
      print((run("/302", nil, function(name) if name == "redirect" then return false end end)))
      print((run("/302", nil, function(name) if name == "response" then return "cancel" end end)))
      local calls, r, err = run("/307", streamed(), function(name) if name == "stream" then return {} end end)
      print(calls, err.code)
      local session = http.session({}, {})
      local task = session:data_task(http.request{ url = base .. "/307", method = "POST", body = reader("body") })
      task:resume()
      print(select(2, task:wait()).code)
      """,
      prints: "create redirect response metrics complete", "create redirect response metrics complete cancelled",
      "create sent redirect stream metrics complete handler_error\thandler_error", "request_body_stream_exhausted"),
    ScriptCase(
      "cancelled in each of its calls, twice",
      """
      for _, where in ipairs(ORDER) do
        local path = where == "hints" and "/hints" or where == "stream" and "/307" or "/302"
        local calls, r, err, _, task = run(path, streamed(), function(name, task)
          if name == where then task:cancel() task:cancel() end
        end)
        print(where .. ":", calls, r and r.status or err.code, task.state)
      end
      """,
      prints: "create:\tcreate complete cancelled\tcancelled\tcompleted",
      "redirect:\tcreate sent redirect metrics complete cancelled\tcancelled\tcompleted",
      "stream:\tcreate sent redirect stream metrics complete cancelled\tcancelled\tcompleted",
      "sent:\tcreate sent metrics complete cancelled\tcancelled\tcompleted",
      "hints:\tcreate sent hints metrics complete cancelled\tcancelled\tcompleted",
      "response:\tcreate sent redirect response metrics complete cancelled\tcancelled\tcompleted",
      "data:\tcreate sent redirect response data metrics complete cancelled\tcancelled\tcompleted",
      "metrics:\tcreate sent redirect response data metrics complete\t200\tcompleted",
      "complete:\tcreate sent redirect response data metrics complete\t200\tcompleted"),
    ScriptCase(
      "handlers that raise a text, a table, nil",
      """
      local raised = { "text", { mine = true }, nil }
      for _, where in ipairs { "redirect", "stream", "sent", "hints", "response", "data", "metrics", "complete" } do
        local path = where == "hints" and "/hints" or where == "stream" and "/307" or "/302"
        for i = 1, 3 do
          local calls, r, err = run(path, streamed(), function(name)
            if name == where then error(raised[i], 0) end
          end)
          assert(r == nil and err.domain == "script" and err.code == "handler_error" and err.value == raised[i])
          if i == 1 then print(where .. ":", calls) end
        end
      end
      print(assert(http.get(base .. "/end")).body)
      """,
      prints: "redirect:\tcreate sent redirect metrics complete handler_error",
      "stream:\tcreate sent redirect stream metrics complete handler_error",
      "sent:\tcreate sent metrics complete handler_error",
      "hints:\tcreate sent hints metrics complete handler_error",
      "response:\tcreate sent redirect response metrics complete handler_error",
      "data:\tcreate sent redirect response data metrics complete handler_error",
      "metrics:\tcreate sent redirect response data metrics complete handler_error",
      "complete:\tcreate sent redirect response data metrics complete", "end"),
    ScriptCase(
      "handlers that never return: the task can be cancelled, and its time limit holds",
      """
      for _, where in ipairs { "redirect", "stream", "sent", "hints", "response", "data" } do
        local path = where == "hints" and "/hints" or where == "stream" and "/307" or "/302"
        for _, way in ipairs { "cancel", "limit" } do
          local seen
          local calls, r, err = run(path, streamed(), function(name, task)
            if name ~= where then return end
            if way == "cancel" then http.spawn(function() http.sleep(0.02) task:cancel() end) end
            local ok, problem = pcall(http.sleep, 60)
            seen = problem
            error(problem)
          end, { timeout_for_resource = way == "limit" and 0.5 or 60 })
          print(where, calls:match("%S+ %S+$"), err.code, seen.code)
        end
      end
      """,
      prints: "redirect\tcomplete cancelled\tcancelled\tcancelled",
      "redirect\tcomplete timed_out\ttimed_out\tcancelled", "stream\tcomplete cancelled\tcancelled\tcancelled",
      "stream\tcomplete timed_out\ttimed_out\tcancelled", "sent\tcomplete cancelled\tcancelled\tcancelled",
      "sent\tcomplete timed_out\ttimed_out\tcancelled", "hints\tcomplete cancelled\tcancelled\tcancelled",
      "hints\tcomplete timed_out\ttimed_out\tcancelled", "response\tcomplete cancelled\tcancelled\tcancelled",
      "response\tcomplete timed_out\ttimed_out\tcancelled", "data\tcomplete cancelled\tcancelled\tcancelled",
      "data\tcomplete timed_out\ttimed_out\tcancelled"),
    ScriptCase(
      "a handler that cancels its task may finish what it does",
      """
      local after
      local calls = run("/end", nil, function(name, task)
        if name ~= "response" then return end
        task:cancel()
        http.sleep(0.05)
        after = assert(http.get(base .. "/end")).body
      end)
      print(calls, after)
      """, prints: "create response metrics complete cancelled\tend"),
    ScriptCase(
      "a session invalidated in each of its calls: that is told last, and the delegate let go",
      """
      for _, how in ipairs { "finish_tasks_and_invalidate", "invalidate_and_cancel" } do
        for _, where in ipairs { "redirect", "response", "data", "metrics", "complete" } do
          local _, _, _, session, _, calls = run("/302", nil, function(name, task, session)
            if name == where then session[how](session) session[how](session) end
          end)
          for _ = 1, 200 do if calls[#calls] == "invalid" then break end http.sleep(0.01) end
          print(how:match("cancel") or "finish", where, table.concat(calls, " "), session.delegate)
          assert(not pcall(session.data_task, session, base))
        end
      end
      """,
      prints: "finish\tredirect\tcreate redirect response data metrics complete invalid\tnil",
      "finish\tresponse\tcreate redirect response data metrics complete invalid\tnil",
      "finish\tdata\tcreate redirect response data metrics complete invalid\tnil",
      "finish\tmetrics\tcreate redirect response data metrics complete invalid\tnil",
      "finish\tcomplete\tcreate redirect response data metrics complete invalid\tnil",
      "cancel\tredirect\tcreate redirect metrics complete cancelled invalid\tnil",
      "cancel\tresponse\tcreate redirect response metrics complete cancelled invalid\tnil",
      "cancel\tdata\tcreate redirect response data metrics complete cancelled invalid\tnil",
      "cancel\tmetrics\tcreate redirect response data metrics complete invalid\tnil",
      "cancel\tcomplete\tcreate redirect response data metrics complete invalid\tnil"),
    ScriptCase(
      "handlers that wait hold nobody else",
      """
      local started = http.now()
      local waiting = http.spawn(run, "/302", streamed(), function(name)
        if name ~= "create" then http.sleep(0.3) end
      end)
      http.sleep(0.1)
      local list = {}
      for i = 1, 100 do list[i] = i end
      local begun = http.now()
      http.map(list, 10, function() return assert(http.get(base .. "/end")) end)
      local others = http.now() - begun
      print((waiting:wait()))
      print(others < (http.now() - started), http.now() - started >= 1.8)
      """, prints: "create sent redirect response data metrics complete", "true\ttrue"),
  ]

  @Test(arguments: orders)
  func order(_ scriptCase: ScriptCase) async throws {
    let server = try Self.server()
    let script = Self.runner + scriptCase.script
    try await check(ScriptCase(scriptCase.name, script, prints: scriptCase.prints), server.url)
  }
}
