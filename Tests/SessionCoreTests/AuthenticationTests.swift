import Testing

@testable import SessionCore

@Suite("Authentication on the wire")
struct AuthenticationTests {
  private static let challenge =
    "WWW-Authenticate: Digest realm=\"r\", nonce=\"n1\", qop=\"auth,auth-int\", opaque=\"o\""

  /// Accepts user "u" with password "pw" by Digest; counts nothing itself.
  private func digestServer() throws -> ScriptedServer {
    try ScriptedServer.answering { request, _ in
      guard let field = request.field("authorization"), field.hasPrefix("Digest "),
        DigestCheck.accepts(field, method: request.method, target: request.target, user: "u", password: "pw")
      else { return reply("401 Unauthorized", [Self.challenge], "denied") }
      return reply("200 OK", [], "\(request.method) \(request.text)")
    }
  }

  @Test("Digest: two requests in all, one chosen qop, the whole target")
  func digest() throws {
    let server = try digestServer()
    defer { server.stop() }
    let result = Client().get(server.url("/d?a=1&b=%20")) { $0.authentication = .digest(user: "u", password: "pw") }
    #expect(result.error == nil)
    #expect(result.text == "GET ")
    #expect(server.requests.count == 2)
    let field = try #require(server.requests.last?.field("authorization"))
    for part in ["nc=00000001", "uri=\"/d?a=1&b=%20\"", "opaque=\"o\""] { #expect(field.contains(part)) }
    #expect(field.contains("qop=auth,") || field.hasSuffix("qop=auth"))
  }

  @Test("Digest with bodies: each kind arrives whole once", arguments: [10, 100_000])
  func digestBodies(size: Int) throws {
    let server = try digestServer()
    defer { server.stop() }
    let directory = try TemporaryDirectory()
    let text = String(repeating: "x", count: size)
    let path = directory.write("body", text)
    let client = Client()
    client.answer = { event, core in
      switch event {
      case .needsBodyChunk(let id, _):
        core.submit(.answer(id, .bodyChunk(client.chunks.isEmpty ? nil : Bytes(client.chunks.removeFirst()))))
      case .needsBodyStream(let id):
        client.chunks = [text]
        core.submit(.answer(id, .newBody(.reader(length: nil))))
      default: break
      }
    }
    for body in [RequestBody.data(Bytes(text)), .file(path: path), .reader(length: size)] {
      client.chunks = [text]
      let result = client.run(Request(method: "PUT", url: server.url("/sec"), body: body)) {
        $0.authentication = .digest(user: "u", password: "pw")
        $0.interest = .newBody
      }
      #expect(result.error == nil)
      #expect(result.text == "PUT \(text)")
    }
    client.chunks = [text]
    // The server is asked without the body, so that one that cannot be read twice is sent once.
    let once = client.run(Request(method: "PUT", url: server.url("/sec"), body: .reader(length: nil))) {
      $0.authentication = .digest(user: "u", password: "pw")
    }
    #expect(once.error == nil)
    #expect(once.text == "PUT \(text)")
  }

  @Test("A wrong password gives the 401 after a fixed number of requests")
  func wrong() throws {
    let server = try digestServer()
    defer { server.stop() }
    let client = Client()
    let result = client.get(server.url("/")) { $0.authentication = .digest(user: "u", password: "wrong") }
    #expect(result.error == nil)
    #expect(result.status == 401)
    #expect(result.text == "denied")
    #expect(server.requests.count == 2)
    let next = client.get(server.url("/")) { $0.authentication = .digest(user: "u", password: "pw") }
    #expect(next.status == 200)
  }

  @Test("A 401 nobody has credentials for is the response", .timeLimit(.minutes(1)))
  func noCredentials() throws {
    let server = try digestServer()
    defer { server.stop() }
    let result = Client().get(server.url("/"))
    #expect(result.status == 401)
    #expect(result.text == "denied")
    #expect(server.requests.count == 1)
  }

  @Test("`any` takes Digest where it is offered, else Basic, in any form of the field")
  func any() throws {
    let variants = [
      "WWW-Authenticate: Newauth realm=\"apps, inner\", type=1, title=\"Login to \\\"apps\\\"\", Basic realm=\"simple\"",
      "WWW-Authenticate: Negotiate\r\nWWW-Authenticate: Basic realm=\"x\"", "WWW-Authenticate: basic realm=\"x\"",
    ]
    for variant in variants {
      let server = try ScriptedServer.answering { request, _ in
        request.field("authorization") == "Basic dTpwdw=="
          ? reply("200 OK", [], "in") : reply("401 Unauthorized", [variant], "denied")
      }
      defer { server.stop() }
      let result = Client().get(server.url("/")) { $0.authentication = .any(user: "u", password: "pw") }
      #expect(result.text == "in")
      #expect(server.requests.count == 2)
      let wrong = Client().get(server.url("/")) { $0.authentication = .any(user: "u", password: "no") }
      #expect(wrong.status == 401)
      #expect(wrong.text == "denied")
    }
    let server = try digestServer()
    defer { server.stop() }
    #expect(Client().get(server.url("/")) { $0.authentication = .any(user: "u", password: "pw") }.status == 200)
    #expect(server.requests.last?.field("authorization")?.hasPrefix("Digest ") == true)
  }

  @Test("Basic goes with the first request")
  func basic() throws {
    let server = try ScriptedServer.answering { request, _ in reply("200 OK", [], request.field("authorization") ?? "")
    }
    defer { server.stop() }
    let result = Client().get(server.url("/")) { $0.authentication = .basic(user: "Aladdin", password: "open sesame") }
    #expect(result.text == "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==")
    #expect(server.requests.count == 1)
  }

  @Test("Credentials of one task do not reach the next one on the same handle")
  func noLeak() throws {
    let server = try digestServer()
    defer { server.stop() }
    let client = Client()
    #expect(client.get(server.url("/")) { $0.authentication = .digest(user: "u", password: "pw") }.status == 200)
    #expect(client.get(server.url("/")).status == 401)
    #expect(server.requests.last?.field("authorization") == nil)
  }
}
