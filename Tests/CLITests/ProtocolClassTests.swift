import TestSupport
import Testing

/// Protocol classes: a script's own answers go through the same calls as the network's.
@Suite struct ProtocolClassTests {
  static let classes = [
    ScriptCase(
      "a class answers a scheme of its own, for verbs",
      """
      local session = http.session{ protocol_classes = { {
        can_init = function(request) return request.url:find("^mock:") ~= nil end,
        start_loading = function(request, client)
          client:receive_response{ status = 203, headers = { ["Content-Type"] = "text/x-mock; charset=utf-8" } }
          client:receive_data(request.method .. " ")
          client:receive_data(request.url .. " " .. tostring(request.body))
          client:finish()
        end,
      } } }
      local r = assert(session:get("mock://host/a?b"))
      print(r.status, r.mime_type, r.body, r.url, r.from_cache)
      print(assert(session:post("mock:opaque", { body = "x" })).body)
      print(r.metrics.transaction_metrics[1].resource_fetch_type, #r.metrics.transaction_metrics)
      local _, err = session:get("other://host/")
      print(err.code)
      print(assert(session:get(base .. "/")).body)
      """,
      prints: "203\ttext/x-mock\tGET mock://host/a?b nil\tmock://host/a?b\tfalse", "POST mock:opaque x", "unknown\t1",
      "unsupported_url", "ok"),
    ScriptCase(
      "cookies that a class sets for a server's URL are kept, also with a redirect; those of its own schemes are not",
      """
      local storage = http.cookie_storage()
      local session = http.session{ cookie_storage = storage, protocol_classes = { {
        can_init = function(request) return not request.url:find("/real") end,
        start_loading = function(request, client)
          local head = { headers = { ["Set-Cookie"] = { "a=1; Path=/", "b=2; Path=/real" } } }
          if request.url:find("/hop") then
            head.status = 302
            return client:redirect(head, base .. "/real")
          end
          client:receive_response(head)
          client:finish()
        end,
      } } }
      session:get("mock://h.test/")
      session:send(http.request{ url = base .. "/mine", http_should_handle_cookies = false })
      print(#storage:cookies())
      session:get("https://h.test/x")
      print(#storage:cookies("https://h.test/"), #storage:cookies("https://h.test/real"))
      print(assert(session:get(base .. "/hop")).body, #storage:cookies(base .. "/real"))
      """, prints: "0", "1\t2", "ok\t2"),
    ScriptCase(
      "the first class that wants a request gets it",
      """
      local asked = {}
      local function class(name, wants)
        return {
          can_init = function() asked[#asked + 1] = name return wants end,
          start_loading = function(_, client) client:receive_response{} client:receive_data(name) client:finish() end,
        }
      end
      local session = http.session{ protocol_classes = { class("a", false), class("b", true), class("c", true) } }
      print(assert(session:get(base)).body, table.concat(asked, " "))
      """, prints: "b\ta b"),
    ScriptCase(
      "the delegate's calls come in the usual order, and stop_loading once",
      """
      local seen, stopped = {}, 0
      local function note(name) return function() seen[#seen + 1] = name end end
      local class = {
        can_init = function() return true end,
        start_loading = function(request, client)
          if request.url:find("first") then return client:redirect({ status = 307 }, "mock://second") end
          client:receive_response{ headers = { ["Content-Length"] = "3" } }
          http.sleep(0.01)
          client:receive_data("abc")
          client:finish()
        end,
        stop_loading = function() stopped = stopped + 1 end,
      }
      local session = http.session({ protocol_classes = { class } }, {
        did_create_task = note "create", did_receive_data = note "data", did_complete = note "complete",
        will_perform_redirection = function(_, _, r, request)
          seen[#seen + 1] = ("redirect:%d:%s"):format(r.status, request.url)
        end,
        did_receive_response = function(_, t, r) seen[#seen + 1] = "response:" .. r.expected_content_length end,
        did_finish_collecting_metrics = note "metrics",
      })
      local task = session:data_task("mock://first")
      task:resume()
      local r = assert(task:wait())
      http.sleep(0)
      print(table.concat(seen, " "), stopped)
      print(r.url, task.current_request.url, #r.redirects, task.count_of_bytes_received, task.state)
      """,
      prints: "create redirect:307:mock://second response:3 data metrics complete\t2",
      "mock://second\tmock://second\t1\t3\tcompleted"),
    ScriptCase(
      "a redirect may be refused or changed, to the network and from it",
      """
      local class = {
        can_init = function(request) return request.url:find("^mock:") ~= nil end,
        start_loading = function(request, client)
          if request.url:find("^mock://end") then
            client:receive_response{} client:receive_data("end") return client:finish()
          end
          client:redirect({ status = 302, headers = { ["X-From"] = "mock" } }, base .. "/echo")
        end,
      }
      local answer
      local session = http.session({ protocol_classes = { class } }, {
        will_perform_redirection = function() return answer end,
      })
      answer = false
      local r = assert(session:get("mock://start"))
      print(r.status, r.headers["x-from"], #r.body)
      answer = nil
      print(assert(session:get("mock://start")).status)
      answer = http.request{ url = base .. "/echo", method = "POST", body = "changed" }
      print(assert(session:get("mock://start")).body)
      answer = nil
      print(assert(session:get(base .. "/to-mock")).body)
      """, prints: "302\tmock\t0", "200", "changed", "end"),
    ScriptCase(
      "a class fails with the error it names",
      """
      local what
      local class = {
        can_init = function() return true end,
        start_loading = function(_, client) client:fail(what) end,
      }
      local session = http.session{ protocol_classes = { class } }
      for _, one in ipairs { "boom", { code = "timed_out", message = "slow" }, { domain = "mine", code = "c" } } do
        what = one
        local r, err = session:get("mock://x")
        print(r, err.domain, err.code, err.message, err.url)
      end
      """,
      prints: "nil\turl\tunknown\tboom\tmock://x", "nil\turl\ttimed_out\tslow\tmock://x", "nil\tmine\tc\tc\tmock://x"),
    ScriptCase(
      "data before an error reaches the delegate",
      """
      local class = {
        can_init = function() return true end,
        start_loading = function(_, client)
          client:receive_response{}
          client:receive_data("half")
          client:fail("cut")
        end,
      }
      local seen = {}
      local session = http.session({ protocol_classes = { class } }, {
        did_receive_data = function(_, _, data) http.sleep(0.01) seen[#seen + 1] = data end,
        did_complete = function(_, task, err) seen[#seen + 1] = err.message .. task.response.status end,
      })
      local task = session:data_task("mock://x")
      task:resume()
      task:wait()
      print(table.concat(seen, " "))
      """, prints: "half cut200"),
    ScriptCase(
      "calls out of order and after the end raise at the script's line",
      """
      local function try(name, ...)
        local arguments = { ... }
        return function(_, client)
          local function call(method, ...)
            local ok, message = pcall(client[method], client, ...)
            if not ok then print(name, (tostring(message):gsub("^[^:]*:%d+: ", ""))) end
          end
          for _, one in ipairs(arguments) do call(table.unpack(one)) end
          call("fail", "over")
        end
      end
      local begin = { "receive_response", {} }
      for _, start in ipairs {
        try("early data", { "receive_data", "x" }), try("early end", { "finish" }), try("twice", begin, begin),
        try("after", begin, { "finish" }, { "receive_data", "x" }), try("late redirect", begin, { "redirect", {}, "a:" }),
        try("type", begin, { "receive_data", 1 }), try("option", { "receive_response", { stauts = 1 } }),
      } do
        local class = { can_init = function() return true end, start_loading = start }
        http.session{ protocol_classes = { class } }:get("mock://x")
      end
      """,
      prints: "early data\tclient:receive_data before client:receive_response",
      "early end\tclient:finish before client:receive_response",
      "twice\tclient:receive_response twice for one load",
      "after\tclient:receive_data after the load was finished, failed or redirected",
      "after\tclient:fail after the load was finished, failed or redirected",
      "late redirect\tclient:redirect after client:receive_response",
      "type\targument #1 of receive_data must be string, not number",
      "option\tunknown option 'stauts' (did you mean 'status'?)"),
    ScriptCase(
      "a class that raises fails its task; one of no use is refused when the configuration is made",
      """
      local class = { can_init = function() return true end, start_loading = function() error { mine = 1 } end }
      local r, err = http.session{ protocol_classes = { class } }:get("mock://x")
      print(r, err.domain, err.code, err.value.mine)
      class.can_init = function() error("no", 0) end
      r, err = http.session{ protocol_classes = { class } }:get("mock://x")
      print(r, err.code, err.value)
      local _, message = pcall(http.session, { protocol_classes = { { can_init = print } } })
      print((message:gsub("^.*/", "")))
      """,
      prints: "nil\tscript\thandler_error\t1", "nil\thandler_error\tno",
      "script.lua:8: configuration field 'protocol_classes', item 1: 'start_loading' must be a function, not nil"),
    ScriptCase(
      "a cancelled load is stopped, its coroutine interrupted, and its client's calls do nothing",
      """
      local kept, stopped, interrupted
      local class = {
        can_init = function() return true end,
        start_loading = function(_, client)
          kept = client
          client:receive_response{}
          local ok, reason = pcall(http.sleep, 60)
          interrupted = not ok and reason.code
        end,
        stop_loading = function(request) stopped = request.url end,
      }
      local session = http.session{ protocol_classes = { class } }
      local task = session:data_task("mock://x")
      task:resume()
      http.sleep(0.02)
      task:cancel()
      local r, err = task:wait()
      http.sleep(0)
      print(r, err.code, stopped, interrupted, kept:receive_data("late"), kept:finish())
      """, prints: "nil\tcancelled\tmock://x\tcancelled\tfalse\tfalse"),
    ScriptCase(
      "a class that never answers runs into the request's time limit; a suspended one does not",
      """
      local class = { can_init = function() return true end, start_loading = function(_, client)
        http.sleep(0.2)
        client:receive_response{}
        client:receive_data("here")
        client:finish()
      end }
      local session = http.session{ protocol_classes = { class }, timeout_for_request = 0.1 }
      print(select(2, session:get("mock://x")).code)
      local task = session:data_task("mock://x")
      task:resume()
      http.sleep(0)
      task:suspend()
      http.sleep(0.4)
      print(task.state, task.response)
      task:resume()
      print(assert(task:wait()).body)
      """, prints: "timed_out", "suspended\tnil", "here"),
    ScriptCase(
      "the class waits for a slow consumer; other tasks go on",
      """
      local piece, sent = ("x"):rep(16384), 0
      local class = {
        can_init = function(request) return request.url:find("^mock:") ~= nil end,
        start_loading = function(_, client)
          client:receive_response{}
          for _ = 1, 64 do
            client:receive_data(piece)
            sent = sent + #piece
          end
          client:finish()
        end,
      }
      local got, ahead = 0, 0
      local session = http.session({ protocol_classes = { class } }, {
        did_receive_data = function(_, _, data)
          http.sleep(0.005)
          ahead = math.max(ahead, sent - got)
          got = got + #data
        end,
      })
      local task = session:data_task("mock://x")
      task:resume()
      local others = http.map((function() local t = {} for i = 1, 20 do t[i] = i end return t end)(), 5, function()
        return assert(http.get(base)).status
      end)
      assert(task:wait())
      print(got, #others, ahead <= 4 * 65536)
      """, prints: "1048576\t20\ttrue"),
    ScriptCase(
      "tasks of every kind",
      """
      local class = {
        can_init = function() return true end,
        start_loading = function(request, client)
          local body = request.body
          if type(body) == "function" then body = body() end
          if type(body) == "table" then body = body.file:gsub("^.*/script.lua$", "SCRIPT") end
          client:receive_response{ headers = { ["Content-Length"] = "3" } }
          client:receive_data("abc")
          client:finish()
          print(request.method, body)
        end,
      }
      local session = http.session({ protocol_classes = { class } }, {
        need_new_body_stream = function()
          return function() return "streamed" end
        end,
        did_write_data = function(_, _, ...) print(...) end,
        did_finish_downloading = function(_, _, location) print(io.open(location):read("a")) end,
      })
      local request = http.request{ url = "mock://x", method = "POST" }
      for _, from in ipairs { { data = "data" }, { file = arg[0] }, { stream = true } } do
        local task = session:upload_task(request, from)
        task:resume()
        print(assert(task:wait()).status)
      end
      local task = session:download_task("mock://x/y")
      task:resume()
      assert(task:wait())
      """,
      prints: "POST\tdata", "200", "POST\tSCRIPT", "200", "POST\tstreamed", "200", "GET\tnil", "3\t3\t3", "abc"),
    ScriptCase(
      "a mock passes on what the network gave",
      """
      local class = {
        can_init = function(request) return request.url:find("^mock:") ~= nil end,
        start_loading = function(request, client)
          local r = assert(http.get(base .. "/"))
          client:receive_response(r)
          client:receive_data(r.body:upper())
          client:finish()
        end,
      }
      local session = http.session{ protocol_classes = { class } }
      local r = assert(session:get("mock://x"))
      print(r.status, r.body, r.reason)
      local path = os.tmpname()
      assert(session:get("mock://x", { sink = path }))
      print(io.open(path):read("a"))
      """, prints: "200\tOK\tOK", "OK"),
  ]

