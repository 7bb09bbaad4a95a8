import Foundation
import TestSupport
import Testing

extension ExampleTests {
  /// Gives out a token for the right password, and lets in who has it.
  private static func tokenServer() throws -> ScriptedServer {
    try ScriptedServer { request in
      if request.path == "/token" {
        return request.bodyText == "password=pw&user=me"
          ? Reply(fields: [("Content-Type", "application/json")], #"{"access_token": "t1"}"#)
          : Reply(status: "403 Forbidden")
      }
      return request["Authorization"] == "Bearer t1"
        ? Reply("in") : Reply(status: "401 Unauthorized", fields: [("WWW-Authenticate", #"Bearer realm="api""#)])
    }
  }

  static let loginCases = [
    ExampleCase("token_login.lua", "twenty refusals at once cause one login") { example in
      let server = try tokenServer()
      let urls = (1...20).map { "\(server.url)/item/\($0)" }
      let result = try await example.run(["\(server.url)/token", "me", "pw"] + urls)
      #expect(result.lines == ["20 of 20, 1 login"], "\(result)")
      #expect(result.ending == .exited(0))
      #expect(server.lines.filter { $0 == "POST /token" }.count == 1)
    },
    ExampleCase("token_login.lua", "a wrong password is an error") { example in
      let server = try tokenServer()
      try await example.expectFailure(
        "\(server.url)/token", "me", "no", server.url + "/x", saying: "unexpected status 403")
    },
    ExampleCase("signed_requests.lua", "signs what the server asks for") { example in
      let server = try signatureServer(key: "secret")
      try await example.expect(server.url + "/a?b=c", "k1", "secret", prints: ["200\tsigned "])
      #expect(server.requests.count == 2)
    },
    ExampleCase("signed_requests.lua", "a wrong key gives up after one try") { example in
      let server = try signatureServer(key: "secret")
      try await example.expect(server.url + "/a", "k1", "wrong", "body", prints: ["401\tunsigned"], status: 1)
      #expect(server.requests.map(\.bodyText) == ["body", "body"])
    },
    ExampleCase("form_login.lua", "sends the form's hidden token back, and the cookie it got") { example in
      let server = try formServer()
      try await example.expect(
        server.url + "/login", "me", "pw", server.url + "/members", prints: ["200\twelcome me"])
      let form = server.requests.first { $0.method == "POST" }
      #expect(form?.bodyText == "csrf=s3cret&mail=me&word=pw")
    },
    ExampleCase("form_login.lua", "a wrong password stays outside") { example in
      let server = try formServer()
      try await example.expect(
        server.url + "/login", "me", "no", server.url + "/members", prints: ["403\toutside"], status: 1)
    },
    ExampleCase("two_step_login.lua", "password, then code") { example in
      let server = try codeServer(secret: Array("12345678901234567890".utf8))
      let secret = "3132333435363738393031323334353637383930"
      try await example.expect(server.url, "me", "pw", secret, prints: ["password", "code", "200\tin"])
      try await example.expect(
        server.url, "me", "pw", "00", prints: ["password", "code", "user_cancelled_authentication"], status: 1)
      try await example.expect(
        server.url, "me", "no", secret, prints: ["password", "user_cancelled_authentication"], status: 1)
    },
  ]

  static let trustCases = [
    ExampleCase("known_servers.lua", "a server is known by the certificate of the first visit") { example in
      let authority = try TestAuthority()
      let first = try TLSServer(authority.selfSigned("first", "DNS:localhost"))
      try await example.expect("known", first.url + "/a", prints: ["new\tCN=first", "200\tGET /a"])
      try await example.expect("known", first.url + "/b", prints: ["200\tGET /b"])
      // As if the same place had shown another certificate before.
      let second = try TLSServer(authority.selfSigned("second", "DNS:localhost"))
      try example.directory.write("known", "localhost:\(second.port) 00ff\n")
      try await example.expect(
        "known", second.url + "/c", prints: ["changed\tCN=second", "user_cancelled_authentication"], status: 1)
    }
  ]

  private static func signatureServer(key: String) throws -> ScriptedServer {
    try ScriptedServer { request in
      let lines = ["n1", request.method, request.target, sha256Text(request.bodyText)]
      let code = hmacSHA256(key: Array(key.utf8), Array(lines.joined(separator: "\n").utf8))
      let signature = Data(code).base64EncodedString()
      if request["Authorization"] == #"HMAC key="k1", nonce="n1", signature="\#(signature)""# {
        return Reply("signed \(request.bodyText)")
      }
      return Reply(
        status: "401 Unauthorized", fields: [("WWW-Authenticate", #"HMAC realm="r", nonce="n1""#)], "unsigned")
    }
  }

  private static func formServer() throws -> ScriptedServer {
    let page = """
      <form action="do-login" method="post"><input type="hidden" name="csrf" value="s3cret">
      <input type="email" name="mail"><input type="password" name="word"><button>In</button></form>
      """
    return try ScriptedServer { request in
      switch request.line {
      case "GET /login":
        return Reply(fields: [("Content-Type", "text/html"), ("Set-Cookie", "before=1; Path=/; HttpOnly")], page)
      case "POST /do-login":
        let isRight = request.bodyText == "csrf=s3cret&mail=me&word=pw" && request["Cookie"] == "before=1"
        return Reply(
          status: "303 See Other",
          fields: [("Location", "/members")] + (isRight ? [("Set-Cookie", "session=abc; Path=/")] : []))
      default:
        return request["Cookie"] == "before=1; session=abc"
          ? Reply("welcome me") : Reply(status: "403 Forbidden", "outside")
      }
    }
  }

  /// Takes a time-based code, of now or of thirty seconds ago, after a password.
  private static func codeServer(secret: [UInt8]) throws -> ScriptedServer {
    try ScriptedServer { request in
      func ask(_ challenge: String) -> Reply {
        Reply(status: "401 Unauthorized", fields: [("WWW-Authenticate", challenge)])
      }
      guard request["Authorization"] == "Basic bWU6cHc=" else { return ask(#"Basic realm="r""#) }
      let step = Int(Date().timeIntervalSince1970) / 30
      let codes = [step, step - 1].map { timeCode(secret, step: $0) }
      return codes.contains(request["X-One-Time-Code"] ?? "") ? Reply("in") : ask(#"OTP realm="r""#)
    }
  }

  /// The code for a step of thirty seconds (RFC 4226 §5.3, with SHA-256).
  private static func timeCode(_ secret: [UInt8], step: Int) -> String {
    let hash = hmacSHA256(key: secret, stride(from: 56, through: 0, by: -8).map { UInt8(step >> $0 & 255) })
    let place = Int(hash[31] & 15)
    let number = hash[place..<place + 4].reduce(0) { $0 << 8 | Int($1) } & 0x7FFF_FFFF
    let digits = String(number % 1_000_000)
    return String(repeating: "0", count: 6 - digits.count) + digits
  }
}
