import Glibc
import TestSupport
import Testing

/// What goes wrong in handlers, on the way out and in the environment.
@Suite struct FaultTests {
  static func server() throws -> ScriptedServer {
    try ScriptedServer { connection in
      while let request = try connection.readRequest() {
        switch request.path {
        case "/silent": connection.waitForClose()
        case "/redirect": try connection.send(Reply.redirect("307 Again", to: "/echo"))
        default: try connection.send(Reply("\(request.method) \(request.target) \(request.bodyText.count)"))
        }
      }
    }
  }

  private static let trial = """
    local function try(path, delegate, request)
      local told = {}
      delegate.did_complete = delegate.did_complete or function(_, _, err) told[#told + 1] = err and err.code or "none" end
      request = request or {}
      request.url = base .. path
      local task = http.session(nil, delegate):data_task(request)
      task:resume()
      local r, err = http.with_timeout(5, function() return task:wait() end)
      print(r and r.body or err.domain .. " " .. err.code, table.concat(told, ","), task.state)
    end

    """

  static let handlers = [
    ScriptCase(
      "what a handler returns wrongly fails its task",
      """
      local fields = { body = 5, method = 5, headers = 5, url = false }
      for _, name in ipairs { "body", "method", "headers", "url" } do
        try("/redirect", { will_perform_redirection = function(_, _, _, request)
          request[name] = fields[name]
          return request
        end })
      end
      try("/redirect", { need_new_body_stream = function() return 5 end }, { method = "POST", body = function() end })
      """,
      prints: "script handler_error\thandler_error\tcompleted", "script handler_error\thandler_error\tcompleted",
      "script handler_error\thandler_error\tcompleted", "script handler_error\thandler_error\tcompleted",
      "script handler_error\thandler_error\tcompleted"),
    ScriptCase(
      "values that cannot be shown, and delegates that raise when they are looked at",
      """
      local function raise(value) return { did_receive_response = function() error(value) end } end
      try("/x", raise(setmetatable({}, { __tostring = error })))
      try("/x", raise(setmetatable({}, { __metatable = 5 })))
      try("/x", raise(nil))
      try("/x", setmetatable({}, { __index = function(_, name)
        if name == "did_finish_collecting_metrics" then error("looked at") end
      end }))
      """,
      prints: "script handler_error\thandler_error\tcompleted", "script handler_error\thandler_error\tcompleted",
      "script handler_error\thandler_error\tcompleted", "script handler_error\thandler_error\tcompleted"),
    ScriptCase(
      "after a handler has failed only the completion is told",
      """
      local calls = {}
      local function note(name) return function() calls[#calls + 1] = name end end
      try("/x", {
        did_receive_response = function() calls[#calls + 1] = "response" error("no") end,
        did_receive_data = note("data"), did_finish_collecting_metrics = note("metrics"),
      })
      print(table.concat(calls, ","))
      """, prints: "script handler_error\thandler_error\tcompleted", "response,metrics"),
    ScriptCase(
      "an error object that a handler raises is the error's value",
      """
      local raised = select(2, http.get("nonsense"))
      for _, name in ipairs { "did_receive_response", "did_receive_data", "did_complete" } do
        local session = http.session({}, { [name] = function() error(raised) end })
        local task = session:data_task(base .. "/x")
        task:resume()
        local _, err = task:wait()
        print(err.domain, err.code, err.value == raised, err.message:match("^[%w_]+: ") == "bad_url: ")
      end
      """,
      prints: "script\thandler_error\ttrue\ttrue", "script\thandler_error\ttrue\ttrue",
      "script\thandler_error\ttrue\ttrue"),
    ScriptCase(
      "a file whose place is taken meanwhile",
      """
      local path = os.tmpname()
      os.remove(path)
      local session = http.session({}, {
        will_perform_redirection = function() os.execute("mkdir -p " .. path .. "/taken") end,
      })
      local r, err = session:get(base .. "/redirect", { sink = path })
      print(r, err.domain, err.code, err.underlying.source)
      os.execute("rm -r " .. path)
      """, prints: "nil\turl\tcannot_move_file\terrno"),
    ScriptCase(
      "a form of several parts goes through a redirect that a handler has changed",
      """
      local parts = { { name = "a", data = "b" }, { name = "c", data = "d" } }
      local session = http.session(nil, { will_perform_redirection = function(_, _, _, request)
        request.headers["X-A"] = "1"
        return request
      end })
      local body = assert(session:post(base .. "/redirect", { multipart = parts })).body
      print(tonumber(body:match("^POST /echo (%d+)$")) > 100)
      """, prints: "true"),
    ScriptCase(
      "a call under way is a task that can be looked at, waited for and cancelled",
      """
      local session = http.session()
      local job = http.spawn(session.get, session, base .. "/silent")
      http.sleep(0.1)
      local task = session:all_tasks()[1]
      print(task.original_request, task.state, task == session:all_tasks()[1], task.identifier)
      local waiting = http.spawn(task.wait, task)
      http.sleep(0)
      task:cancel()
      print(select(2, waiting:wait()).code, select(2, job:wait()).code, task.state, #session:all_tasks())
      """, prints: "GET BASE/silent\trunning\ttrue\t1", "cancelled\tcancelled\tcompleted\t0"),
    ScriptCase(
      "a handler that waits for ever, by yields of its own too, does not outlive its task",
      """
      local closed = 0
      local loops = {
        function() while true do coroutine.yield() end end,
        function() while true do pcall(coroutine.yield) end end,
        function() while true do pcall(http.sleep, 0.01) end end,
      }
      for _, loop in ipairs(loops) do
        local codes = {}
        for _, ending in ipairs { "cancel", "invalidate", "time" } do
          local begun
          local limit = ending == "time" and 0.3 or nil
          local session = http.session(http.configuration.ephemeral { timeout_for_resource = limit }, {
            did_receive_response = function()
              local _ <close> = setmetatable({}, { __close = function() closed = closed + 1 end })
              begun = true
              loop()
            end,
            did_complete = function(_, _, err) codes[#codes + 1] = err.code end,
          })
          local task = session:data_task(base .. "/x")
          task:resume()
          while not begun and task.state == "running" do http.sleep(0.01) end
          if ending == "cancel" then task:cancel() end
          if ending == "invalidate" then session:invalidate_and_cancel() end
          local _, err = task:wait()
          codes[#codes + 1] = err.code
        end
        print(table.concat(codes, " "))
      end
      print(closed > 6)
      """,
      prints: "cancelled cancelled cancelled cancelled timed_out timed_out",
      "cancelled cancelled cancelled cancelled timed_out timed_out",
      "cancelled cancelled cancelled cancelled timed_out timed_out", "true"),
    ScriptCase(
      "a handler that was interrupted ends by itself, but waits for nothing more; a coroutine of its own is untouched",
      """
      local task
      local session = http.session(http.configuration.ephemeral(), {
        did_receive_response = function()
          local caught = select(2, pcall(http.sleep, 60))
          local again = select(2, pcall(coroutine.yield))
          local answer, reason = pcall(http.get, base .. "/x")
          local own = coroutine.wrap(function(...) return coroutine.yield(...) end)
          print(caught.code, again == caught, answer, reason == caught, own(1, 2), own(3))
        end,
        did_complete = function(_, _, err) print(err.code, assert(http.get(base .. "/y")).body) end,
      })
      task = session:data_task(base .. "/x")
      task:resume()
      while not task.response do http.sleep(0.01) end
      task:cancel()
      task:wait()
      """, prints: "cancelled\ttrue\tfalse\ttrue\t1\t3", "cancelled\tGET /y 0"),
  ]

