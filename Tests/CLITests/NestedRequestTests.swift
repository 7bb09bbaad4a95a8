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
}
