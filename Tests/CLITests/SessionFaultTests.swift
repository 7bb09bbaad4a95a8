import TestSupport
import Testing

/// What the other URLSession on Linux gets wrong about connections, answers and errors.
@Suite struct SessionFaultTests {
  /// Bytes a server sends before it closes, or resets, and the code a script must see.
  struct Drop: Sendable, CustomTestStringConvertible {
    let name: String
    let bytes: String
    let code: String
    var resets = false
    var testDescription: String { name }
  }

  static let drops = [
    Drop(name: "a close before the response", bytes: "", code: "network_connection_lost"),
    Drop(name: "a reset before the response", bytes: "", code: "network_connection_lost", resets: true),
    Drop(
      name: "a body cut short of its length", bytes: "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n12345",
      code: "network_connection_lost"),
    Drop(
      name: "a chunked body cut short", bytes: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n12345\r\n",
      code: "network_connection_lost"),
    Drop(
      name: "broken chunking", bytes: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
      code: "bad_server_response"),
    Drop(
      name: "a head with a line that is too long",
      bytes: "HTTP/1.1 200 OK\r\nX: \(String(repeating: "a", count: 400_000))\r\nContent-Length: 0\r\n\r\n",
      code: "bad_server_response"),
    Drop(
      name: "a head with too many lines",
      bytes: "HTTP/1.1 200 OK\r\n\(String(repeating: "X: 0123456789\r\n", count: 40_000))Content-Length: 0\r\n\r\n",
      code: "bad_server_response"),
    Drop(
      name: "a body that is not the gzip it claims to be",
      bytes: "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 5\r\n\r\nplain",
      code: "cannot_decode_content_data"),
  ]

  @Test("each way to lose a connection has its code", arguments: drops)
  func lost(_ drop: Drop) async throws {
    let server = try ScriptedServer { connection in
      guard try connection.readRequest() != nil else { return }
      try connection.send(drop.bytes)
      if drop.resets { connection.reset() }
    }
    let script = """
      local r, err = http.post(base, { body = "x" })
      print(r, err.domain, err.code)
      print(err.url == base .. "/" or err.url == base, tostring(err):find("\\n", 1, true), err.underlying ~= nil or err.code:match("decode") ~= nil)
      """
    try await expectScript(script, [server.url], prints: ["nil\turl\t\(drop.code)", "true\tnil\ttrue"])
    #expect(server.requests.count == 1)
  }

  @Test("a gzip body cut inside a whole message is not a success")
  func truncatedGzip() async throws {
    let packed = try await gzip(Array(repeating: 0x61, count: 5000) + (0..<200).map { UInt8($0) })
    let server = try ScriptedServer { _ in
      Reply(fields: [("Content-Encoding", "gzip")], body: Array(packed.dropLast(20)))
    }
    let script = "local r, err = http.get(base) print(r, err.code)"
    try await expectScript(script, [server.url], prints: ["nil\tcannot_decode_content_data"])
  }

  @Test("nobody listens; no URL; no known scheme")
  func neverConnected() async throws {
    let port = Listener.deafPort
    let script = """
      for _, url in ipairs { base, "not a url", "", "gopherx://h/", "http://" } do
        local r, err = http.get(url)
        print(r, err.domain, err.code)
      end
      print(pcall(http.get, {}) == false or select(2, http.get({})) ~= nil)
      """
    try await expectScript(
      script, ["http://127.0.0.1:\(port)"],
      prints: [
        "nil\turl\tcannot_connect_to_host", "nil\turl\tbad_url", "nil\turl\tbad_url", "nil\turl\tunsupported_url",
        "nil\turl\tbad_url", "true",
      ])
  }

  @Test("a POST is never repeated silently on a dying connection")
  func dyingConnection() async throws {
    let server = try ScriptedServer { connection in
      while let request = try connection.readRequest() {
        if request.method == "POST" { return }
        try connection.send(Reply("ok"))
      }
    }
    let script = """
      assert(http.get(base .. "/first"))
      local r, err = http.post(base .. "/p", { body = "body" })
      print(r, err.code)
      """
    try await expectScript(script, [server.url], prints: ["nil\tnetwork_connection_lost"])
    #expect(server.lines == ["GET /first", "POST /p"])
  }

  @Test("a connection the server closed while idle does not cost a body")
  func staleConnection() async throws {
    let server = try ScriptedServer { connection in
      if let request = try connection.readRequest() { try connection.send(Reply(body: request.body)) }
    }
    let script = """
      assert(http.get(base .. "/first"))
      http.sleep(0.2)
      print(assert(http.post(base .. "/p", { body = "whole body" })).body)
      """
    let result = try await expectScript(script, [server.url], prints: ["whole body"])
    #expect(result.seconds < 5)
    #expect(server.requests.last?.bodyText == "whole body")
  }