  @Test(arguments: handlers)
  func handler(_ scriptCase: ScriptCase) async throws {
    let server = try Self.server()
    let lines = scriptCase.prints.map { $0.replacing("BASE", with: server.url) }
    let result = try await expectScript(Self.trial + scriptCase.script, [server.url], prints: lines)
    #expect(result.seconds < 5)
  }

  @Test("a time limit ends what a handler waits for, on the wire too")
  func handlerInScope() async throws {
    let closed = Gate()
    let server = try ScriptedServer { connection in
      while let request = try connection.readRequest() {
        if request.path == "/inner" {
          connection.waitForClose()
          closed.open()
        }
        try connection.send(Reply("x"))
      }
    }
    let script = """
      local session = http.session(nil, {
        did_receive_response = function() print(pcall(http.get, base .. "/inner")) end,
        did_complete = function(_, _, err) print(err.code) end,
      })
      local _, err = http.with_timeout(1.5, function()
        local task = session:data_task(base)
        task:resume()
        return task:wait()
      end)
      print(err.code)
      """
    let result = try await expectScript(
      script, [server.url], prints: ["timed_out", "false\tcancelled: the job was cancelled", "cancelled"])
    #expect(result.seconds < 10)
    #expect(await closed.opened())
  }

  @Test("many jobs are cancelled in a moment, one by one and with their scope")
  func manyCancelled() async throws {
    let script = """
      local jobs = {}
      for i = 1, 20000 do jobs[i] = http.spawn(http.sleep, 600) end
      http.sleep(0)
      for i = 1, #jobs do jobs[i]:cancel() end
      local _, err = http.with_timeout(0.1, function()
        for _ = 1, 20000 do http.spawn(http.sleep, 600) end
        http.sleep(600)
      end)
      print(err.code)
      """
    let result = try await expectScript(script, prints: ["timed_out"])
    #expect(result.seconds < 20)
  }

