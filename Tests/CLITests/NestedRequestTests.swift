import TestSupport
import Testing

/// What handlers themselves ask of the host that their own task keeps waiting.
@Suite struct NestedRequestTests {
  static let handlers = ["did_receive_data", "did_receive_response", "will_perform_redirection"]

  @Test(
    "Handlers may ask their own host when its connections are all held by such handlers", arguments: handlers,
    [1, 6])
  func ownHost(handler: String, limit: Int) async throws {
    let large = String(repeating: "x", count: 3_000_000)
    let server = try ScriptedServer { request in
      switch request.path {
      case "/large": Reply(large)
      case "/moved": Reply(status: "302 F", fields: [("Location", "/large")], large)
      default: Reply("small")
      }
    }
    let script = """
      local session
      local delegate = { did_complete = function() end }
      delegate[arg[2]] = function(_, task)
        if task.user_info then return end
        task.user_info = true
        -- One after another, and two at once.
        assert(session:get(base .. "/small"))
        for _, r in ipairs(http.map({ 1, 2 }, 2, function() return session:get(base .. "/small") end)) do
          assert(r.body == "small")
        end
      end
      local limit = tonumber(arg[3])
      session = http.session(http.configuration.ephemeral {
        cache = false, http_maximum_connections_per_host = limit,
      }, delegate)
      local tasks = {}
      for i = 1, limit + 2 do
        tasks[i] = session:data_task(base .. (arg[2] == "will_perform_redirection" and "/moved" or "/large"))
        tasks[i]:resume()
      end
      local done = 0
      for _, task in ipairs(tasks) do
        if assert(task:wait()).status == 200 then done = done + 1 end
      end
      print(done == limit + 2)
      """
    try await expectScript(script, [server.url, handler, "\(limit)"], prints: ["true"]) { $0.weight = 2 }
  }

  /// `/large` and `/moved` (to `/large`) answer with more than is taken unasked, `/locked` with as large a 401, `/again`
  /// wants the body once more.
  static func server() throws -> ScriptedServer {
    try ScriptedServer.continuing { answer(to: $0) }
  }

  private static let large = String(repeating: "x", count: 3_000_000)

  private static func answer(to request: ReceivedRequest) -> Reply {
    switch request.path {
    case "/large": return Reply(large)
    case "/moved": return Reply(status: "302 F", fields: [("Location", "/large")], large)
    case "/again": return .redirect("307 Temporary Redirect", to: "/store")
    case "/locked" where request["Authorization"] == nil:
      return Reply(status: "401 U", fields: [("WWW-Authenticate", "Token")], large)
    default: return Reply("small")
    }
  }

  /// A session with one connection for each host, whose handlers are put into `delegate`, and the time a test may take.
  static let setting = """
    local delegate = { did_complete = function() end }
    local session = http.session(http.configuration.ephemeral {
      cache = false, http_maximum_connections_per_host = 1,
    }, delegate)
    local function get(path) return assert(session:get(base .. path)) end
    local function start(path, method, source)
      local request = http.request { url = base .. path, method = method or "GET" }
      local task = source and session:upload_task(request, source) or session:data_task(request)
      task:resume()
      return task
    end

    """

  static let waits = [
    "did_receive_data", "did_receive_response", "will_perform_redirection", "did_receive_challenge",
    "need_new_body_stream", "did_send_body_data", "reader",
  ]

