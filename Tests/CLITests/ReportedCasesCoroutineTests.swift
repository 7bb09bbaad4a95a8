import TestSupport
import Testing

/// Faults users of other bindings reported about yielding inside handlers (B45).
@Suite struct ReportedCasesCoroutineTests {
  static func server() throws -> ScriptedServer {
    try ScriptedServer { request in
      switch request.target {
      case "/go": .redirect(to: "/end")
      case "/token": Reply("pw")
      default: Reply("ok")
      }
    }
  }

  static let cases = [
    ScriptCase(
      "a redirect handler that yields is resumed",
      """
      fetch("/go", { will_perform_redirection = function(_, _, _, request)
        collectgarbage()
        coroutine.yield()
        return request
      end })
      """, prints: "200\tok", "ok"),
    ScriptCase(
      "a redirect handler asks another service on the same session",
      """
      fetch("/go", { will_perform_redirection = function(session, _, _, request)
        assert(assert(session:get(base .. "/token")).body == "pw")
        collectgarbage()
        return request
      end })
      """, prints: "200\tok", "ok"),
    ScriptCase(
      "a data handler waits for another request",
      """
      local got
      fetch("/end", { did_receive_data = function(session, _, data)
        if got then return end
        got = data
        collectgarbage()
        assert(assert(session:get(base .. "/token")).body == "pw")
      end })
      print(got)
      """, prints: "200\tnil", "ok", "ok"),
    ScriptCase(
      "handlers that sleep",
      """
      fetch("/end", {
        did_receive_response = function() http.sleep(0.05) collectgarbage() return "allow" end,
        did_complete = function() http.sleep(0.05) end,
      })
      """, prints: "200\tok", "ok"),
    ScriptCase(
      "progress that sleeps",
      """
      local calls = 0
      assert(http.get(base .. "/end", { progress = function()
        calls = calls + 1
        http.sleep(0.05)
        collectgarbage()
      end }))
      print(calls > 0)
      """, prints: "true"),
    ScriptCase(
      "a task nobody refers to runs to its end",
      """
      do
        http.session(http.configuration.ephemeral(), {
          did_complete = function(_, task, err) print(task.response.status, err) end,
        }):data_task(base .. "/end"):resume()
      end
      for _ = 1, 10 do collectgarbage() http.sleep(0.02) end
      """, prints: "200\tnil"),
    ScriptCase(
      "a coroutine that is dropped while it waits harms nobody",
      """
      do
        local co = coroutine.create(function() http.get(base .. "/end") error("never resumed") end)
        coroutine.close(co)
      end
      collectgarbage()
      print(assert(http.get(base .. "/end")).body)
      """, prints: "ok"),
    ScriptCase(
      "an error in a handler fails its task alone",
      """
      local session = http.session(http.configuration.ephemeral(), {
        did_receive_data = function(_, task) if task.description == "bad" then error({ 42 }) end end,
      })
      local bad, good = session:data_task(base .. "/end"), session:data_task(base .. "/end")
      bad.description = "bad"
      bad:resume()
      good:resume()
      local r, err = bad:wait()
      print(r, err.domain, err.code, err.value[1])
      print(assert(good:wait()).status)
      """, prints: "nil\tscript\thandler_error\t42", "200"),
  ]

  @Test("B45: handlers may yield", arguments: cases)
  func handlers(_ scriptCase: ScriptCase) async throws {
    let server = try Self.server()
    let helper = """
      local function fetch(path, delegate)
        local session = http.session(http.configuration.ephemeral(), delegate)
        local task = session:data_task(base .. path)
        task:resume()
        local r = assert(task:wait())
        print(r.status, r.body ~= "" and r.body or nil)
        print(assert(session:get(base .. "/end")).body)
      end
      coroutine.wrap(function()

      """
    let result = try await expectScript(
      helper + scriptCase.script + "\nend)()\n", [server.url], prints: scriptCase.prints)
    #expect(result.seconds < 5)
  }
}
