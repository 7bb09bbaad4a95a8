import Testing

@testable import SessionCore

@Suite("Redirects on the wire")
struct RedirectTransferTests {
  @Test("A followed redirect is withheld, recorded, and reuses the connection")
  func followed() throws {
    let server = try ScriptedServer.answering { request, _ in
      request.target == "/go"
        ? reply("302 Found", ["location: /file"], String(repeating: "H", count: 5000))
        : reply("200 OK", [], "0123456789")
    }
    defer { server.stop() }
    let client = Client()
    let result = client.get(server.url("/go#part")) { $0.interest = .progress }
    #expect(result.error == nil)
    #expect(result.text == "0123456789")
    #expect(result.response?.url == server.url("/file#part"))
    #expect(result.redirects.map(\.to) == [server.url("/file#part")])
    #expect(result.metrics.transactions.map(\.status) == [302, 200])
    #expect(server.connectionCount == 1)
    for case .progress(_, let received, let expected) in client.events {
      #expect(received <= 10 && expected == 10)
    }
  }

  @Test("A large body of a redirect is not read")
  func largeBody() throws {
    let server = try ScriptedServer { peer in
      while let request = peer.readRequest() {
        if request.target == "/go" {
          peer.send("HTTP/1.1 302 Found\r\nLocation: /end\r\nContent-Length: 100000000\r\n\r\n")
          let piece = [UInt8](repeating: 72, count: 65536)
          while peer.send(piece) {}
        } else {
          peer.send(reply("200 OK", [], "end"))
        }
      }
    }
    defer { server.stop() }
    let client = Client()
    client.answer = { event, core in
      if case .willRedirect(let id, _, _) = event { core.submit(.answer(id, .redirect(.followProposed))) }
    }
    for interest in [Interest(), .redirect] {
      let result = client.get(server.url("/go")) { $0.interest = interest }
      #expect(result.text == "end")
      #expect(result.redirects.count == 1)
    }
  }

  @Test("A refused redirect is the response, with its whole body", arguments: [0, 5, 5000, 200_000])
  func refused(size: Int) throws {
    let server = try ScriptedServer.answering { _, _ in
      reply("302 Found", ["Location: /file"], String(repeating: "H", count: size))
    }
    defer { server.stop() }
    let client = Client()
    client.answer = { event, core in
      if case .willRedirect(let id, let head, let proposed) = event {
        #expect(head.status == 302)
        #expect(proposed.url == server.url("/file"))
        core.submit(.answer(id, .redirect(.refuse)))
      }
    }
    let result = client.get(server.url("/go")) { $0.interest = .redirect }
    #expect(result.error == nil)
    #expect(result.status == 302)
    #expect(result.body?.count == size)
    #expect(result.redirects.isEmpty)
    #expect(server.requests.count == 1)
  }

  @Test("A handler may follow the proposal or send another request")
  func handlerFollows() throws {
    let server = try ScriptedServer.answering { request, _ in
      request.target == "/go" ? reply("302 Found", ["Location: /a"], "x") : reply("200 OK", [], request.target)
    }
    defer { server.stop() }
    let client = Client()
    client.answer = { event, core in
      if case .willRedirect(let id, _, _) = event { core.submit(.answer(id, .redirect(.followProposed))) }
    }
    #expect(client.get(server.url("/go")) { $0.interest = .redirect }.text == "/a")
    client.answer = { event, core in
      guard case .willRedirect(let id, _, var proposed) = event else { return }
      proposed.url = server.url("/b")
      proposed.headers.append(HeaderField("X-Mine", "1"))
      core.submit(.answer(id, .redirect(.follow(proposed))))
    }
    #expect(client.get(server.url("/go")) { $0.interest = .redirect }.text == "/b")
    #expect(server.requests.last?.field("x-mine") == "1")
  }

  @Test("Credentials stay within the origin", arguments: [false, true])
  func credentials(asking: Bool) throws {
    let other = try ScriptedServer.answering { _, _ in reply("200 OK", [], "ok") }
    defer { other.stop() }
    let otherPort = other.port
    let server = try ScriptedServer.answering { request, _ in
      switch request.target {
      case "/host": return reply("302 Found", ["Location: http://localhost:\(otherPort)/x"])
      case "/port": return reply("302 Found", ["Location: http://127.0.0.1:\(otherPort)/x"])
      case "/same": return reply("302 Found", ["Location: /x"])
      default: return reply("200 OK", [], "ok")
      }
    }
    defer { server.stop() }
    for path in ["/host", "/port", "/same"] {
      let client = Client()
      client.answer = { event, core in
        if case .willRedirect(let id, _, let proposed) = event {
          core.submit(.answer(id, .redirect(path == "/port" ? .followProposed : .follow(proposed))))
        }
      }
      var request = Request(url: server.url(path))
      request.headers = [
        HeaderField("Authorization", "Bearer T0"), HeaderField("Cookie", "a=1"), HeaderField("X-K", "1"),
      ]
      let result = client.run(request) { if asking { $0.interest = .redirect } }
      #expect(result.text == "ok")
      let last = try #require(path == "/same" ? server.requests.last : other.requests.last)
      #expect(last.field("authorization") == (path == "/same" ? "Bearer T0" : nil))
      #expect(last.field("cookie") == (path == "/same" ? "a=1" : nil))
      #expect(last.field("x-k") == "1")
    }
  }

