import TestSupport
import Testing

/// What a script may rely on of sessions, configurations, tasks and delegates, sentence by sentence.
@Suite struct ContractSessionTests {
  static func server() async throws -> ScriptedServer {
    let packed = try await gzip(Array(repeating: 0x61, count: 10_000))
    return try ScriptedServer { request in
      switch request.path {
      case "/redirect": .redirect(to: "/final")
      case "/see-other": .redirect("303 See Other", to: "/final")
      case "/gzip": Reply(fields: [("Content-Encoding", "gzip")], body: packed)
      case "/big": Reply(body: Array(repeating: 0x42, count: 300_000))
      default: Reply(request["X-Name"] ?? request.line)
      }
    }
  }

  static let configurations = [
    ScriptCase(
      "the kinds of configuration and their defaults",
      """
      local c = http.configuration.default()
      print(c.timeout_for_request, c.timeout_for_resource, c.http_maximum_connections_per_host, c.connection_proxy)
      print(c.allows_cellular_access, c.waits_for_connectivity, c.discretionary, c.network_service_type)
      print(c.http_should_set_cookies, c.http_cookie_accept_policy, c.request_cache_policy)
      print(http.configuration.ephemeral { user_agent = "x" }.user_agent)
      local background = http.configuration.background("org.example.sync", { discretionary = true })
      print(background.identifier, background.discretionary, http.session(background).configuration.identifier)
      """, prints: "60\t604800\t6\tenvironment", "true\tfalse\tfalse\tdefault",
      "true\tonly_from_main_document_domain\tuse_protocol_cache_policy", "x",
      "org.example.sync\ttrue\torg.example.sync"),
    ScriptCase(
      "a session may do without stores, and words are checked",
      """
      local c = http.configuration.default { cookie_storage = false, credential_storage = false, cache = false }
      c.network_service_type, c.discretionary, c.allows_cellular_access = "video", true, false
      print(c.cache, c.network_service_type, c.discretionary, c.allows_cellular_access)
      print((pcall(http.configuration.default, { http_cookie_accept_policy = "sometimes" })))
      print((pcall(http.configuration.default, { request_cache_policy = "sometimes" })))
      """, prints: "false\tvideo\ttrue\tfalse", "false", "false"),
    ScriptCase(
      "session.configuration is a new copy each time, tables included",
      """
      local fields = { ["X-Name"] = "first" }
      local session = http.session(http.configuration.ephemeral { http_additional_headers = fields, timeout_for_request = 7 })
      fields["X-Name"] = "second"
      session.configuration.timeout_for_request = 1
      session.configuration.http_additional_headers["X-Name"] = "third"
      print(session.configuration.timeout_for_request, session.configuration.http_additional_headers["X-Name"])
      print(assert(session:get(base)).body, (pcall(function() session.configuration = {} end)))
      local copy = session.configuration
      copy.timeout_for_request = 3
      print(http.session(copy).configuration.timeout_for_request, session.configuration.timeout_for_request)
      """, prints: "7\tfirst", "first\tfalse", "3\t7"),
  ]

  static let tasks = [
    ScriptCase(
      "in a handler, the task shows its response and counts",
      """
      local first
      local session = http.session(nil, {
        did_receive_data = function(_, task)
          first = first or { task.response.status, task.count_of_bytes_expected_to_receive, task.count_of_bytes_received }
        end,
      })
      local task = session:data_task(base .. "/big")
      task:resume()
      assert(task:wait())
      print(first[1], first[2], first[3] > 0 and first[3] <= 300000)
      print(task.count_of_bytes_received, task.count_of_bytes_expected_to_receive)
      """, prints: "200\t300000\ttrue", "300000\t300000"),
    ScriptCase(
      "counts are of the transferred bytes, decompressed or not",
      """
      local session = http.session()
      local task = session:data_task(base .. "/gzip")
      task:resume()
      local r = assert(task:wait())
      print(#r.body, task.count_of_bytes_received == r.expected_content_length, task.count_of_bytes_received < 1000)
      """, prints: "10000\ttrue\ttrue"),
    ScriptCase(
      "the current request follows redirects without a handler too",
      """
      local session = http.session()
      local task = session:data_task(http.request { url = base .. "/see-other", method = "POST", body = "x", timeout = 9 })
      task:resume()
      print(assert(task:wait()).body)
      local current = task.current_request
      print(tostring(current) == "GET " .. base .. "/final", current.body, current.timeout)
      print(tostring(task.original_request) == "POST " .. base .. "/see-other", task.original_request.body)
      """, prints: "GET /final", "true\tnil\t9", "true\tx"),
    ScriptCase(
      "a copy is a new task for the same request",
      """
      local session = http.session()
      local task = session:data_task(base .. "/once")
      task:resume()
      assert(task:wait())
      local copy = task:copy()
      print(copy.state, copy.identifier ~= task.identifier, copy.response)
      copy:resume()
      print(assert(copy:wait()).body)
      """, prints: "suspended\ttrue\tnil", "GET /once"),
    ScriptCase(
      "a verb is a task with a completion: response, data and completion handlers are not called",
      """
      local seen = {}
      local function note(name) return function() seen[#seen + 1] = name end end
      local session = http.session(nil, {
        did_create_task = note "create", will_perform_redirection = note "redirect",
        did_receive_response = note "response", did_receive_data = note "data",
        did_finish_collecting_metrics = note "metrics", did_complete = note "complete",
      })
      print(assert(session:get(base .. "/redirect")).body, table.concat(seen, " "))
      """, prints: "GET /final\tcreate redirect metrics"),
    ScriptCase(
      "an error raised in the last handler still has the response",
      """
      local session = http.session(nil, { did_complete = function() error("late") end })
      local task = session:data_task(base)
      task:resume()
      local _, err = task:wait()
      print(err.domain, err.code, err.response.status, task.error == err)
      """, prints: "script\thandler_error\t200\ttrue"),
  ]

  @Test(arguments: configurations + tasks)
  func behaviour(_ scriptCase: ScriptCase) async throws {
    let server = try await Self.server()
    try await check(scriptCase, server.url)
  }
}
