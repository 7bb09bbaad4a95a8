import Testing

@testable import SessionCore

@Suite("Responses on the wire")
struct ResponseTests {
  /// Serves fixed bytes for each request, then closes when told.
  private func server(_ bytes: String, closing: Bool = false) throws -> ScriptedServer {
    try ScriptedServer { peer in
      while peer.readRequest() != nil {
        peer.send(bytes)
        if closing { return }
      }
    }
  }

  @Test("Interim responses stay apart from the final one")
  func interim() throws {
    let server = try server(
      "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </s.css>; rel=preload\r\nX-Hint: 1\r\n"
        + "Content-Length: 999\r\n\r\nHTTP/1.1 102 Processing\r\n\r\n"
        + "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nX-Real: 1\r\n\r\nfinal")
    defer { server.stop() }
    let client = Client()
    client.answer = { event, core in
      if case .response(let id, _) = event { core.submit(.answer(id, .response(.allow))) }
    }
    for method in ["GET", "POST"] {
      let before = client.events.count
      let result = client.run(Request(method: method, url: server.url())) { $0.interest = [.informational, .response] }
      #expect(result.text == "final")
      #expect(result.response?.headerBlock.text == "Content-Length: 5\r\nX-Real: 1\r\n")
      var statuses: [Int] = []
      for event in client.events[before...] {
        switch event {
        case .informational(_, let head): statuses.append(head.status)
        case .response(_, let head): statuses.append(head.status)
        default: break
        }
      }
      #expect(statuses == [103, 102, 200])
    }
  }

  @Test("Trailers are no header fields; folded lines are joined")
  func trailers() throws {
    let server = try server(
      "HTTP/1.1 200 Fine and dandy\r\nX-Folded: a\r\n  b\r\n\tc\r\nTransfer-Encoding: chunked\r\nTrailer: X-T\r\n\r\n"
        + "3\r\nabc\r\n0\r\nX-T: 1\r\n\r\n")
    defer { server.stop() }
    let result = Client().get(server.url())
    #expect(result.text == "abc")
    #expect(result.response?.reason == "Fine and dandy")
    #expect(result.fields("x-folded") == ["a b c"])
    #expect(result.fields("x-t").isEmpty)
    #expect(result.response?.expectedContentLength == -1)
  }

  @Test("What is no HTTP is an error with a name")
  func garbage() throws {
    let rows: [(String, String)] = [
      ("garbage\r\n\r\n", "cannot_parse_response"), ("", "network_connection_lost"),
      ("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort", "network_connection_lost"),
      ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab", "network_connection_lost"),
      ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", "bad_server_response"),
    ]
    for (bytes, code) in rows {
      let server = try server(bytes, closing: true)
      defer { server.stop() }
      let result = Client().get(server.url())
      #expect(result.errorName == code, "\(bytes)")
      #expect(result.body == nil)
      #expect(result.error?.underlying?.source == .libcurl)
      #expect(result.error?.underlying?.message.isEmpty == false)
    }
  }

  @Test("A status of 400 or more is a response; HTTP/1.0 without a length ends with the connection")
  func statuses() throws {
    let server = try server("HTTP/1.0 404 Not Found\r\nX-A: 1\r\n\r\nuntil the end", closing: true)
    defer { server.stop() }
    let result = Client().get(server.url())
    #expect(result.error == nil)
    #expect(result.status == 404)
    #expect(result.response?.httpVersion == "1.0")
    #expect(result.text == "until the end")
  }

