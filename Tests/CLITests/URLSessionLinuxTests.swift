import TestSupport
import Testing

/// What the other URLSession on Linux gets wrong (its issue numbers are named), where no other suite is about it.
@Suite struct URLSessionLinuxTests {
  static func server() throws -> ScriptedServer {
    try ScriptedServer { connection in
      while let request = try connection.readRequest() {
        switch request.path {
        case "/lower":
          try connection.send("HTTP/1.1 302 Found\r\nlocation: /there\r\nContent-Length: 9\r\n\r\nnot this!")
        case "/closed": return
        case "/cut":
          try connection.send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nten bytes.")
          return
        case "/private":
          try connection.send(
            Reply(status: "401 Unauthorized", fields: [("WWW-Authenticate", "Basic realm=\"r\"")], "who are you?"))
        case "/slow":
          connection.waitForClose()
          return
        case "/upgrade":
          guard request["Upgrade"] == "echo" else { return try connection.send(Reply(status: "400 Bad Request")) }
          try connection.send("HTTP/1.1 101 Switching Protocols\r\nUpgrade: echo\r\nConnection: Upgrade\r\n\r\n")
          while let bytes = try connection.readSome() { try connection.send(bytes) }
        default: try connection.send(Reply(body: request.method == "POST" ? request.body : Array("there".utf8)))
        }
      }
    }
  }

  static let cases = [
    ScriptCase(
      "#3267, #2744: a lower-case location is followed, also by a download, whose file has the last body only",
      """
      print(assert(http.get(base .. "/lower")).body)
      local task = http.session(http.configuration.ephemeral()):download_task(base .. "/lower")
      task:resume()
      print(assert(io.open(assert(task:wait()).location, "rb")):read("a"))
      """, prints: "there", "there"),
    ScriptCase(
      "#5285: a connection that is closed before the response, and one in the middle of the body",
      """
      for _, path in ipairs { "/closed", "/cut" } do
        local r, err = http.get(base .. path)
        print(r, err.domain, err.code, err.response and err.response.status)
      end
      """, prints: "nil\turl\tnetwork_connection_lost\tnil", "nil\turl\tnetwork_connection_lost\t200"),
    ScriptCase(
      "#5456: a 401 that nobody has credentials for is the response",
      """
      local heard = {}
      local session = http.session(http.configuration.ephemeral(), {
        did_receive_challenge = function() heard[#heard + 1] = "challenge" end,
        did_receive_response = function(_, _, r) heard[#heard + 1] = r.status end,
      })
      for _, one in ipairs { session, http.session(http.configuration.ephemeral()) } do
        local task = one:data_task(base .. "/private")
        task:resume()
        local r = assert(task:wait())
        print(r.status, r.body)
      end
      print(table.concat(heard, " "))
      """, prints: "401\twho are you?", "401\twho are you?", "challenge 401"),
    ScriptCase(
      "#3287: thirty POSTs at once",
      """
      local list = {}
      for i = 1, 30 do list[i] = ("body %d "):format(i):rep(2000) end
      local answers = http.map(list, 30, function(body) return assert(http.post(base .. "/post", { body = body })).body end)
      local right = 0
      for i, answer in ipairs(answers) do if answer == list[i] then right = right + 1 end end
      print(right)
      """, prints: "30"),
    ScriptCase(
      "#5484: a keep-alive field of the session's does not break an upgrade",
      """
      local session = http.session({ http_additional_headers = { Connection = "keep-alive" } }, {
        did_receive_response = function() return "become_stream" end,
      })
      local task = session:data_task { url = base .. "/upgrade", headers = { Upgrade = "echo", Connection = "Upgrade" } }
      task:resume()
      local stream = assert(task:wait())
      assert(stream:write("hello"))
      print(stream:read { min = 5 })
      stream:cancel()
      """, prints: "hello\tfalse"),
    ScriptCase(
      "half a second is a limit, and it does not run while the task is suspended",
      """
      local begun = http.now()
      print(select(2, http.get(base .. "/slow", { timeout = 0.5 })).code, http.now() - begun < 20)
      local task = http.session { timeout_for_request = 0.5 }:data_task(base .. "/slow")
      task:resume()
      http.sleep(0.1)
      task:suspend()
      http.sleep(0.8)
      print(task.state)
      task:resume()
      print(select(2, task:wait()).code)
      """, prints: "timed_out\ttrue", "suspended", "timed_out"),
    ScriptCase(
      "a task in an invalidated session is an error at the caller's line",
      """
      local session = http.session()
      session:invalidate_and_cancel()
      print((select(2, pcall(function() session:data_task(base) end)):gsub("^.*/", "")))
      """, prints: "script.lua:4: the session is invalidated: no task can be made in it"),
    ScriptCase(
      "#5412: a task that is cancelled in its completion, and in each of its handlers",
      """
      local session = http.session(http.configuration.ephemeral())
      local task
      task = session:data_task(base .. "/there", function(_, _, err) task:cancel() print("completion", err) end)
      task:resume()
      task:wait()
      for _, name in ipairs { "did_receive_response", "did_receive_data", "did_complete" } do
        local asked = http.session(http.configuration.ephemeral(), { [name] = function(_, one) one:cancel() end })
        local one = asked:data_task(base .. "/there")
        one:resume()
        local r, err = one:wait()
        print(name, r and r.status, err and err.code)
      end
      """,
      prints: "completion\tnil", "did_receive_response\tnil\tcancelled", "did_receive_data\tnil\tcancelled",
      "did_complete\t200\tnil"),
  ]

  @Test(arguments: cases)
  func fault(_ scriptCase: ScriptCase) async throws {
    let server = try Self.server()
    try await check(scriptCase, server.url)
  }
}
