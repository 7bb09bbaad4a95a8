import Glibc
import Testing

@testable import SessionCore

@Suite("Request bodies")
struct UploadTests {
  @Test("Every kind of body arrives whole, NUL included")
  func kinds() throws {
    let server = try ScriptedServer.answering { request, _ in
      reply("200 OK", ["X-Type: \(request.field("content-type") ?? "none")"], request.text)
    }
    defer { server.stop() }
    let file = try TemporaryDirectory()
    let path = file.write("body", "Hello\0World")
    let client = Client()
    client.answer = { event, core in
      if case .needsBodyChunk(let id, _) = event {
        let next = client.chunks.isEmpty ? nil : Bytes(client.chunks.removeFirst())
        core.submit(.answer(id, .bodyChunk(next)))
      }
    }
    let bodies: [RequestBody] = [
      .data(Bytes("Hello\0World")), .file(path: path), .parts([.data(Bytes("Hello\0")), .data(Bytes("World"))]),
      .reader(length: nil), .reader(length: 11),
    ]
    for body in bodies {
      client.chunks = ["Hello\0", "", "World"]
      let result = client.run(Request(method: "POST", url: server.url(), body: body))
      #expect(result.error == nil)
      #expect(result.text == "Hello\0World")
      #expect(result.fields("x-type") == ["none"])
      #expect(result.bytesSent == 11)
    }
    #expect(server.requests.map { $0.field("content-length") } == ["11", "11", "11", nil, "11"])
    #expect(server.requests.allSatisfy { $0.fields("expect").isEmpty || $0.field("transfer-encoding") != nil })
  }

  @Test("An empty body is a body of length nought", arguments: ["PUT", "POST", "PATCH"])
  func empty(method: String) throws {
    let server = try ScriptedServer.answering { _, _ in reply() }
    defer { server.stop() }
    let client = Client()
    #expect(client.run(Request(method: method, url: server.url())).error == nil)
    #expect(client.run(Request(method: method, url: server.url(), body: .data(Bytes()))).error == nil)
    for request in server.requests {
      #expect(request.method == method)
      #expect(request.fields("content-length") == ["0"])
      #expect(request.fields("content-type").isEmpty)
      #expect(request.fields("expect").isEmpty)
    }
  }

  @Test("Any method, with and without a body")
  func methods() throws {
    let server = try ScriptedServer.answering { _, _ in reply("200 OK", [], "") }
    defer { server.stop() }
    let client = Client()
    for method in ["DELETE", "OPTIONS", "PROPFIND", "GET", "TRACE"] {
      #expect(client.run(Request(method: method, url: server.url())).error == nil)
      #expect(client.run(Request(method: method, url: server.url(), body: .data(Bytes("b")))).error == nil)
      let last = server.requests.suffix(2)
      #expect(last.map(\.method) == [method, method])
      #expect(last.map(\.text) == ["", "b"])
      #expect(last.first?.fields("content-length").isEmpty == true)
    }
  }

  @Test("An empty header value is sent as an empty field; a hand-set length does not lie")
  func headers() throws {
    let server = try ScriptedServer.answering { _, _ in reply() }
    defer { server.stop() }
    let client = Client { $0.additionalHeaders = [HeaderField("X-All", "a"), HeaderField("X-Both", "session")] }
    var request = Request(method: "POST", url: server.url(), body: .data(Bytes("abc")))
    request.headers = [
      HeaderField("X-Empty", ""), HeaderField("Content-Length", "99"), HeaderField("X-Both", "request"),
      HeaderField("X-Twice", "1"), HeaderField("X-Twice", "2"), HeaderField("User-Agent", "me"),
    ]
    #expect(client.run(request).error == nil)
    let received = try #require(server.requests.first)
    #expect(received.fields("x-empty") == [""])
    #expect(received.fields("content-length") == ["3"])
    #expect(received.fields("x-both") == ["request"])
    #expect(received.fields("x-all") == ["a"])
    #expect(received.fields("x-twice") == ["1", "2"])
    #expect(received.fields("user-agent") == ["me"])
  }

  @Test("Bad requests fail before anything is connected, naming the field")
  func injection() throws {
    let server = try ScriptedServer.answering { _, _ in reply() }
    defer { server.stop() }
    let client = Client()
    let url = server.url()
    let rows: [(Request, String)] = [
      (Request(url: url, headers: [HeaderField("X-A", "abc\r\nX-Evil: 1")]), "X-A"),
      (Request(url: url, headers: [HeaderField("X-A", "abc\nX-Evil: 1")]), "X-A"),
      (Request(url: url, headers: [HeaderField("X-A", "a\0b")]), "X-A"),
      (Request(url: url, headers: [HeaderField("X A", "1")]), "X A"),
      (Request(url: url, headers: [HeaderField("X-A: 1\r\nX-B", "1")]), "X-A: 1"),
      (Request(method: "GET / HTTP/1.1\r\nX-Evil: 1\r\nA:", url: url), "method"),
      (Request(url: url + "a\r\nb"), "URL"), (Request(url: url + "a\0b"), "URL"),
    ]
    for (request, word) in rows {
      let result = client.run(request)
      #expect(result.errorName == "bad_url")
      #expect(result.error?.message.contains(word) == true, "\(result.error?.message ?? "")")
    }
    #expect(server.connectionCount == 0)
    #expect(client.get("").errorName == "bad_url")
    #expect(client.get("no url").errorName == "bad_url")
    #expect(client.get("example.org/x").errorName == "bad_url")
    #expect(client.get("localhost:80/x").errorName == "bad_url")
    #expect(client.get("http://").errorName == "bad_url")
    #expect(client.get("ftp://example.org/").errorName == "unsupported_url")
    #expect(client.get("mailto:x@y").errorName == "unsupported_url")
    #expect(client.get("file:///etc/passwd").errorName == "unsupported_url")
  }

