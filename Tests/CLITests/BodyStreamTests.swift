import TestSupport
import Testing

/// `need_new_body_stream`: asked each time the body has to be had anew, whatever it gave before.
@Suite struct BodyStreamTests {
  /// What a handler gives for the body, by its kind; each time another text.
  private static let given = """
    local given = {}
    function given.string(count) return "body " .. count end
    function given.file(count)
      local path = arg[2] .. "/body" .. count
      local file <close> = assert(io.open(path, "w"))
      file:write("body " .. count)
      return { file = path }
    end
    function given.reader(count)
      local text = "body " .. count
      return function()
        local piece = text
        text = nil
        return piece
      end
    end

    """

  private static func server() throws -> ScriptedServer {
    try ScriptedServer { request in
      switch request.path {
      case "/307",
        "/challenge307" where request["Authorization"] != nil:
        return .redirect("307 Temporary Redirect", to: "/echo")
      case "/303": return .redirect("303 See Other", to: "/echo")
      case "/basic", "/challenge307":
        if request["Authorization"] != nil { return Reply(request.bodyText) }
        return Reply(status: "401 Unauthorized", fields: [("WWW-Authenticate", #"Basic realm="r""#)])
      default: return Reply(request.bodyText)
      }
    }
  }

  @Test("challenges and redirects, as proposed and changed by a handler", arguments: ["string", "file", "reader"])
  func again(kind: String) async throws {
    let server = try Self.server()
    let directory = try TemporaryDirectory()
    let script = """
      for _, changes in ipairs { false, true } do
        local asked = 0
        local session = http.session(http.configuration.ephemeral { credential_storage = false }, {
          did_receive_challenge = function()
            return "use_credential", http.credential { user = "u", password = "p" }
          end,
          will_perform_redirection = function(_, _, _, request)
            if not changes then return nil end
            request.headers["X-Hop"] = "1"
            return request
          end,
          need_new_body_stream = function()
            asked = asked + 1
            return given.\(kind)(asked)
          end,
        })
        for _, path in ipairs { "/echo", "/307", "/basic", "/challenge307", "/303" } do
          asked = 0
          local task = session:upload_task(http.request { url = base .. path, method = "PUT" }, { stream = true })
          task:resume()
          io.write(path, " ", assert(task:wait()).body, " (", asked, ") ")
        end
        print("end")
      end
      """
    let line = "/echo body 1 (1) /307 body 2 (2) /basic body 2 (2) /challenge307 body 3 (3) /303  (1) end"
    try await expectScript(Self.given + script, [server.url, directory.path], prints: [line, line])
  }

  @Test("a challenge that is answered with a request of the handler's own")
  func ownRequest() async throws {
    let server = try Self.server()
    let script = """
      local asked = 0
      local session = http.session(http.configuration.ephemeral(), {
        did_receive_challenge = function(_, task)
          local request = task.current_request:copy()
          request.headers.Authorization = "Mine"
          return request
        end,
        need_new_body_stream = function()
          asked = asked + 1
          return "body " .. asked
        end,
      })
      local task = session:upload_task(http.request { url = base .. "/basic", method = "PUT" }, { stream = true })
      task:resume()
      print(assert(task:wait()).body, asked)
      """
    try await expectScript(script, [server.url], prints: ["body 2\t2"])
  }

  @Test("a connection that turns out to be dead", arguments: ["string", "file", "reader"])
  func staleConnection(kind: String) async throws {
    let server = try ScriptedServer { connection in
      while let request = try connection.readRequest() {
        // The connection dies once the second request has come.
        if request.path == "/p", connection.index == 0 { return }
        try connection.send(Reply(request.bodyText))
      }
    }
    let directory = try TemporaryDirectory()
    let script = """
      local asked = 0
      local session = http.session({ http_maximum_connections_per_host = 1, cache = false }, {
        need_new_body_stream = function()
          asked = asked + 1
          return given.\(kind)(asked)
        end,
      })
      assert(session:get(base .. "/first"))
      local task = session:upload_task(http.request { url = base .. "/p", method = "PUT" }, { stream = true })
      task:resume()
      print(assert(task:wait()).body, asked)
      """
    try await expectScript(Self.given + script, [server.url, directory.path], prints: ["body 2\t2"])
  }

  @Test("a handler that gives nothing the second time")
  func exhausted() async throws {
    let server = try Self.server()
    let script = """
      local asked = 0
      local session = http.session(http.configuration.ephemeral(), {
        need_new_body_stream = function()
          asked = asked + 1
          return asked == 1 and "once" or nil
        end,
      })
      local task = session:upload_task(http.request { url = base .. "/307", method = "PUT" }, { stream = true })
      task:resume()
      local r, err = task:wait()
      print(r, err.code, asked)
      """
    try await expectScript(script, [server.url], prints: ["nil\trequest_body_stream_exhausted\t2"])
  }
}
