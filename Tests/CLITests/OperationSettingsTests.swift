import TestSupport
import Testing

/// What an operation can be told beforehand, and what it tells afterwards: each name of AFNetworking's layer once.
@Suite struct OperationSettingsTests {
  static func server() throws -> ScriptedServer {
    try ScriptedServer { request in
      switch request.path {
      case "/redirect": return .redirect(to: "/there")
      case "/private":
        let isKnown = request["Authorization"] != nil
        return isKnown
          ? Reply("welcome")
          : Reply(status: "401 Unauthorized", fields: [("WWW-Authenticate", "Basic realm=\"r\"")], "who are you?")
      case "/echo": return Reply(body: request.body)
      case "/latin":
        return Reply(fields: [("Content-Type", "text/plain; charset=ISO-8859-1")], body: [0x67, 0x72, 0xFC, 0xDF])
      case "/fresh": return Reply(fields: [("Cache-Control", "max-age=60")], "to be kept")
      default: return Reply("there")
      }
    }
  }

  private static let opening = """
    local operation = require "http.operation"
    local function run(path, options)
      local one = operation(base .. path, options)
      one:start()
      local _, err = one:wait()
      return one, err
    end

    """

  static let cases = [
    ScriptCase(
      "strings and their encoding",
      """
      local one = run "/latin"
      print(#one.response_data, one.response_string, one.response_string_encoding)
      print(one.state, one.is_finished, one.is_executing, one.is_cancelled, one.error, one.response.status)
      """, prints: "4\tgrüß\tWINDOWS-1252", "finished\ttrue\tfalse\tfalse\tnil\t200"),
    ScriptCase(
      "input streams: a function, and an object that is read again over a redirect or challenge; upload_progress",
      """
      local left = { "one ", "two ", "three" }
      local request = http.request { url = base .. "/echo", method = "POST" }
      local last
      local one = operation(request, {
        input_stream = function() return table.remove(left, 1) end,
        upload_progress = function(written, total, expected) last = total .. "/" .. expected end,
      })
      one:start()
      assert(one:wait())
      print(one.response_string, last)
      local file = io.tmpfile()
      file:write("from a file")
      file:seek("set", 0)
      local again = operation(http.request { url = base .. "/private", method = "POST" }, {
        input_stream = file, credential = http.credential { user = "u", password = "p" },
      })
      again:start()
      assert(again:wait())
      print(again.response.status, again.response_string)
      """, prints: "one two three\t13/-1", "200\twelcome"),
    ScriptCase(
      "an output stream takes the data",
      """
      local file = io.tmpfile()
      local one = run("/there", { output_stream = file })
      file:seek("set", 0)
      print(one.response_data, one.response_string, file:read("a"))
      """, prints: "nil\tnil\tthere"),
    ScriptCase(
      "redirects: followed, changed, refused",
      """
      local function hop(answer)
        local one = run("/redirect", { redirect = answer and function(op, proposed, head)
          assert(op.request.url == base .. "/redirect")
          return answer(proposed, head)
        end })
        return one.response.status .. " " .. one.response.url:gsub("^.*/", "/")
      end
      print(hop(nil), hop(function() end), hop(function() return false end))
      print(hop(function(proposed) proposed.url = base .. "/echo" return proposed end))
      """, prints: "200 /there\t200 /there\t302 /redirect", "200 /echo"),
    ScriptCase(
      "credentials: offered once, or by a handler",
      """
      print(run("/private").response.status)
      print(run("/private", { credential = http.credential { user = "u", password = "p" } }).response_string)
      local seen
      local one = run("/private", {
        will_send_request_for_challenge = function(op, challenge)
          seen = op.user_info .. challenge.protection_space.realm
          return "use_credential", http.credential { user = "u", password = "p" }
        end, user_info = "mine ",
        configuration = http.configuration.ephemeral(),
      })
      print(seen, one.response_string)
      local _, err = run("/private", { will_send_request_for_challenge = function()
        return "cancel_authentication_challenge"
      end, configuration = http.configuration.ephemeral() })
      print(err.code)
      """, prints: "401", "welcome", "mine r\twelcome", "user_cancelled_authentication"),
    ScriptCase(
      "what is stored is asked about",
      """
      local cache = http.cache()
      local configuration = http.configuration.ephemeral { cache = cache }
      for _, keep in ipairs { false, true } do
        run("/fresh", { configuration = configuration, cache_response = function(_, cached)
          io.write(#cached.data, " ")
          return keep and cached
        end })
        print(cache:get(base .. "/fresh") ~= nil)
      end
      """, prints: "10 false", "10 true"),
    ScriptCase(
      "a credential storage is used unless that is switched off; a security policy makes a session of its own",
      """
      local storage = http.credential_storage()
      local space = { host = "127.0.0.1", port = tonumber(base:match("%d+$")), protocol = "http", realm = "r",
        authentication_method = "basic" }
      storage:set_default(http.credential { user = "u", password = "p" }, space)
      local configuration = http.configuration.ephemeral { credential_storage = storage }
      for _, use in ipairs { true, false } do
        print(run("/private", { configuration = configuration, should_use_credential_storage = use }).response.status)
      end
      print(run("/there", { security_policy = http.security_policy {} }).response_string)
      """, prints: "200", "401", "there"),
    ScriptCase(
      "a copy is ready to start, with the same settings; settings can be changed until then",
      """
      local count = 0
      local one = run("/there", { completion = function(op) count = count + 1 assert(op.response_string) end, user_info = 7 })
      local copy = one:copy()
      print(copy.state, copy.user_info, copy.response, copy.request.url == one.request.url)
      copy.completion = function() count = count + 10 end
      copy:start()
      copy:start()
      assert(copy:wait())
      print(count, one.is_paused)
      print((select(2, pcall(function() copy.complation = print end)):gsub("^.-:%d+: ", "")))
      """,
      prints: "ready\t7\tnil\ttrue", "11\tfalse",
      "an operation's 'complation' cannot be set (did you mean 'completion'?)"),
    ScriptCase(
      "a stored request keeps all of its fields",
      """
      local request = http.request { url = base .. "/echo", method = "PUT", body = "b", timeout = 7.5,
        cache_policy = "reload_ignoring_local_cache_data", network_service_type = "background",
        http_should_handle_cookies = false, main_document_url = "http://a.test/", allows_cellular_access = false }
      local again = assert(operation.decode(assert(operation(request):encode()))).request
      print(again.timeout, again.cache_policy, again.network_service_type, again.http_should_handle_cookies,
        again.main_document_url, again.allows_cellular_access, again.method, again.body)
      """,
      prints: "7.5\treload_ignoring_local_cache_data\tbackground\tfalse\thttp://a.test/\tfalse\tPUT\tb"),
    ScriptCase(
      "every notification",
      """
      local heard = {}
      for _, name in ipairs { "task_did_start", "task_did_suspend", "task_did_resume", "task_did_finish",
          "operation_did_start", "operation_did_pause", "operation_did_resume", "operation_did_finish",
          "session_did_invalidate" } do
        http.on(name, function(_, what) heard[what] = (heard[what] or 0) + 1 end)
      end
      local one = operation(base .. "/there")
      one:start() one:pause() one:resume()
      assert(one:wait())
      local session = http.session()
      local task = session:data_task(base .. "/there")
      task:resume() task:suspend() task:resume()
      task:wait()
      session:finish_tasks_and_invalidate()
      http.sleep(0.05)
      local list = {}
      for name, count in pairs(heard) do list[#list + 1] = name .. "=" .. count end
      table.sort(list)
      print(table.concat(list, " "))
      """,
      prints: "operation_did_finish=1 operation_did_pause=1 operation_did_resume=1 operation_did_start=1"
        + " session_did_invalidate=1 task_did_finish=3 task_did_resume=1 task_did_start=3 task_did_suspend=1"),
  ]

  @Test(arguments: cases)
  func setting(_ scriptCase: ScriptCase) async throws {
    let server = try Self.server()
    try await expectScript(Self.opening + scriptCase.script, [server.url], prints: scriptCase.prints)
  }
}
