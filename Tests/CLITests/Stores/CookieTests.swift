import TestSupport
import Testing

/// Cookies over the wire.
@Suite struct CookieTests {
  /// The Cookie fields of the requests for these targets, in the order of the requests.
  static func cookies(_ server: ScriptedServer, _ target: String) -> [[String]] {
    server.requests.filter { $0.target == target }.map { $0.all("Cookie") }
  }

  @Test("the cookie tests of the Web Platform Tests, through a proxy that is every host")
  func webPlatformTests() async throws {
    let all = try Fixture.json("cookies.json").array
    var score = Score("cookies, WPT over the wire")
    let rows = all.filter { row in
      if row["set_url"].string?.hasPrefix("https") == true {
        score.skip(row["name"].string ?? "", "https: tried on the rules alone")
      } else if row["set_cookie"].array.contains(where: { $0.string?.contains("\n") == true }) {
        score.skip(row["name"].string ?? "", "a line feed in a field is no HTTP: tried on the rules alone")
      } else {
        return true
      }
      return false
    }
    let proxy = try ScriptedServer { request in
      let row = rows[(Int(request["X-Row"] ?? "") ?? 1) - 1]
      guard request.target == row["set_url"].string else {
        return Reply(body: latin1Bytes(request.all("Cookie").joined(separator: " | ")))
      }
      let lines = row["set_cookie"].array.map { ("Set-Cookie", latin1(Array(($0.string ?? "").utf8))) }
      let target = row["request_url"].string ?? ""
      return row["via_redirect"].isTrue
        ? Reply(status: "302 Found", fields: lines + [("Location", target)]) : Reply(fields: lines)
    }
    for (row, answer) in zip(rows, try await conformance("cookies", rows, origin: proxy.url)) {
      let expected = latin1(Array((row["expected_cookie"].string ?? "").utf8))
      score.record(
        row["name"].string ?? "", answer["cookie"].string == expected,
        "\(answer.text.prefix(200)), expected \(expected.prefix(100))")
    }
    try score.hold(floor: rows.count)
  }