  @Test("User and password in the URL become Basic credentials and are shown nowhere")
  func userInformation() throws {
    let server = try ScriptedServer.answering { _, _ in reply("200 OK", [], "x") }
    defer { server.stop() }
    let result = Client().get("http://us%65r:p%0D%0Aw%ff@127.0.0.1:\(server.port)/x")
    #expect(result.text == "x")
    #expect(result.response?.url == server.url("/x"))
    #expect(result.metrics.transactions.first?.url == server.url("/x"))
    #expect(server.requests.first?.field("authorization") == "Basic dXNlcjpwDQp3/w==")
    let refused = Client().get("http://user:secret@127.0.0.1:1/x")
    #expect(refused.errorName == "cannot_connect_to_host")
    #expect(refused.error?.url == "http://127.0.0.1:1/x")
    #expect(refused.error.map { "\($0)".contains("secret") } == false)
  }

  @Test("A body is sent again over 307; a reader that has been read is asked for anew")
  func replay() throws {
    let server = try ScriptedServer.answering { request, _ in
      request.target == "/a" ? reply("307 T", ["Location: /b"]) : reply("201 Created", [], request.text)
    }
    defer { server.stop() }
    let directory = try TemporaryDirectory()
    let text = String(repeating: "0123456789abcdef", count: 8192)
    let path = directory.write("body", text)
    let client = Client()
    client.answer = { event, core in
      switch event {
      case .needsBodyChunk(let id, _):
        let next = client.chunks.isEmpty ? nil : Bytes(client.chunks.removeFirst())
        core.submit(.answer(id, .bodyChunk(next)))
      case .needsBodyStream(let id):
        client.chunks = [text]
        core.submit(.answer(id, .newBody(.reader(length: nil))))
      default: break
      }
    }
    for body in [RequestBody.data(Bytes(text)), .file(path: path), .parts([.file(path: path)])] {
      #expect(client.run(Request(method: "PUT", url: server.url("/a"), body: body)).text == text)
    }
    client.chunks = [text]
    let lost = client.run(Request(method: "PUT", url: server.url("/a"), body: .reader(length: nil)))
    #expect(lost.errorName == "request_body_stream_exhausted")
    client.chunks = [text]
    let renewed = client.run(Request(method: "PUT", url: server.url("/a"), body: .reader(length: nil))) {
      $0.interest = .newBody
    }
    #expect(renewed.error == nil)
    #expect(renewed.text == text)
    #expect(!server.requests.contains { $0.target == "/b" && $0.text != text })
  }

  @Test("A reader's failure is the task's, and a missing file is named")
  func failures() throws {
    let server = try ScriptedServer.answering { _, _ in reply() }
    defer { server.stop() }
    let client = Client()
    client.answer = { event, core in
      if case .needsBodyChunk(let id, _) = event {
        core.submit(.answer(id, .bodyFailed(TaskError(.unknown, domain: .script, "reader broke"))))
      }
    }
    let failed = client.run(Request(method: "POST", url: server.url(), body: .reader(length: nil)))
    #expect(failed.error?.message == "reader broke")
    client.answer = { event, core in
      if case .needsBodyChunk(let id, _) = event { core.submit(.answer(id, .bodyChunk(nil))) }
    }
    let short = client.run(Request(method: "POST", url: server.url(), body: .reader(length: 5)))
    #expect(short.errorName == "request_body_stream_exhausted")
    let missing = client.run(Request(method: "POST", url: server.url(), body: .file(path: "/nonexistent/x")))
    #expect(missing.errorName == "file_does_not_exist")
    #expect(missing.error?.domain == .url)
    let directory = client.run(Request(method: "POST", url: server.url(), body: .file(path: "/tmp")))
    #expect(directory.errorName == "file_is_directory")
  }

  @Test("Upload progress adds up")
  func progress() throws {
    let server = try ScriptedServer.answering { _, _ in reply() }
    defer { server.stop() }
    let client = Client()
    let size = 300_000
    let body = RequestBody.data(Bytes(String(repeating: "x", count: size)))
    let result = client.run(Request(method: "POST", url: server.url(), body: body)) { $0.interest = .sentBodyData }
    #expect(result.error == nil)
    var sum = 0
    for case .sentBodyData(_, let sent, let total, let expected) in client.events {
      sum += sent
      #expect(total == sum && expected == size)
    }
    #expect(sum == size)
  }

