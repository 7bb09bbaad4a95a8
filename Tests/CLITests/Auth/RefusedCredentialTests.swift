import TestSupport
import Testing

/// Credentials that were sent and refused, wherever they came from; and a 407 that nobody can answer.
@Suite struct RefusedCredentialTests {
  /// Lets nobody in: as a server by the path's scheme, as a proxy by Basic.
  static func server() throws -> ScriptedServer {
    try ScriptedServer { request in
      guard request.target.hasPrefix("/") else {
        let challenge = ("Proxy-Authenticate", #"Basic realm="p""#)
        return Reply(status: "407 Proxy Authentication Required", fields: [challenge])
      }
      let challenge =
        switch request.path {
        case "/digest": #"Digest realm="r", nonce="n1", qop="auth""#
        case "/bearer": #"Bearer realm="r""#
        default: #"Basic realm="r""#
        }
      return Reply(status: "401 Unauthorized", fields: [("WWW-Authenticate", challenge)])
    }
  }

  /// Prints the challenges that the handler is asked about, each with its count of failures.
  static let script = """
    local address, seen = base:match("//(.*)"), {}
    local function run(url, options, fields, answer)
      local session = http.session(http.configuration.ephemeral(fields), {
        did_receive_challenge = function(_, _, challenge)
          seen[#seen + 1] = challenge.protection_space.authentication_method .. challenge.previous_failure_count
          if answer then return "use_credential", answer end
        end,
      })
      session:get(url, options)
    end
    local storage = http.credential_storage()
    storage:set(http.credential { user = "u", password = "p" }, { host = "127.0.0.1" })

    """

  struct Source: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let call: String
    let asked: String
    let requests: Int

    init(_ name: String, _ call: String, asked: String, requests: Int) {
      (testDescription, self.call, self.asked, self.requests) = (name, call, asked, requests)
    }
  }

  static let sources = [
    Source("the URL", #"run("http://u:p@" .. address .. "/basic")"#, asked: "basic1", requests: 1),
    Source("the URL, for Digest", #"run("http://u:p@" .. address .. "/digest")"#, asked: "digest1", requests: 2),
    Source("auth", #"run(base, { auth = { user = "u", password = "p" } })"#, asked: "basic1", requests: 1),
    Source("auth, a token", #"run(base .. "/bearer", { auth = { bearer = "t" } })"#, asked: "bearer1", requests: 1),
    Source(
      "auth, Digest", #"run(base .. "/digest", { auth = { user = "u", password = "p", scheme = "digest" } })"#,
      asked: "digest1", requests: 2),
    Source(
      "auth, any for Basic", #"run(base, { auth = { user = "u", password = "p", scheme = "any" } })"#, asked: "basic1",
      requests: 2),
    Source(
      "auth, any for Digest", #"run(base .. "/digest", { auth = { user = "u", password = "p", scheme = "any" } })"#,
      asked: "digest1", requests: 2),
    Source(
      "a field set by hand in their place: they have not been sent",
      #"run(base, { auth = { user = "u", password = "p" }, headers = { Authorization = "Mine" } })"#, asked: "basic0",
      requests: 1),
    Source("the storage", "run(base, nil, { credential_storage = storage })", asked: "basic0 basic1", requests: 2),
    Source("the handler", #"run(base, nil, nil, http.credential { user = "u" })"#, asked: "basic0 basic1", requests: 2),
    Source(
      "the proxy's URL", #"run("http://far.test/", nil, { connection_proxy = "http://u:p@" .. address })"#,
      asked: "basic1", requests: 1),
    Source(
      "the proxy's user",
      #"run("http://far.test/", nil, { connection_proxy = { url = base, user = "u", password = "p" } })"#,
      asked: "basic1", requests: 1),
    Source(
      "the proxy's URL, for a tunnel",
      #"run("https://far.test/", nil, { connection_proxy = "http://u:p@" .. address })"#,
      asked: "basic1", requests: 1),
    Source(
      "the proxy's URL, and the handler offers the same again",
      """
      local fields = { connection_proxy = "http://u:p@" .. address }
      run("http://far.test/", nil, fields, http.credential { user = "u", password = "p" })
      """, asked: "basic1", requests: 1),
  ]

  @Test(arguments: sources)
  func refused(_ source: Source) async throws {
    let server = try Self.server()
    try await expectScript(
      Self.script + source.call + "\nprint(table.concat(seen, ' '))", [server.url], prints: [source.asked])
    #expect(server.requests.count == source.requests, "\(server.lines)")
  }

  // MARK: 407 of an origin's

  private static let refusal = Reply(
    status: "407 Proxy Authentication Required", fields: [("Proxy-Authenticate", #"Basic realm="p""#)], "who are you?")

  /// Prints what comes of a GET; a handler that would give anything away must not be asked.
  private static let offering = """
    local function try(fields, url)
      local session = http.session(fields, {
        did_receive_challenge = function(_, _, challenge)
          if challenge.protection_space.authentication_method == "server_trust" then return end
          print("asked")
          return "use_credential", http.credential { user = "u", password = "p" }
        end,
      })
      local r = assert(session:get(url))
      print(r.status, r.body)
    end

    """

  @Test("a 407 without a proxy is the response, and takes nobody's credentials")
  func originWithoutProxy() async throws {
    let server = try ScriptedServer { _ in Self.refusal }
    let script = """
      local storage = http.credential_storage()
      for _, is_proxy in ipairs { true, false } do
        local space = { host = "127.0.0.1", is_proxy = is_proxy }
        storage:set_default(http.credential { user = "stored", password = "p" }, space)
      end
      try({ cache = false, credential_storage = storage }, base)
      try({ cache = false }, "http://u:p@" .. base:match("//(.*)"))
      print(http.get(base, { auth = { user = "u", password = "p", scheme = "any" } }).status)
      """
    try await expectScript(
      Self.offering + script, [server.url], prints: ["407\twho are you?", "407\twho are you?", "407"])
    #expect(server.requests.count == 3)
    #expect(server.requests.allSatisfy { $0["Proxy-Authorization"] == nil })
    #expect(server.requests.map { $0["Authorization"] } == [nil, "Basic dTpw", nil])
  }

  @Test("nor does one that comes through a SOCKS proxy")
  func originBehindSocks() async throws {
    let server = try ScriptedServer { connection in
      // SOCKS 4: version, command, port, address, and a user that ends in NUL.
      var last = try connection.read(count: 9).last
      while last != 0 { last = try connection.read(count: 1).last }
      try connection.send([0, 90, 0, 0, 0, 0, 0, 0])
      while let request = try connection.readRequest() { try connection.send(Self.refusal, to: request) }
    }
    let script =
      #"try({ cache = false, connection_proxy = "socks4://u@" .. base:match("//(.*)") }, "http://127.0.0.1:8/")"#
    try await expectScript(Self.offering + script, [server.url], prints: ["407\twho are you?"])
    #expect(server.requests.map { $0["Proxy-Authorization"] } == [nil])
  }

  @Test("nor one that comes through a tunnel")
  func originInTunnel() async throws {
    let proxy = try Proxy(password: "word")
    let origin = try TLSServer()
    let script = """
      local origin, authority, proxy = base, select(2, ...)
      try({ ca_file = authority, connection_proxy = { url = proxy, user = "user", password = "word" } },
        origin .. "/x?status=407&header=Proxy-Authenticate:%20Basic%20realm=p&echo=Proxy-Authorization")
      """
    try await expectScript(Self.offering + script, [origin.url, origin.authority, proxy.url], prints: ["407\t"])
  }
}