  static let urls = [
    ScriptCase(
      "data: URLs",
      """
      for _, url in ipairs {
        "data:,hello%20world", "data:text/html;charset=utf-8,%3Cb%3E", "data:;base64,aGk=", "DATA:text/plain;BASE64,aGk",
        "data:;charset=latin1,x#fragment", "data:nonsense,x",
      } do
        local r = assert(http.get(url))
        print(r.status, r.headers["Content-Type"], r.body, r.expected_content_length)
      end
      for _, url in ipairs { "data:no-comma", "data:;base64,a" } do
        local r, err = http.get(url)
        print(r, err.code)
      end
      print(assert(http.head("data:,abc")).headers["Content-Length"], #assert(http.head("data:,abc")).body)
      """,
      prints: "200\ttext/plain;charset=US-ASCII\thello world\t11", "200\ttext/html;charset=utf-8\t<b>\t3",
      "200\ttext/plain;charset=US-ASCII\thi\t2", "200\ttext/plain\thi\t2", "200\ttext/plain;charset=latin1\tx\t1",
      "200\ttext/plain;charset=US-ASCII\tx\t1", "nil\tbad_url", "nil\tbad_url", "3\t0"),
    ScriptCase(
      "a large data: URL comes in pieces, with back-pressure",
      """
      local got, pieces = 0, 0
      local session = http.session(nil, {
        did_receive_data = function(_, _, data) http.sleep(0.001) got, pieces = got + #data, pieces + 1 end,
      })
      local task = session:data_task("data:," .. ("x"):rep(1000000))
      task:resume()
      assert(task:wait())
      print(got, pieces > 5)
      """, prints: "1000000\ttrue"),
    ScriptCase(
      "file: URLs only where the configuration allows them, and never by a server's redirect",
      """
      local path = os.tmpname()
      os.rename(path, path .. ".json")
      path = path .. ".json"
      local file = io.open(path, "w") file:write("[1,2]") file:close()
      print(select(2, http.get("file://" .. path)).code)
      local session = http.session{ allows_file_urls = true }
      local r = assert(session:get("file://" .. path))
      print(r.status, r.mime_type, r.body, r.headers["Content-Length"], r.headers["Last-Modified"] ~= nil, r:json()[2])
      print(assert(session:head("file://" .. path)).body)
      print(select(2, session:get("file:///does/not/exist")).code, select(2, session:get("file:///")).code)
      print(select(2, session:get("file:///dev/zero")).code, select(2, session:get("file://host/x")).code)
      print(select(2, session:put("file://" .. path, { body = "x" })).code)
      print(select(2, session:get(base .. "/to-file")).code, select(2, session:get(base .. "/to-data")).code)
      """,
      prints: "unsupported_url", "200\tapplication/json\t[1,2]\t5\ttrue\t2", "",
      "file_does_not_exist\tfile_is_directory", "unsupported_url\tbad_url", "unsupported_url",
      "unsupported_url\tunsupported_url"),
  ]

  @Test(arguments: classes + urls)
  func behaviour(_ scriptCase: ScriptCase) async throws {
    let server = try ScriptedServer { request in
      switch request.path {
      case "/to-mock": .redirect(to: "mock://end")
      case "/to-file": .redirect(to: "file:///etc/hostname")
      case "/to-data": .redirect(to: "data:,x")
      case "/echo": Reply(body: request.body)
      default: Reply("ok")
      }
    }
    try await check(scriptCase, server.url)
  }
}
