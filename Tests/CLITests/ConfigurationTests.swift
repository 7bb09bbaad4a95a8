import TestSupport
import Testing

/// Each field of a configuration does what it says: seen on the wire, in the system's own view, or in behaviour.
@Suite struct ConfigurationTests {
  static let fields = [
    ScriptCase(
      "additional headers and the user agent, unless the request has its own",
      """
      local session = http.session{
        user_agent = "agent/1", http_additional_headers = { ["X-A"] = { "1", "2" }, Accept = "text/x" },
      }
      local function show(options) return assert(session:get(base .. "/head", options)).body end
      print(show())
      print(show{ headers = { ["User-Agent"] = "own", ["X-A"] = "3" } })
      local _, message = pcall(http.session, { user_agent = "a\\r\\nb" })
      print((message:gsub("^.-script%.lua:%d+: ", "")))
      """,
      prints: "agent/1|1, 2|text/x", "own|3|text/x",
      "configuration field 'user_agent' has a line break or NUL in it"),
    ScriptCase(
      "resolve, and localhost without the network's help",
      """
      local port = base:match("%d+$")
      local session = http.session{ resolve = { ["far.example:" .. port] = "127.0.0.1" } }
      print(assert(session:get("http://far.example:" .. port .. "/host")).body == "far.example:" .. port)
      print(assert(session:get("http://any.localhost:" .. port .. "/host")).body == "any.localhost:" .. port)
      print((pcall(http.session, { resolve = { ["far.example"] = "127.0.0.1" } })))
      """, prints: "true", "true", "false"),
    ScriptCase(
      "the interface is where connections come from",
      """
      local session = http.session{ interface = "127.0.0.3" }
      print(assert(session:get(base)).metrics.transaction_metrics[1].local_address)
      print(assert(http.session{ interface = "lo" }:get(base)).metrics.transaction_metrics[1].local_address)
      print(select(2, http.session{ interface = "none99" }:get(base)).code)
      """, prints: "127.0.0.3", "127.0.0.1", "cannot_connect_to_host"),
    ScriptCase(
      "the version of HTTP",
      """
      for _, version in ipairs { "auto", "1.0", "1.1", "2" } do
        print(version, assert(http.session{ http_version = version }:get(base .. "/version")).body)
      end
      print((pcall(http.session, { http_version = "3" })))
      """, prints: "auto\tHTTP/1.1", "1.0\tHTTP/1.0", "1.1\tHTTP/1.1", "2\tHTTP/1.1", "false"),
    ScriptCase(
      "time limits of the session, in fractions of a second, and those of a request before them",
      """
      local session = http.session{ timeout_for_request = 0.3 }
      local function measure(fn)
        local start = http.now()
        local r, err = fn()
        return err and err.code or r.status, http.now() - start < 5
      end
      print(measure(function() return session:get(base .. "/silent") end))
      print(measure(function() return session:get(base .. "/slow", { timeout = 20 }) end))
      print(measure(function() return http.session{ timeout_for_resource = 0.3 }:get(base .. "/drip") end))
      print(measure(function() return http.session{ timeout_for_request = 20 }:get(base .. "/drip", { resource_timeout = 0.3 }) end))
      """, prints: "timed_out\ttrue", "200\ttrue", "timed_out\ttrue", "timed_out\ttrue"),
    ScriptCase(
      "what is checked when a configuration is made",
      """
      for _, fields in ipairs {
        { network_service_type = "vidio" }, { http_maximum_connections_per_host = 0 }, { timeout_for_request = 0 },
        { interface = "a\\0b" }, { connection_proxy = { no_proxy = "x" } }, { connection_proxy = "ftp://h" },
        { connection_proxy = { url = "http://h", password = "x" } }, { connection_proxy = { htp = "http://h" } },
      } do
        local _, message = pcall(http.session, fields)
        print((message:gsub("^.-script%.lua:%d+: ", "")))
      end
      """,
      prints: "unknown network service type 'vidio' (did you mean 'video'?)",
      "configuration field 'http_maximum_connections_per_host' must be at least 1",
      "configuration field 'timeout_for_request' must be more than 0 seconds",
      "configuration field 'interface' must not contain NUL", "'connection_proxy' needs a 'url'",
      "'connection_proxy': a proxy speaks http, https, socks4, socks4a, socks5 or socks5h, not \"ftp\"",
      "'connection_proxy' has a 'password' and no 'user'", "unknown option 'htp' (did you mean 'http'?)"),
  ]

  @Test(arguments: fields)
  func field(_ scriptCase: ScriptCase) async throws {
    let server = try ScriptedServer { connection in
      while let request = try connection.readRequest() {
        switch request.path {
        case "/head":
          let values = ["User-Agent", "X-A", "Accept"].map { request.all($0).joined(separator: ", ") }
          try connection.send(Reply(values.joined(separator: "|")))
        case "/host": try connection.send(Reply(request["Host"] ?? ""))
        case "/version": try connection.send(Reply(String(latin1(request.head).split(separator: "\r\n")[0].suffix(8))))
        case "/silent": connection.waitForClose()
        case "/slow":
          try connection.pause(0.6)
          try connection.send(Reply("slow"))
        case "/drip":
          try connection.send("HTTP/1.1 200 OK\r\n\r\n")
          while true {
            try connection.send([1])
            try connection.pause(0.05)
          }
        default: try connection.send(Reply("ok"))
        }
      }
    }
    try await check(scriptCase, server.url)
  }

  // MARK: What the system sees

  private static let view = """
    local function view(response, what)
      local port = response.metrics.transaction_metrics[1].local_port
      local pipe <close> = assert(io.popen(("ss -Hton%s 'sport = :%d'"):format(what, port)))
      return pipe:read("a")
    end

    """

