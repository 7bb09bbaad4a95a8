import TestSupport
import Testing

/// The exact calls of a data task for each combination of challenge, body, redirect and outcome, with something done at
/// each of the calls in turn: waiting, cancelling, raising, invalidating the session.
@Suite struct DelegateMatrixTests {
  /// A path names what is to happen: /challenge, /redirect, both, and then the outcome.
  private static func server() throws -> ScriptedServer {
    try ScriptedServer { connection in
      while let request = try connection.readRequest() {
        if request.path.contains("challenge"), request["Authorization"] == nil {
          let field = ("WWW-Authenticate", #"Basic realm="r""#)
          try connection.send(Reply(status: "401 Unauthorized", fields: [field], "none"))
        } else if request.path.contains("redirect") {
          let outcome = request.path.split(separator: "/").last ?? ""
          try connection.send(Reply.redirect("307 Again", to: "/\(outcome)"))
        } else if request.path.hasSuffix("cut") {
          return try connection.send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf")
        } else if request.path.hasSuffix("lost") {
          return
        } else {
          try connection.send(Reply("end"))
        }
      }
    }
  }

  private static let script = """
    local NAMES = {
      create = "did_create_task", challenge = "did_receive_challenge", redirect = "will_perform_redirection",
      stream = "need_new_body_stream", sent = "did_send_body_data", response = "did_receive_response",
      data = "did_receive_data", metrics = "did_finish_collecting_metrics", complete = "did_complete",
    }

    local function reader()
      local piece = "body"
      return function()
        local given = piece
        piece = nil
        return given
      end
    end

    -- What a task is to tell.
    local function expected(path, body, outcome)
      local list = { "create" }
      local function add(name) list[#list + 1] = name end
      local function send(again)
        if again and body == "reader" then add "stream" end
        if body ~= "none" then add "sent" end
      end
      send(false)
      for _, name in ipairs { "challenge", "redirect" } do
        if path:find(name, 1, true) then
          add(name)
          send(true)
        end
      end
      if outcome ~= "lost" then
        add "response"
        add "data"
      end
      add "metrics"
      add "complete"
      return list
    end

    -- Runs a task and calls act(number of the call, task, session) in each.
    local function run(url, body, act)
      local calls, delegate, last = {}, {}, nil
      for short, name in pairs(NAMES) do
        delegate[name] = function(session, task, given)
          if last == short then return end
          last = short
          calls[#calls + 1] = short
          local number = #calls
          if short == "complete" then calls[#calls + 1] = given and given.code end
          act(number, task, session)
          if short == "challenge" then
            return "use_credential", http.credential { user = "u", password = "p", persistence = "none" }
          end
          if short == "stream" then return reader() end
        end
      end
      function delegate.did_become_invalid() calls[#calls + 1] = "invalid" end
      local session = http.session({ cache = false, credential_storage = false }, delegate)
      local fields = { url = url }
      if body ~= "none" then
        -- Without waiting for a 100 (Continue).
        fields.method, fields.headers = "POST", { Expect = "" }
        fields.body = body == "data" and "body" or reader()
      end
      local task = session:data_task(fields)
      task:resume()
      task:wait()
      return calls
    end

    local ENDS = { ok = "", cut = " network_connection_lost", lost = " network_connection_lost" }
    local ACTS = {
      nothing = { function() end },
      wait = { function() http.sleep(0.001) end },
      cancel = { function(task) task:cancel() task:cancel() end, "cancelled" },
      raise = { function() error({}) end, "handler_error" },
      invalidate = { function(_, session) session:invalidate_and_cancel() end, "cancelled" },
    }
    local what = arg[2]
    local act, code = table.unpack(ACTS[what])

    -- The calls when `act` is done at one of them.
    local function told(full, at, outcome)
      local name = full[at]
      -- Nobody is told of an error in the last call but who waits, and after the transfer nothing can be cancelled.
      if not code or name == "complete" or name == "metrics" and code == "cancelled" then
        return table.concat(full, " ") .. ENDS[outcome]
      end
      local metrics = (name == "metrics" or name == "create") and "" or " metrics"
      return table.concat(full, " ", 1, at) .. metrics .. " complete " .. code
    end

    local count = 0
    for _, path in ipairs { "", "/challenge", "/redirect", "/challenge/redirect" } do
      for _, body in ipairs { "none", "data", "reader" } do
        for _, outcome in ipairs { "ok", "cut", "lost" } do
          local full = expected(path, body, outcome)
          for at = 1, what == "nothing" and 1 or #full do
            local calls = run(base .. path .. "/" .. outcome, body, function(number, task, session)
              if number == at then act(task, session) end
            end)
            local want = told(full, at, outcome)
            if what == "invalidate" then
              while calls[#calls] ~= "invalid" do http.sleep(0.001) end
              want = want .. " invalid"
            end
            local got = table.concat(calls, " ")
            -- A connection that breaks may do so before the handler of what came over it has run.
            local also = outcome == "cut" and full[at] == "data" and want:gsub("cancelled", "network_connection_lost")
            count = count + 1
            if got ~= want and got ~= also then
              print(("%s %s %s at %s"):format(path, body, outcome, full[at]), "want " .. want, "got " .. got)
            end
          end
        end
      end
    end
    print(count > 30)
    """

  @Test(arguments: ["nothing", "wait", "cancel", "raise", "invalidate"])
  func combinations(what: String) async throws {
    let server = try Self.server()
    try await expectScript(Self.script, [server.url, what], prints: ["true"]) { $0.deadline = 120 }
  }
}