  @Test("Basic and bearer options stay within the origin too")
  func optionCredentials() throws {
    let other = try ScriptedServer.answering { _, _ in reply("200 OK", [], "ok") }
    defer { other.stop() }
    let location = other.url("/x")
    let server = try ScriptedServer.answering { request, _ in
      reply("302 Found", ["Location: \(request.target == "/a" ? "/b" : location)"])
    }
    defer { server.stop() }
    let result = Client().get(server.url("/a")) { $0.authentication = .bearer(token: "T") }
    #expect(result.text == "ok")
    #expect(server.requests.map { $0.field("authorization") } == ["Bearer T", "Bearer T"])
    #expect(other.requests.map { $0.field("authorization") } == [nil])
  }

  @Test("Location is encoded once, whatever its bytes")
  func location() throws {
    let server = try ScriptedServer { peer in
      while let request = peer.readRequest() {
        switch request.target {
        case "/1": peer.send("HTTP/1.1 302 F\r\nLocation: /caf\u{E9} x\r\nContent-Length: 0\r\n\r\n")
        case "/2": peer.send(reply("302 F", ["Location: /caf%C3%A9%20x/a%2Fb"]))
        case "/3":
          peer.send(
            Array("HTTP/1.1 302 F\r\nLocation: /latin".utf8) + [0xE9] + Array("\r\nContent-Length: 0\r\n\r\n".utf8))
        default: peer.send(reply("200 OK", [], request.target))
        }
      }
    }
    defer { server.stop() }
    let client = Client()
    #expect(client.get(server.url("/1")).text == "/caf%C3%A9%20x")
    #expect(client.get(server.url("/2")).text == "/caf%C3%A9%20x/a%2Fb")
    #expect(client.get(server.url("/3")).text == "/latin%E9")
  }

  @Test("Methods and bodies over redirects")
  func methods() throws {
    let server = try ScriptedServer.answering { request, _ in
      let parts = request.target.split(separator: "/")
      return parts.first == "end" ? reply("200 OK", [], "ok") : reply("\(parts[0]) Go", ["Location: /end"])
    }
    defer { server.stop() }
    let client = Client()
    let rows: [(String, Int, String, String)] = [
      ("POST", 301, "GET", ""), ("POST", 302, "GET", ""), ("PUT", 302, "PUT", "body"), ("PUT", 303, "GET", ""),
      ("DELETE", 303, "GET", ""), ("POST", 307, "POST", "body"), ("POST", 308, "POST", "body"),
    ]
    for (method, status, expected, body) in rows {
      var request = Request(method: method, url: server.url("/\(status)"), body: .data(Bytes("body")))
      request.headers = [HeaderField("Content-Type", "text/x"), HeaderField("X-A", "1")]
      #expect(client.run(request).error == nil)
      let last = try #require(server.requests.last)
      #expect(last.method == expected, "\(method) \(status)")
      #expect(last.text == body, "\(method) \(status)")
      #expect(last.field("content-type") == (body.isEmpty ? nil : "text/x"))
      #expect(last.field("x-a") == "1")
    }
    let head = client.run(Request(method: "HEAD", url: server.url("/303")))
    #expect(head.status == 200)
    #expect(server.requests.last?.method == "HEAD")
  }

  @Test("What cannot be followed")
  func unfollowable() throws {
    let server = try ScriptedServer.answering { request, _ in
      switch request.target {
      case "/loop": return reply("302 F", ["Location: /loop"])
      case "/none": return reply("302 F", [], "body")
      case "/empty": return reply("302 F", ["Location: "], "body")
      case "/bad": return reply("302 F", ["Location: http://[::1/"], "body")
      case "/ftp": return reply("302 F", ["Location: ftp://example.org/"], "body")
      default: return reply("302 F", ["Location: mailto:x@example.org"], "body")
      }
    }
    defer { server.stop() }
    let client = Client()
    let loop = client.get(server.url("/loop")) { $0.redirectLimit = 3 }
    #expect(loop.errorName == "http_too_many_redirects")
    #expect(loop.redirects.count == 3)
    #expect(loop.status == 302)
    #expect(client.get(server.url("/none")).text == "body")
    #expect(client.get(server.url("/empty")).text == "body")
    #expect(client.get(server.url("/bad")).errorName == "redirect_to_nonexistent_location")
    #expect(client.get(server.url("/ftp")).errorName == "unsupported_url")
    #expect(client.get(server.url("/mail")).errorName == "unsupported_url")
    #expect(client.get(server.url("/loop")) { $0.redirectLimit = nil }.status == 302)
  }
}