  @Test("B10: a path is a directory and a domain ends at a dot")
  func scope() async throws {
    let server = try ScriptedServer { request in
      request.target == "/scope"
        ? Reply(fields: [("Set-Cookie", "s=1; Path=/admin; Domain=app.localhost")]) : Reply("ok")
    }
    let script = """
      local port = base:match("%d+$")
      local function get(host, path) assert(http.get(("http://%s.localhost:%s%s"):format(host, port, path))) end
      get("app", "/scope")
      for _, path in ipairs { "/admin", "/admin/", "/admin/x", "/administrator", "/Admin" } do get("app", path) end
      get("sub.app", "/admin")
      get("xapp", "/admin")
      """
    try await expectScript(script, [server.url], prints: [])
    let seen = server.requests.map { request in
      let host = request["Host"]?.prefix { $0 != "." } ?? ""
      return "\(host) \(request.target) \(request.all("Cookie").joined(separator: " | "))"
    }
    #expect(
      seen == [
        "app /scope ", "app /admin s=1", "app /admin/ s=1", "app /admin/x s=1", "app /administrator ", "app /Admin ",
        "sub /admin s=1", "xapp /admin ",
      ])
  }

  static func setting() throws -> ScriptedServer {
    try ScriptedServer { request in
      switch request.target {
      case "/set": Reply(fields: [("Set-Cookie", "a=1"), ("Set-Cookie", "b=2; Path=/; Max-Age=100")])
      case "/hop": Reply(status: "302 Found", fields: [("Location", "/end"), ("Set-Cookie", "hop=1; Path=/")])
      case "/401":
        request["Authorization"] == nil
          ? Reply(
            status: "401 Unauthorized",
            fields: [("WWW-Authenticate", "Digest realm=\"r\", nonce=\"n\""), ("Set-Cookie", "seen401=1")])
          : Reply("in")
      default: Reply("ok")
      }
    }
  }

  @Test("a Cookie field set by hand is merged with the stored cookies into one line")
  func merging() async throws {
    let server = try Self.setting()
    let script = """
      local session = http.session(http.configuration.ephemeral())
      assert(session:get(base .. "/set"))
      assert(session:get(base .. "/x", { headers = { Cookie = "c=3" } }))
      assert(session:get(base .. "/x", { headers = { cookie = "a=mine; d=4" } }))
      assert(session:get(base .. "/x"))
      session = http.session(http.configuration.ephemeral { http_additional_headers = { Cookie = "e=5" } })
      assert(session:get(base .. "/x"))
      assert(session:get(base .. "/set"))
      assert(session:get(base .. "/x"))
      """
    try await expectScript(script, [server.url], prints: [])
    #expect(
      Self.cookies(server, "/x") == [
        ["a=1; b=2; c=3"], ["b=2; a=mine; d=4"], ["a=1; b=2"], ["e=5"], ["a=1; b=2; e=5"],
      ])
  }

  @Test("cookies are made anew for each hop of a redirect, with and without a handler")
  func hops() async throws {
    let server = try Self.setting()
    let script = """
      for _, delegate in ipairs { {}, { will_perform_redirection = function(_, _, _, request) return request end } } do
        local session = http.session(http.configuration.ephemeral(), delegate)
        assert(session:get(base .. "/hop", { headers = { Cookie = "mine=1" } }))
      end
      """
    try await expectScript(script, [server.url], prints: [])
    #expect(Self.cookies(server, "/end") == [["hop=1; mine=1"], ["hop=1; mine=1"]])
  }

  @Test("a hand-set Cookie field stays with its origin, and stored cookies go where they belong")
  func origins() async throws {
    let other = try ScriptedServer { _ in Reply("ok") }
    let first = try ScriptedServer { request in
      request.target == "/go"
        ? Reply(status: "302 Found", fields: [("Location", other.url + "/end"), ("Set-Cookie", "s=1")]) : Reply("ok")
    }
    let script = """
      local session = http.session(http.configuration.ephemeral())
      assert(session:get(base .. "/go", { headers = { Cookie = "mine=1" } }))
      """
    try await expectScript(script, [first.url], prints: [])
    // Ports do not keep cookies apart (RFC 6265bis §8.5).
    #expect(Self.cookies(other, "/end") == [["s=1"]])
  }

  @Test("a 401 sets cookies")
  func challenge() async throws {
    let server = try Self.setting()
    let script = """
      local session = http.session(http.configuration.ephemeral())
      print(assert(session:get(base .. "/401")).status)
      print(assert(session:get(base .. "/401", { auth = { user = "u", password = "p" } })).body)
      """
    try await expectScript(script, [server.url], prints: ["401", "in"])
    #expect(Self.cookies(server, "/401") == [[], ["seen401=1"]])
  }

  @Test("a 1xx and a proxy's 407 set nothing")
  func foreignHeads() async throws {
    let server = try ScriptedServer { connection in
      while let request = try connection.readRequest() {
        let head =
          request.target == "/1xx"
          ? "HTTP/1.1 103 Early Hints\r\nSet-Cookie: early=1\r\n\r\nHTTP/1.1 200 OK\r\n"
          : "HTTP/1.1 407 Proxy\r\nSet-Cookie: proxy=1\r\n"
        try connection.send(head + "Content-Length: 0\r\n\r\n")
      }
    }
    let script = """
      local session = http.session(http.configuration.ephemeral())
      assert(session:get(base .. "/1xx"))
      assert(session:get(base .. "/407"))
      print(#session.configuration.cookie_storage:cookies())
      """
    try await expectScript(script, [server.url], prints: ["0"])
  }

  @Test("requests and sessions may do without, and policies are kept")
  func choices() async throws {
    let server = try Self.setting()
    let script = """
      local function count(fields, request_fields)
        local session = http.session(http.configuration.ephemeral(fields))
        request_fields = request_fields or {}
        for _, path in ipairs { "/set", "/x" } do
          request_fields.url = base .. path
          assert(session:send(http.request(request_fields)))
        end
        local storage = session.configuration.cookie_storage
        return storage and #storage:cookies()
      end
      print(count(), count { http_should_set_cookies = false }, count { http_cookie_accept_policy = "never" })
      print(count { cookie_storage = false }, count(nil, { http_should_handle_cookies = false }))
      print(count(nil, { main_document_url = "http://example.org/" }),
        count(nil, { main_document_url = base }),
        count({ http_cookie_accept_policy = "always" }, { main_document_url = "http://example.org/" }))
      local storage = http.cookie_storage()
      storage.accept_policy = "never"
      print(count { cookie_storage = storage }, storage.accept_policy)
      """
    try await expectScript(script, [server.url], prints: ["2\t2\t0", "false\t0", "0\t2\t2", "0\tnever"])
    let sent = Self.cookies(server, "/x").map { $0.joined() }
    #expect(sent == ["a=1; b=2", "", "", "", "", "", "a=1; b=2", "a=1; b=2", ""])
  }

  @Test("ten thousand cookies cost a request no more than those that go with it")
  func many() async throws {
    let server = try ScriptedServer { _ in Reply("ok") }
    let script = """
      local storage = http.cookie_storage()
      for i = 1, 10000 do storage:set({ name = "n" .. i % 50, value = "v" }, ("http://h%d.test/"):format(i // 50)) end
      storage:set({ name = "mine", value = "1" }, base)
      local session = http.session(http.configuration.ephemeral { cookie_storage = storage })
      assert(session:get(base .. "/x"))
      print(#storage:cookies() <= 3300)
      """
    try await expectScript(script, [server.url], prints: ["true"])
    #expect(Self.cookies(server, "/x") == [["mine=1"]])
  }
}