  @Test(
    "A handler may wait for what another fiber asks of its own task's host, with one connection", arguments: waits)
  func otherFiber(handler: String) async throws {
    let server = try Self.server()
    let script =
      Self.setting + """
        local wanted, token
        -- Of all who want the token, this one fetches it.
        http.spawn(function()
          while not wanted do http.sleep(0.005) end
          token = get("/token").body
        end)
        local function wait()
          wanted = true
          while not token do http.sleep(0.005) end
        end
        local function stream()
          local left = 2
          return function()
            if arg[2] == "reader" then wait() end
            left = left - 1
            return left >= 0 and ("x"):rep(300000) or nil
          end
        end
        delegate.need_new_body_stream = stream
        if arg[2] ~= "reader" then
          delegate[arg[2]] = function(_, task, challenge)
            if not task.user_info then wait() end
            task.user_info = true
            if arg[2] == "need_new_body_stream" then return stream() end
            if arg[2] == "did_receive_challenge" then return "use_credential", http.credential { token = token } end
          end
        end
        local paths = { will_perform_redirection = "/moved", did_receive_challenge = "/locked" }
        local sends = { need_new_body_stream = true, did_send_body_data = true, reader = true }
        local tasks = {}
        for i = 1, 3 do
          tasks[i] = sends[arg[2]] and start("/again", "POST", { stream = true }) or start(paths[arg[2]] or "/large")
        end
        local statuses = {}
        for i, task in ipairs(tasks) do
          local r = assert(task:wait())
          statuses[i] = r.status
        end
        print(table.concat(statuses, " "), token)
        """
    try await expectScript(script, [server.url, handler], prints: ["200 200 200\tsmall"])
    #expect(server.requests.filter { $0.path == "/token" }.count == 1)
  }

  @Test("Loans two deep: what a handler waits for has a handler that waits as well", arguments: [true, false])
  func nested(isOwn: Bool) async throws {
    let server = try Self.server()
    let script =
      Self.setting + """
        local waiting, fetched = {}, {}
        -- In a fiber that no handler has begun, or in the handler itself.
        local function fetch(path)
          if arg[2] == "own" then return start(path):wait() end
          waiting[path] = true
          while not fetched[path] do http.sleep(0.005) end
        end
        for _, path in ipairs { "/large?2", "/large?3" } do
          http.spawn(function()
            while not waiting[path] do http.sleep(0.005) end
            assert(start(path):wait())
            fetched[path] = true
          end)
        end
        delegate.did_receive_response = function(_, task)
          local depth = tonumber(task.current_request.url:match("%d$"))
          print("begin", depth)
          if depth < 3 then fetch("/large?" .. depth + 1) end
          print("end", depth)
        end
        print(assert(start("/large?1"):wait()).status)
        os.exit()
        """
    try await expectScript(
      script, [server.url, isOwn ? "own" : "other"],
      prints: ["begin\t1", "begin\t2", "begin\t3", "end\t3", "end\t2", "end\t1", "200"])
    #expect(server.peakConnections == 3)
  }

  @Test("A turn that is lent when lender or borrower is cancelled is not lost, and not had twice")
  func cancelled() async throws {
    let server = try Self.server()
    let script =
      Self.setting + """
        local inner
        delegate.did_receive_response = function(_, task)
          if not task.user_info then return end
          task.user_info(task)
        end
        local function outer(handler)
          local task = session:data_task(base .. "/large")
          task.user_info = handler
          task:resume()
          local r, err = task:wait()
          return r and r.status or err.code
        end
        -- The borrower is cancelled, and its lender goes on.
        print(outer(function()
          inner = session:data_task(base .. "/large")
          inner.user_info = function(task) task:cancel() end
          inner:resume()
          print(select(2, inner:wait()).code, get("/small").body)
        end))
        -- The lender is cancelled, and its borrower goes on.
        print(outer(function(task)
          inner = session:data_task(base .. "/large")
          inner.user_info = function() task:cancel() end
          inner:resume()
          inner:wait()
        end))
        print(assert(inner:wait()).status)
        -- Then there is one turn, as before.
        delegate.did_receive_response = nil
        http.map({ 1, 2, 3, 4 }, 4, function() assert(get("/large").status == 200) end)
        print("done")
        """
    try await expectScript(script, [server.url], prints: ["cancelled\tsmall", "200", "cancelled", "200", "done"])
  }

  @Test("Handlers that answer at once have nobody begin beyond the limit")
  func noNeed() async throws {
    let server = try Self.server()
    let script =
      Self.setting + """
        delegate.did_receive_response = function() end
        delegate.did_receive_data = function() end
        for _, task in ipairs { start("/large"), start("/large"), start("/large"), start("/large") } do
          assert(task:wait())
        end
        """
    try await expectScript(script, [server.url], prints: [])
    #expect(server.peakConnections == 1)
  }
}
