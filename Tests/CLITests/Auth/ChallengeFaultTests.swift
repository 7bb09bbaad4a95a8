import TestSupport
import Testing

/// Challenges and what can come in between: cancelling, time, the session's end, bodies that cannot be read twice.
@Suite struct ChallengeFaultTests {
  static func server() throws -> ScriptedServer {
    try ScriptedServer { request in
      if request.path == "/open" { return Reply("open") }
      return request["Authorization"] == "Basic dXNlcjpwdw=="
        ? Reply(request.bodyText)
        : Reply(status: "401 Unauthorized", fields: [("WWW-Authenticate", #"Basic realm="r""#)], "denied")
    }
  }

  static let interruptions = [
    ScriptCase(
      "the task is cancelled while its handler waits for ever",
      """
      local session = http.session(http.configuration.ephemeral(), {
        did_receive_challenge = function() http.sleep(1000) end,
      })
      local task = session:data_task(base .. "/basic")
      task:resume()
      http.sleep(0.1)
      task:cancel()
      print(select(2, task:wait()).code, assert(session:get(base .. "/open")).body)
      """, prints: "cancelled\topen"),
    ScriptCase(
      "the resource timeout passes while a handler waits; the request timeout does not count there",
      """
      local slow = 2.2
      local session = http.session(http.configuration.ephemeral { timeout_for_request = 2 }, {
        did_receive_challenge = function()
          http.sleep(slow)
          return "use_credential", http.credential { user = "user", password = "pw", persistence = "none" }
        end,
      })
      print(assert(session:post(base .. "/basic", { body = "x" })).body)
      slow = 1000
      local r, err = session:get(base .. "/other/basic", { resource_timeout = 1 })
      print(r, err.code)
      """, prints: "x", "nil\ttimed_out"),
    ScriptCase(
      "the session is invalidated inside the handler",
      """
      local session
      session = http.session(http.configuration.ephemeral(), {
        did_receive_challenge = function()
          session:invalidate_and_cancel()
          return "use_credential", http.credential { user = "user", password = "pw" }
        end,
        did_become_invalid = function() print("invalid") end,
      })
      print(select(2, session:get(base .. "/basic")).code)
      """, prints: "cancelled", "invalid"),
    ScriptCase(
      "everything is collected while handlers run",
      """
      local function run(path)
        return http.session(http.configuration.ephemeral(), {
          did_receive_challenge = function()
            collectgarbage()
            http.sleep(0.01)
            collectgarbage()
            return "use_credential", http.credential { user = "user", password = "pw" }
          end,
        }):get(base .. path)
      end
      print(assert(run("/basic")).status)
      collectgarbage()
      print(assert(run("/basic")).status)
      """, prints: "200", "200"),
  ]

  @Test(arguments: interruptions)
  func interruption(_ one: ScriptCase) async throws {
    let server = try Self.server()
    try await check(one, server.url)
  }

  @Test("a large 401 is held back while a handler thinks, and dropped then")
  func largeRefusal() async throws {
    let server = try ScriptedServer { request in
      request["Authorization"] == nil
        ? Reply(
          status: "401 Unauthorized", fields: [("WWW-Authenticate", #"Basic realm="r""#)],
          body: Array(repeating: 0x41, count: 40_000_000)) : Reply("in")
    }
    let script = """
      local function resident()
        for line in io.lines("/proc/self/status") do
          local size = line:match("^VmRSS:%s*(%d+)")
          if size then return tonumber(size) end
        end
      end
      local before, during
      local session = http.session(http.configuration.ephemeral(), {
        did_receive_challenge = function()
          before = resident()
          http.sleep(0.5)
          during = resident()
          return "use_credential", http.credential { user = "user", password = "pw" }
        end,
      })
      print(assert(session:get(base .. "/")).body, during - before < 4000)
      """
    try await expectScript(script, [server.url], prints: ["in\ttrue"])
  }

  @Test("what a handler asks of the same host does not wait for a large 401, even where there is one connection")
  func largeRefusalAndOneConnection() async throws {
    let server = try ScriptedServer { request in
      if request.path == "/token" || request["Authorization"] != nil { return Reply("pw") }
      let challenge = ("WWW-Authenticate", #"Basic realm="r""#)
      return Reply(
        status: "401 Unauthorized", fields: [challenge], body: Array(repeating: 0x41, count: 4_000_000))
    }
    let script = """
      local session
      session = http.session({ http_maximum_connections_per_host = 1, cache = false }, {
        did_receive_challenge = function(_, task)
          local password = assert(session:get(base .. "/token")).body
          if task.original_request.url:find("refused") then return "perform_default_handling" end
          return "use_credential", http.credential { user = "user", password = password, persistence = "none" }
        end,
      })
      print(assert(session:get(base .. "/1")).body, assert(session:get(base .. "/2")).body)
      local r = assert(session:get(base .. "/refused"))
      print(r.status, #r.body)
      local done = http.map({ 1, 2, 3 }, 3, function(i) return assert(session:get(base .. "/" .. i)).body end)
      print(table.concat(done, " "))
      """
    try await expectScript(script, [server.url], prints: ["pw\tpw", "401\t4000000", "pw pw pw"])
  }

  static let bodies =
    ScriptCase(
      "strings and files are sent again, and a reader by its own means",
      """
      local answer = { did_receive_challenge = function()
        return "use_credential", http.credential { user = "user", password = "pw", persistence = "none" }
      end }
      local session = http.session(http.configuration.ephemeral(), answer)
      local text = ("x"):rep(65536)
      local path = os.tmpname()
      local file <close> = assert(io.open(path, "w"))
      file:write(text)
      file:close()
      local function reader()
        local left = 4
        return function() left = left - 1 if left >= 0 then return text:sub(1, 16384) end end
      end
      print(assert(session:put(base .. "/basic", { body = text })).body == text)
      print(assert(session:put(base .. "/basic", { body = { file = path } })).body == text)
      local r, err = session:put(base .. "/basic", { body = reader() })
      print(r, err.code)
      answer.need_new_body_stream = function() return reader() end
      print(assert(session:put(base .. "/basic", { body = reader() })).body == text)
      os.remove(path)
      """, prints: "true", "true", "nil\trequest_body_stream_exhausted", "true")

  @Test("bodies are never sent empty in place of what was meant")
  func replay() async throws {
    let server = try Self.server()
    try await check(Self.bodies, server.url)
    let sizes = server.requests.map(\.body.count)
    #expect(sizes.filter { $0 != 65_536 }.isEmpty)
  }

  @Test("a body that must be had anew is asked for after the challenge")
  func order() async throws {
    let server = try Self.server()
    let script = """
      local seen = {}
      local function reader()
        local parts = { "ab", "cd" }
        return function() return table.remove(parts, 1) end
      end
      local session = http.session(http.configuration.ephemeral(), {
        did_receive_challenge = function()
          seen[#seen + 1] = "challenge"
          return "use_credential", http.credential { user = "user", password = "pw" }
        end,
        need_new_body_stream = function()
          seen[#seen + 1] = "body"
          return reader()
        end,
        did_finish_collecting_metrics = function() seen[#seen + 1] = "metrics" end,
      })
      print(assert(session:put(base .. "/basic", { body = reader() })).body, table.concat(seen, " "))
      """
    try await expectScript(script, [server.url], prints: ["abcd\tchallenge body metrics"])
  }
}
