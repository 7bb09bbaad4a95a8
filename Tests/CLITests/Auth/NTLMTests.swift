import TestSupport
import Testing

/// NTLM, whose proof belongs to a connection, by a server that plays the four messages.
@Suite struct NTLMTests {
  /// A type 2 message with challenge "SRVNONCE", no target.
  private static let typeTwo =
    "NTLM TlRMTVNTUAACAAAAAAAAADAAAAABggEAU1JWTk9OQ0UAAAAAAAAAAAAAAAAwAAAA"

  /// Lets a connection in whose third message names the user "user".
  static func server() throws -> ScriptedServer {
    try ScriptedServer { connection in
      var isIn = false
      while let request = try connection.readRequest() {
        let field = request["Authorization"] ?? ""
        let message = field.hasPrefix("NTLM ") ? unbase64(String(field.dropFirst(5))) : []
        let kind = message.count > 8 ? message[8] : 0
        if kind == 3 { isIn = utf16(message).contains("user") || latin1(message).contains("user") }
        let asks = kind == 1 ? Self.typeTwo : "NTLM"
        let reply =
          isIn && kind != 1
          ? Reply("in \(request.bodyText)")
          : Reply(status: "401 Unauthorized", fields: [("WWW-Authenticate", asks)], "denied")
        try connection.send(reply, to: request)
      }
    }
  }

  @Test("by a handler, then on the same connection without asking")
  func handler() async throws {
    let server = try Self.server()
    let script = """
      local session = http.session(http.configuration.ephemeral(), {
        session_did_receive_challenge = function(session, challenge)
          print(challenge.protection_space.authentication_method, challenge.previous_failure_count)
          return "use_credential", http.credential { user = "user", password = "pw" }
        end,
      })
      print(assert(session:get(base .. "/a")).body)
      print(assert(session:post(base .. "/b", { body = "hello" })).body)
      """
    try await expectScript(script, [server.url], prints: ["ntlm\t0", "in ", "in hello"])
    #expect(server.connectionCount == 1)
    // Asked, message 1, message 3; then nothing more is needed.
    #expect(server.lines == ["GET /a", "GET /a", "GET /a", "POST /b"])
    let messages = server.requests.map { unbase64(String(($0["Authorization"] ?? "").dropFirst(5))) }
    let kinds = messages.map { $0.dropFirst(8).first ?? 0 }
    #expect(kinds == [0, 1, 3, 0])
  }

  @Test("a user too long for the messages is the caller's fault, not the server's")
  func longUser() async throws {
    let server = try Self.server()
    let script = """
      local user = ("x"):rep(500)
      local function report(r, err)
        print(r, err.code, err.message:find("too long for NTLM", 1, true) ~= nil, err.underlying.code)
      end
      report(http.get(base, { auth = { user = user, password = "p", scheme = "ntlm" } }))
      local session = http.session(http.configuration.ephemeral(), {
        did_receive_challenge = function() return "use_credential", http.credential { user = user, password = "p" } end,
      })
      report(session:get(base))
      """
    let line = "nil\tuser_authentication_required\ttrue\t27"
    try await expectScript(script, [server.url], prints: [line, line])
  }

  @Test("by the option, at once and with the body where it counts")
  func option() async throws {
    let server = try Self.server()
    let script = """
      local auth = { user = "user", password = "pw", scheme = "ntlm" }
      print(assert(http.post(base .. "/a", { body = "hello", auth = auth })).body)
      print(http.get(base .. "/b", { auth = { user = "other", password = "pw", scheme = "ntlm" } }).status)
      print(http.get(base .. "/c").status)
      """
    try await expectScript(script, [server.url], prints: ["in hello", "401", "401"])
    #expect(server.requests.prefix(2).map(\.bodyText) == ["", "hello"])
  }
}

/// The text in a message of UTF-16, as far as it is ASCII.
private func utf16(_ bytes: [UInt8]) -> String { latin1(bytes.filter { $0 != 0 }) }

private func unbase64(_ text: String) -> [UInt8] {
  let digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
  var (bits, count, bytes) = (0, 0, [UInt8]())
  for character in text {
    guard let index = digits.firstIndex(of: character) else { continue }
    bits = bits << 6 | digits.distance(from: digits.startIndex, to: index)
    count += 6
    if count >= 8 {
      count -= 8
      bytes.append(UInt8(bits >> count & 255))
    }
  }
  return bytes
}
