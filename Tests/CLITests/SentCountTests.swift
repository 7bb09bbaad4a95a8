import TestSupport
import Testing

/// What is told of a body's bytes when it has to be sent more than once.
@Suite struct SentCountTests {
  /// `/307` and `/auth` want the body a second time, `/both` a third time.
  static func server() throws -> ScriptedServer {
    try ScriptedServer.continuing { answer(to: $0) }
  }

  private static func answer(to request: ReceivedRequest) -> Reply {
    switch request.path {
    case "/307": return .redirect("307 Temporary Redirect", to: "/store")
    case "/both": return .redirect("307 Temporary Redirect", to: "/auth")
    case "/auth" where request["Authorization"] == nil:
      return Reply(status: "401 Unauthorized", fields: [("WWW-Authenticate", #"Basic realm="r""#)], "denied")
    default: return Reply("\(request.body.count)")
    }
  }

  static let script = """
    local body = ("x"):rep(300000)
    local path = os.tmpname()
    local file = assert(io.open(path, "wb"))
    file:write(body)
    file:close()
    local function stream()
      local left = 3
      return function()
        left = left - 1
        return left >= 0 and body:sub(1, 100000) or nil
      end
    end
    -- Waits until a body is sent again, so that the handler finds more than one step when it is asked again.
    local is_slow = arg[2] == "slow"
    local function try(place, name, source)
      local sum, last, begun, most = 0, 0, 0, 0
      local session = http.session(http.configuration.ephemeral(), {
        did_send_body_data = function(_, task, sent, total, expected)
          assert(sent > 0 and sent <= total and total <= #body, sent .. " of " .. total)
          assert(expected == (name == "stream" and -1 or #body), expected)
          -- A step goes on from the one before, or begins the body again.
          if sent == total then begun = begun + 1 else assert(total == last + sent) end
          sum, last = sum + sent, total
          assert(task.count_of_bytes_sent >= most, "a count has become less")
          most = task.count_of_bytes_sent
          if is_slow and begun == 1 and not task.user_info then
            task.user_info = true
            local deadline = http.now() + 20
            while task.count_of_bytes_sent <= #body and http.now() < deadline do http.sleep(0.005) end
          end
        end,
        did_receive_challenge = function()
          return "use_credential", http.credential { user = "user", password = "pw" }
        end,
        need_new_body_stream = stream,
      })
      local task = session:upload_task(http.request { url = base .. place, method = "POST" }, source)
      task:resume()
      local r = assert(task:wait())
      local times = place == "/both" and 3 or 2
      print(place, name, r.body, sum == times * #body, last, begun == times, task.count_of_bytes_sent == times * #body,
        task.count_of_bytes_expected_to_send == (name == "stream" and -1 or #body))
    end
    for _, place in ipairs(is_slow and { "/307" } or { "/307", "/auth", "/both" }) do
      try(place, "data", { data = body })
      try(place, "file", { file = path })
      -- For a stream, the handler must return before another one is asked for.
      if not is_slow then try(place, "stream", { stream = true }) end
    end
    os.remove(path)
    """

  @Test("Bytes sent are counted for each sending of a body, and in all")
  func secondSending() async throws {
    let server = try Self.server()
    let lines = ["/307", "/auth", "/both"].flatMap { place in
      ["data", "file", "stream"].map { "\(place)\t\($0)\t300000\ttrue\t300000\ttrue\ttrue\ttrue" }
    }
    try await expectScript(Self.script, [server.url], prints: lines)
  }

  @Test("Steps that a handler has not seen are not mixed with those of the next sending")
  func slowHandler() async throws {
    let server = try Self.server()
    let lines = ["data", "file"].map { "/307\t\($0)\t300000\ttrue\t300000\ttrue\ttrue\ttrue" }
    try await expectScript(Self.script, [server.url, "slow"], prints: lines)
  }
}