  @Test("a call that is woken for nothing waits on")
  func spuriousWake() async throws {
    let server = try ScriptedServer { connection in
      while try connection.readRequest() != nil {
        try connection.pause(0.2)
        try connection.send(Reply("late"))
      }
    }
    let script = """
      local core, me = require "httpscript.core", require("httpscript.fiber").current()
      http.spawn(function() for _ = 1, 3 do core.wake(me) http.sleep(0.01) end end)
      print(assert(http.get(base)).body)
      """
    try await expectScript(script, [server.url], prints: ["late"])
  }

  @Test("bytes that are no UTF-8 are sent in a URL as they are")
  func urlBytes() async throws {
    let server = try Self.server()
    try await expectScript(
      """
      for _, options in ipairs { false, {} } do
        print(assert(http.get(base .. "/\\xff\\xc3\\xa9", options or nil)).body)
      end
      """,
      [server.url], prints: ["GET /%FF%C3%A9 0", "GET /%FF%C3%A9 0"])
  }

  @Test("standard output that nobody reads ends the script")
  func brokenPipe() async throws {
    let result = try await runShell("'\(Executable.path)' -e 'while true do print(1) end'", filter: "head -n 1")
    #expect(result.stdout == "1\n141\n", "\(result)")
    #expect(result.seconds < 5)
  }

  @Test("standard output that is full fails the script")
  func fullDevice() async throws {
    let result = try await runShell("'\(Executable.path)' -e 'print(1)' >/dev/full", filter: "cat")
    #expect(result.stdout == "1\n", "\(result)")
    #expect(result.stderr.contains("cannot write to standard output"), "\(result)")
  }

  @Test("with standard output closed, nothing else takes its place")
  func closedOutput() async throws {
    let script = """
      local place = io.popen("readlink /proc/$PPID/fd/1"):read("l")
      os.exit(place == "/dev/null" and 0 or 3)
      """
    let result = try await runShell("'\(Executable.path)' -e '\(script)' <&- >&- 2>&-", filter: "cat")
    #expect(result.stdout == "0\n", "\(result)")
  }

  @Test("numbers beyond all measure do not end the process")
  func hugeNumbers() async throws {
    let server = try Self.server()
    let script = """
      local huge = math.maxinteger
      local session = http.session { http_maximum_connections_per_host = huge, timeout_for_resource = math.huge }
      local options = { timeout = 1e300, resource_timeout = math.huge, max_body = huge, redirects = huge }
      print(assert(session:get(base .. "/x", options)).status)
      """
    try await expectScript(script, [server.url], prints: ["200"])
  }

  /// Runs a command with a filter behind it; the command's status is the last line of output.
  private func runShell(_ command: String, filter: String) async throws -> RunResult {
    let line = "exec 3>&1; { \(command) 3>&-; echo $? >&3; } | \(filter)"
    let launch = Launch(program: "/bin/sh", arguments: ["-c", line], environment: [:], directory: "/")
    return await (try RunningProcess(launch, deadline: 15)).finish()
  }
}