  @Test("HEAD in any spelling, 204 and 304 have no body, whatever their fields say")
  func bodiless() throws {
    let server = try ScriptedServer { peer in
      while let request = peer.readRequest() {
        switch request.target {
        case "/head": peer.send("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 1071\r\n\r\n")
        case "/204": peer.send("HTTP/1.1 204 No Content\r\nContent-Encoding: gzip\r\n\r\n")
        case "/304": peer.send("HTTP/1.1 304 Not Modified\r\nContent-Length: 1071\r\nETag: \"x\"\r\n\r\n")
        default: peer.send(reply("200 OK", [], "normal"))
        }
      }
    }
    defer { server.stop() }
    let client = Client()
    for method in ["HEAD", "head", "Head"] {
      let result = client.run(Request(method: method, url: server.url("/head"))) { $0.requestTimeout = 2 }
      #expect(result.error == nil)
      #expect(result.body?.count == 0)
      #expect(result.fields("content-length") == ["1071"])
      #expect(result.response?.expectedContentLength == 1071)
    }
    for path in ["/204", "/304"] {
      let result = client.get(server.url(path)) { $0.requestTimeout = 2 }
      #expect(result.error == nil)
      #expect(result.body?.count == 0)
    }
    #expect(client.get(server.url("/x")).text == "normal")
    #expect(server.connectionCount == 1)
  }

  @Test("The disposition: allow lets the body come, cancel ends the task without it")
  func disposition() throws {
    let server = try server(reply("200 OK", [], String(repeating: "x", count: 500_000)))
    defer { server.stop() }
    for disposition in [ResponseDisposition.allow, .cancel] {
      let client = Client()
      client.answer = { event, core in
        if case .response(let id, let head) = event {
          #expect(head.status == 200)
          core.submit(.answer(id, .response(disposition)))
        }
      }
      let result = client.get(server.url()) { $0.interest = .response }
      if case .allow = disposition {
        #expect(result.body?.count == 500_000)
      } else {
        #expect(result.errorName == "cancelled")
        #expect(result.status == 200)
        #expect(result.body == nil)
      }
    }
  }

  @Test("A short response is taken while a handler is asked about it: its connection is free for others")
  func askedAboutShortResponse() throws {
    let server = try server(reply("200 OK", [], "short"))
    defer { server.stop() }
    let client = Client { $0.maximumConnectionsPerHost = 1 }
    let asked = client.start(Request(url: server.url())) {
      $0.interest = .response
      $0.destination = .consumer
    }
    #expect(client.runUntil { if case .response = $0 { true } else { false } })
    #expect(client.get(server.url("/other")).text == "short")
    #expect(client.completion(of: asked) == nil)
    var received = ""
    client.answer = { event, core in
      if case .data(let id, let piece, let count, let expected) = event {
        received += piece.text
        #expect(count == 5 && expected == 5)
        core.submit(.answer(id, .dataConsumed))
      }
    }
    client.core.submit(.answer(asked, .response(.allow)))
    let result = client.finish(asked)
    #expect(result.error == nil && result.isResponseKnown)
    #expect(received == "short")
  }

  @Test("What came before the connection broke is delivered, also when a handler was asked meanwhile")
  func askedAboutCutResponse() throws {
    let server = try server("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\ncut", closing: true)
    defer { server.stop() }
    let client = Client()
    let asked = client.start(Request(url: server.url())) {
      $0.interest = .response
      $0.destination = .consumer
    }
    #expect(client.runUntil { if case .response = $0 { true } else { false } })
    let patience = MonotonicClock.now + 0.2
    while MonotonicClock.now < patience { client.turn(until: patience) }
    #expect(client.completion(of: asked) == nil)
    var received = ""
    client.answer = { event, core in
      if case .data(let id, let piece, _, _) = event {
        received += piece.text
        core.submit(.answer(id, .dataConsumed))
      }
    }
    client.core.submit(.answer(asked, .response(.allow)))
    #expect(client.finish(asked).errorName == "network_connection_lost")
    #expect(received == "cut")
  }

  @Test("A consumer gets pieces one at a time, bounded, and nothing is lost")
  func consumer() throws {
    let size = 3_000_000
    let server = try server(reply("200 OK", [], String(repeating: "x", count: size)))
    defer { server.stop() }
    let client = Client()
    var outstanding = 0
    var total = 0
    client.answer = { event, core in
      if case .data(let id, let piece, _, _) = event {
        #expect(outstanding == 0)
        #expect(piece.count <= 64 * 1024 + 16 * 1024)
        outstanding += 1
        total += piece.count
        outstanding -= 1
        core.submit(.answer(id, .dataConsumed))
      }
    }
    let result = client.get(server.url()) { $0.destination = .consumer }
    #expect(result.error == nil)
    #expect(result.body == nil)
    #expect(total == size)
  }