  @Test("100-continue: awaited for large bodies, forced, and a 417 answered without it")
  func expectation() throws {
    let server = try ScriptedServer { peer in
      while let head = peer.readHead() {
        if head.field("expect") != nil, head.target == "/417" {
          peer.send(reply("417 Expectation Failed", [], "no"))
          continue
        }
        if head.field("expect") != nil { peer.send("HTTP/1.1 100 Continue\r\n\r\n") }
        let length = head.field("content-length").flatMap { Int($0) } ?? 0
        guard let body = peer.read(length) else { return }
        peer.send(reply("200 OK", ["X-Expect: \(head.field("expect") ?? "none")"], "\(body.count)"))
      }
    }
    defer { server.stop() }
    let client = Client()
    func post(_ path: String, _ size: Int, _ expect: ExpectContinue) -> Completion {
      let body = RequestBody.data(Bytes(String(repeating: "x", count: size)))
      return client.run(Request(method: "POST", url: server.url(path), body: body)) { $0.expectContinue = expect }
    }
    #expect(post("/", 2_000_000, .automatic).fields("x-expect") == ["100-continue"])
    #expect(post("/", 500_000, .automatic).fields("x-expect") == ["none"])
    #expect(post("/", 10, .always).fields("x-expect") == ["100-continue"])
    #expect(post("/", 2_000_000, .never).fields("x-expect") == ["none"])
    let refused = post("/417", 10, .always)
    #expect(refused.error == nil)
    #expect(refused.text == "10")
    #expect(refused.fields("x-expect") == ["none"])
  }

  @Test("An answer that comes before the body is through is delivered, and the rest not sent", arguments: [200, 413])
  func earlyAnswer(status: Int) throws {
    let server = try ScriptedServer { peer in
      guard peer.readHead() != nil else { return }
      _ = peer.read(100_000)
      peer.send(reply("\(status) Early", [], "enough"))
      peer.waitForEnd()
    }
    defer { server.stop() }
    let client = Client()
    let size = 50_000_000
    let body = RequestBody.data(Bytes(String(repeating: "x", count: size)))
    let result = client.run(Request(method: "POST", url: server.url(), body: body)) { $0.expectContinue = .never }
    #expect(result.error == nil)
    #expect(result.status == status)
    #expect(result.text == "enough")
  }

  @Test("A POST is not repeated on a dying connection")
  func dyingConnection() throws {
    let server = try ScriptedServer { peer in
      while let request = peer.readRequest() {
        if request.target == "/die", peer.index == 0 { return }
        peer.send(reply("200 OK", [], request.text))
      }
    }
    defer { server.stop() }
    let client = Client()
    #expect(client.get(server.url("/warm")).error == nil)
    let result = client.run(Request(method: "POST", url: server.url("/die"), body: .data(Bytes("precious"))))
    #expect(result.errorName == "network_connection_lost")
    #expect(server.requests.map(\.target) == ["/warm", "/die"])
  }

  @Test("An idempotent request is repeated on a fresh connection, with its whole body")
  func repeated() throws {
    let server = try ScriptedServer { peer in
      while let request = peer.readRequest() {
        if request.target == "/die", peer.index == 0 { return }
        peer.send(reply("200 OK", [], request.text))
      }
    }
    defer { server.stop() }
    let client = Client()
    #expect(client.get(server.url("/warm")).error == nil)
    let text = String(repeating: "abc", count: 50_000)
    let result = client.run(Request(method: "PUT", url: server.url("/die"), body: .data(Bytes(text))))
    #expect(result.error == nil)
    #expect(result.text == text)
    #expect(server.requests.map(\.target) == ["/warm", "/die", "/die"])
  }

  @Test("A reader on a dying connection is asked for a new body, or the task says why it cannot go on")
  func repeatedReader() throws {
    for interest in [Interest(), .newBody] {
      let server = try ScriptedServer { peer in
        while let request = peer.readRequest() {
          if request.target == "/die", peer.index == 0 { return }
          peer.send(reply("200 OK", [], request.text))
        }
      }
      defer { server.stop() }
      let client = Client()
      client.chunks = ["precious"]
      client.answer = { event, core in
        switch event {
        case .needsBodyChunk(let id, _):
          core.submit(.answer(id, .bodyChunk(client.chunks.isEmpty ? nil : Bytes(client.chunks.removeFirst()))))
        case .needsBodyStream(let id):
          client.chunks = ["precious"]
          core.submit(.answer(id, .newBody(.reader(length: 8))))
        default: break
        }
      }
      #expect(client.get(server.url("/warm")).error == nil)
      let result = client.run(Request(method: "PUT", url: server.url("/die"), body: .reader(length: 8))) {
        $0.interest = interest
      }
      #expect(result.errorName == (interest.isEmpty ? "request_body_stream_exhausted" : nil))
      #expect(result.text == (interest.isEmpty ? nil : "precious"))
    }
  }
}
