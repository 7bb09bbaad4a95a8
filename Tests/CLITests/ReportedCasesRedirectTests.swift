import TestSupport
import Testing

/// Faults users of other clients reported about redirects.
@Suite struct ReportedCasesRedirectTests {
  /// How the credential is given, and how the redirect is followed.
  static let senders = [
    "headers = { Authorization = 'Bearer T0', Cookie = 'a=b' }",
    "headers = { authorization = 'Bearer T0' }",
    "auth = { bearer = 'T0' }",
    "auth = { user = 'u', password = 'p' }",
  ]
  static let delegates = ["nil", "{ will_perform_redirection = function(_, _, _, request) return request end }"]

  @Test("B01: credentials stay with their origin", arguments: senders, delegates)
  func credentialsStayWithTheirOrigin(options: String, delegate: String) async throws {
    let other = try ScriptedServer { _ in Reply("ok") }
    let first = try ScriptedServer { request in
      switch request.target {
      case "/host": .redirect(to: "http://localhost:\(request["Host"]?.split(separator: ":").last ?? "")/x")
      case "/port": .redirect(to: other.url + "/x")
      case "/same": .redirect(to: "/x")
      default: Reply("ok")
      }
    }
    let script = """
      local session = http.session(http.configuration.ephemeral(), \(delegate))
      for _, path in ipairs { "/host", "/port", "/same" } do
        print(assert(session:get(base .. path, { \(options) })).body)
      end
      """
    try await expectScript(script, [first.url], prints: ["ok", "ok", "ok"])
    let targets = (first.requests + other.requests).filter { $0.target == "/x" }
    let names = ["Authorization", "Cookie"]
    for request in targets where !(request["Host"] ?? "").hasPrefix("127.0.0.1:\(first.port)") {
      #expect(names.allSatisfy { request[$0] == nil }, "\(latin1(request.head))")
    }
    #expect(targets.count == 3)
    #expect(targets.filter { $0["Authorization"] != nil }.map { $0["Host"] } == ["127.0.0.1:\(first.port)"])
  }

  @Test("B01: a redirect handler may send the credential on")
  func handlerMaySendTheCredentialOn() async throws {
    let other = try ScriptedServer { _ in Reply("ok") }
    let first = try ScriptedServer { _ in .redirect(to: other.url + "/x") }
    let script = """
      local session = http.session(http.configuration.ephemeral(), {
        will_perform_redirection = function(_, _, _, request)
          request.headers.Authorization = "Bearer T1"
          return request
        end,
      })
      print(assert(session:get(base, { headers = { Authorization = "Bearer T0" } })).body)
      """
    try await expectScript(script, [first.url], prints: ["ok"])
    #expect(other.requests.map { $0["Authorization"] } == ["Bearer T1"])
  }

  @Test("B03: a Location is encoded once and never again")
  func locationIsEncodedOnce() async throws {
    let server = try ScriptedServer { request in
      switch request.target {
      case "/1": .redirect(to: "/caf\u{c3}\u{a9} x")
      case "/2": .redirect(to: "/caf%C3%A9%20x/a%2Fb")
      default: Reply("ok")
      }
    }
    let script = """
      local seen
      local session = http.session(http.configuration.ephemeral(), {
        will_perform_redirection = function(_, _, response, request) seen = response.headers.Location return request end,
      })
      for _, path in ipairs { "/1", "/2" } do
        assert(session:get(base .. path))
        print((seen:gsub("[\\x80-\\xff]", function(c) return ("<%02x>"):format(c:byte()) end)))
      end
      """
    try await expectScript(
      script, [server.url], prints: ["/caf<c3><a9> x", "/caf%C3%A9%20x/a%2Fb"])
    let targets = server.requests.map { $0.target.replacingOccurrences(of: "%c3%a9", with: "%C3%A9") }
    #expect(targets == ["/1", "/caf%C3%A9%20x", "/2", "/caf%C3%A9%20x/a%2Fb"])
  }

  static func bodyOfRedirect() throws -> ScriptedServer {
    try ScriptedServer { request in
      request.target == "/go"
        ? Reply(status: "302 Found", fields: [("Location", "/file")], body: Array(repeating: 0x48, count: 5000))
        : Reply("0123456789")
    }
  }

  @Test("B05: the body of a followed redirect goes nowhere")
  func bodyOfFollowedRedirect() async throws {
    let server = try Self.bodyOfRedirect()
    let script = """
      local worst, name = 0, os.tmpname()
      local r = assert(http.get(base .. "/go", { sink = name, progress = function(received, expected)
        worst = math.max(worst, received)
        if expected >= 0 then assert(expected == 10, expected) end
      end }))
      local file <close> = assert(io.open(name, "rb"))
      print(file:read("a"), worst, r.status)
      os.remove(name)
      local data = {}
      local session = http.session(http.configuration.ephemeral(), {
        did_receive_data = function(_, _, text) data[#data + 1] = text end,
      })
      local task = session:data_task(base .. "/go")
      task:resume()
      assert(task:wait())
      print(table.concat(data))
      """
    try await expectScript(script, [server.url], prints: ["0123456789\t10\t200", "0123456789"])
  }

  @Test("B05: a refused redirect is the response")
  func refusedRedirect() async throws {
    let server = try Self.bodyOfRedirect()
    let script = """
      local session = http.session(http.configuration.ephemeral(), {
        will_perform_redirection = function() return false end,
      })
      local task = session:data_task(base .. "/go")
      task:resume()
      local r = assert(task:wait())
      print(r.status, r.headers.Location, #r.body, task.error)
      """
    let result = try await expectScript(script, [server.url], prints: ["302\t/file\t5000\tnil"])
    #expect(result.seconds < 5)
    #expect(server.lines == ["GET /go"])
  }
}