  static let answers = [
    ScriptCase(
      "a lower-case location is followed", "print(assert(http.get(base .. '/lower')).body)", prints: "plain"),
    ScriptCase(
      "a 401 nobody has credentials for is the response",
      "local r = assert(http.get(base .. '/locked')) print(r.status, r.body)", prints: "401\tdenied"),
    ScriptCase(
      "the body of an answered 401 is not joined to the next",
      """
      local responses, data = 0, {}
      local session = http.session(http.configuration.ephemeral(), {
        did_receive_response = function(_, _, r) responses = responses + 1 assert(r.status == 200) end,
        did_receive_data = function(_, _, text) data[#data + 1] = text end,
      })
      local auth = { user = "user", password = "pw", scheme = "any" }
      print(assert(session:get(base .. "/locked", { auth = auth })).body)
      """, prints: "in"),
    ScriptCase(
      "POST keeps its body through 307 and 308",
      """
      for _, status in ipairs { 307, 308 } do
        print(assert(http.post(base .. "/" .. status, { body = "kept" })).body)
      end
      """, prints: "POST kept", "POST kept"),
    ScriptCase(
      "a redirect to nowhere is an error of its own",
      "local r, err = http.get(base .. '/nowhere') print(r, err.code)",
      prints: "nil\tredirect_to_nonexistent_location"),
    ScriptCase(
      "a redirect without Location is the response",
      "local r = assert(http.get(base .. '/bare')) print(r.status, r.body)", prints: "302\tbare"),
    ScriptCase(
      "a fragment survives: in the final URL, over a redirect, and never on the wire",
      """
      print((assert(http.get(base .. "/echo#top")).url:gsub("^.*/", "")))
      print((assert(http.get(base .. "/lower#part")).url:gsub("^.*/", "")))
      """, prints: "echo#top", "plain#part"),
    ScriptCase(
      "HEAD and 303 after PUT and DELETE",
      """
      for _, method in ipairs { "put", "delete", "post", "head" } do
        local r = assert(http[method](base .. "/303", method == "put" and { body = "x" } or nil))
        print(r.headers["X-Method"], r.headers["X-Length"])
      end
      """, prints: "GET\tnil", "GET\tnil", "GET\tnil", "HEAD\tnil"),
  ]

  @Test(arguments: answers)
  func answer(_ scriptCase: ScriptCase) async throws {
    let server = try ScriptedServer { request in
      switch request.target {
      case "/lower": Reply(status: "302 Found", fields: [("location", "/plain")])
      case "/locked" where request["Authorization"] == "Basic dXNlcjpwdw==": Reply("in")
      case "/locked":
        Reply(status: "401 Unauthorized", fields: [("WWW-Authenticate", "Basic realm=\"r\"")], "denied")
      case "/307", "/308": Reply.redirect("\(request.target.dropFirst()) Again", to: "/echo")
      case "/nowhere": .redirect(to: "http://127.0.0.1:bad/")
      case "/bare": Reply(status: "302 Found", "bare")
      case "/303": .redirect("303 See Other", to: "/method")
      case "/method":
        Reply(fields: [("X-Method", request.method)] + request.all("Content-Length").map { ("X-Length", $0) })
      case "/echo": Reply("\(request.method) \(request.bodyText)")
      default: Reply("plain")
      }
    }
    try await check(scriptCase, server.url)
    #expect(!server.lines.contains { $0.contains("#") })
    #expect(server.requests.allSatisfy { $0["Connection"] == nil })
  }

  @Test("IPv6 literals")
  func ipv6() async throws {
    let server = try ScriptedServer(.ipv6) { Reply($0["Host"] ?? "") }
    let script = "local r = assert(http.get(base)) print(r.body, r.url == base or r.url == base .. '/')"
    try await expectScript(script, [server.url], prints: ["[::1]:\(server.port)\ttrue"])
  }

  @Test("a Unix socket")
  func unixSocket() async throws {
    let directory = try TemporaryDirectory()
    let server = try ScriptedServer(.unix(directory.path + "/socket")) { Reply("by path \($0["Host"] ?? "")") }
    let script = """
      local session = http.session(http.configuration.ephemeral { unix_socket = base })
      print(assert(session:get("http://unix.test/x")).body)
      """
    try await expectScript(script, [directory.path + "/socket"], prints: ["by path unix.test"])
    #expect(server.lines == ["GET /x"])
  }

  @Test("an untrusted certificate has its own code, a trusted one none")
  func certificates() async throws {
    let server = try TLSServer()
    let script = """
      local r, err = http.get(base .. "/x")
      print(r, err.code:match("^server_certificate") ~= nil or err.code)
      local session = http.session(http.configuration.ephemeral { ca_file = select(2, ...) })
      print(assert(session:get(base .. "/x")).body)
      """
    try await expectScript(script, [server.url, server.authority], prints: ["nil\ttrue", "GET /x"])
  }
}