  @Test("A slow consumer holds the transfer back, and the completion too")
  func slowConsumer() throws {
    let server = try server(reply("200 OK", [], String(repeating: "x", count: 5_000_000)))
    defer { server.stop() }
    let client = Client()
    let id = client.start(Request(url: server.url())) {
      $0.destination = .consumer
      $0.requestTimeout = 0.3
    }
    #expect(client.runUntil { if case .data = $0 { true } else { false } })
    let patience = MonotonicClock.now + 0.6
    while MonotonicClock.now < patience { client.turn(until: patience) }
    #expect(client.events.count == 1)
    client.answer = { event, core in
      if case .data(let id, _, _, _) = event { core.submit(.answer(id, .dataConsumed)) }
    }
    client.core.submit(.answer(id, .dataConsumed))
    #expect(client.finish(id).error == nil)
  }

  @Test("More than the maximum is an error, before or while it comes")
  func maximum() throws {
    let known = try server(reply("200 OK", [], "0123456789"))
    let unknown = try server("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\na\r\n0123456789\r\n0\r\n\r\n")
    defer {
      known.stop()
      unknown.stop()
    }
    for server in [known, unknown] {
      let client = Client()
      #expect(client.get(server.url()) { $0.maximumBody = 10 }.text == "0123456789")
      let result = client.get(server.url()) { $0.maximumBody = 9 }
      #expect(result.errorName == "data_length_exceeds_maximum")
      #expect(result.status == 200)
    }
  }

  @Test("IPv6 literals and localhost names")
  func names() throws {
    let six = try ScriptedServer(family: 10) { peer in
      while let request = peer.readRequest() { peer.send(reply("200 OK", [], request.field("host") ?? "")) }
    }
    defer { six.stop() }
    #expect(Client().get("http://[::1]:\(six.port)/").text == "[::1]:\(six.port)")
    let four = try ScriptedServer.answering { request, _ in reply("200 OK", [], request.field("host") ?? "") }
    defer { four.stop() }
    #expect(Client().get("http://app.localhost:\(four.port)/").text == "app.localhost:\(four.port)")
    let resolved = Client { $0.resolve = [("name.example:\(four.port)", "127.0.0.1")] }
    #expect(resolved.get("http://name.example:\(four.port)/").text == "name.example:\(four.port)")
    let idn = resolved.get("http://b\u{FC}cher.localhost:\(four.port)/")
    #expect(idn.error == nil)
    #expect(idn.text == "xn--bcher-kva.localhost:\(four.port)")
    #expect(Client().get("http://does-not-exist.invalid/").errorName == "cannot_find_host")
  }

  @Test("Metrics of a new and of a reused connection")
  func metrics() throws {
    let server = try server(reply("200 OK", [], "x"))
    defer { server.stop() }
    let client = Client()
    let first = try #require(client.get(server.url("/a")).metrics.transactions.first)
    let second = try #require(client.get(server.url("/b")).metrics.transactions.first)
    #expect(!first.isReusedConnection && second.isReusedConnection)
    #expect(first.connectEnd >= first.connectStart && second.connectStart.isNaN)
    #expect(first.responseStart >= first.requestStart && first.responseEnd >= first.responseStart)
    let ends = try #require(first.ends)
    #expect(ends.remotePort == server.port && ends.remoteAddress == "127.0.0.1" && ends.localPort > 0)
    #expect(second.ends?.localPort == ends.localPort)
    #expect(first.networkProtocolName == "http/1.1" && first.method == "GET" && first.status == 200)
    #expect(first.responseBodyBytes == 1 && first.responseHeaderBytes > 0 && first.requestHeaderBytes > 0)
  }
}