  @Test("The service type marks packets, by session and by request, on connections of their own")
  func serviceTypes() async throws {
    let server = try ScriptedServer { _ in Reply("ok") }
    let script =
      Self.view + """
        local function mark(session, fields)
          local request = http.request{ url = base }
          for name, value in pairs(fields or {}) do request[name] = value end
          local r = assert(session:send(request))
          return tonumber(view(r, "e --tos"):match("tos:(%S+)")), r.metrics.transaction_metrics[1].local_port
        end
        local session = http.session()
        print((mark(session)))
        for _, name in ipairs {
          "background", "responsive_data", "av_streaming", "responsive_av", "video", "call_signaling", "voice", "voip",
        } do
          print(name, (mark(session, { network_service_type = name })), (mark(http.session{ network_service_type = name })))
        end
        print((mark(session)), (mark(http.session{ discretionary = true })))
        local _, first = mark(session, { network_service_type = "video" })
        local _, second = mark(session, { network_service_type = "video" })
        print(first == second)
        """
    try await expectScript(
      script, [server.url],
      prints: [
        "0", "background\t32\t32", "responsive_data\t72\t72", "av_streaming\t104\t104", "responsive_av\t128\t128",
        "video\t136\t136", "call_signaling\t160\t160", "voice\t184\t184", "voip\t184\t184", "0\t32", "true",
      ])
  }

  @Test("The extended idle mode probes connections and keeps them")
  func idleMode() async throws {
    let server = try ScriptedServer { _ in Reply("ok") }
    let script =
      Self.view + """
        for _, extended in ipairs { false, true } do
          local session = http.session{ should_use_extended_background_idle_mode = extended }
          local r = assert(session:get(base))
          print(view(r, ""):match("timer:%((%a+)"))
        end
        """
    try await expectScript(script, [server.url], prints: ["nil", "keepalive"])
  }

  @Test("Pipelining shares the first connection of a server that may speak HTTP/2")
  func pipelining() async throws {
    let nginx = try Nginx(root: "/usr/share/doc", secure: true)
    let script = """
      local _, authority = ...
      local function connections(fields)
        fields.ca_file = authority
        local session, ports, count = http.session(fields), {}, 0
        http.map({ 1, 2, 3, 4, 5 }, 5, function()
          local t = assert(session:get(base .. "/-/ok")).metrics.transaction_metrics[1]
          assert(t.network_protocol_name == "h2")
          ports[t.local_port] = true
        end)
        for _ in pairs(ports) do count = count + 1 end
        return count
      end
      print(connections{} > 1, connections{ http_should_use_pipelining = true })
      """
    try await expectScript(script, [nginx.secureURL, nginx.certificate], prints: ["true\t1"])
  }

  @Test("Clear-text HTTP/2 with prior knowledge, one request after another and many at once")
  func priorKnowledge() async throws {
    let nginx = try Nginx(root: "/usr/share/doc")
    let script = """
      local session = http.session{ http_version = "2-prior-knowledge" }
      local list = {}
      for i = 1, 30 do list[i] = i end
      for _, limit in ipairs { 1, 30 } do
        http.map(list, limit, function() assert(session:get(base .. "/-/ok")) end)
      end
      local r = assert(session:post(base .. "/-/ok", { body = "x" }))
      print(r.http_version, r.metrics.transaction_metrics[1].network_protocol_name)
      """
    try await expectScript(script, [nginx.http2URL], prints: ["2\th2"])
  }

  @Test("A priority is the weight of a stream, from the beginning and when it changes")
  func streamWeight() async throws {
    let server = try ScriptedServer { connection in
      var frames = FrameReader(connection)
      try frames.begin()
      let first = try frames.next(of: 1)
      try connection.pause(0.6)
      try frames.begin(answerTo: first.stream)
      let next = try frames.next(of: 2)
      // PRIORITY flag, then dependency and weight; a PRIORITY frame is those five bytes alone.
      let weight = first.flags & 0x20 != 0 ? Int(first.payload[4]) + 1 : 16
      try frames.end(first.stream, "\(weight) \(Int(next.payload[4]) + 1)")
      connection.waitForClose()
    }
    let script = """
      local session = http.session({ http_version = "2-prior-knowledge" }, {
        did_receive_data = function(_, _, data) print(data) end,
      })
      local task = session:data_task(base)
      task.priority = http.priority.high
      print(task.priority, pcall(function() task.priority = 2 end) == false, pcall(function() task.priority = "x" end))
      task:resume()
      http.sleep(0.3)
      task.priority = 1
      task:wait()
      print(task.priority)
      """
    let result = try await runScript(script, [server.url])
    #expect(result.lines.first?.hasPrefix("0.75\ttrue\tfalse") == true, "\(result)")
    #expect(result.lines.dropFirst() == ["136 256", "1"], "\(result)")
  }

  @Test("A priority decides who is next in the queue, also when it is set there")
  func queueOrder() async throws {
    let server = try ScriptedServer { Reply($0.path) }
    let script = """
      local session = http.session({ http_maximum_connections_per_host = 1 }, {
        did_complete = function(_, task) print(task.response.body or task.description) end,
      })
      local tasks = {}
      for i, priority in ipairs { 0.5, 0.1, 0.5, 0.9, 0.5 } do
        local task = session:data_task(base .. "/" .. i)
        task.priority, task.description = priority, tostring(i)
        tasks[i] = task
        task:resume()
      end
      tasks[5].priority = 1
      for _, task in ipairs(tasks) do task:wait() end
      """
    try await expectScript(script, [server.url], prints: ["/1", "/5", "/4", "/3", "/2"])
  }

  // MARK: Connectivity
}
