import Testing

@testable import SessionCore

@Suite("What is left behind", .serialized)
struct ResourceTests {
  @Test("Tasks leave no object and a core leaves no object")
  func objects() throws {
    let server = try ScriptedServer.answering { request, _ in
      request.target == "/go" ? reply("302 F", ["Location: /x"]) : reply("200 OK", [], "x")
    }
    defer { server.stop() }
    weak var core: SessionCore?
    weak var session: Session?
    weak var transfer: Transfer?
    do {
      let client = Client()
      core = client.core
      let hanging = client.start(Request(url: "http://127.0.0.1:\(server.port)/silent"))
      transfer = client.core.transfer(hanging)
      session = transfer?.session
      #expect(transfer != nil && session != nil)
      client.core.submit(.cancelTask(hanging))
      #expect(client.finish(hanging).errorName == "cancelled")
      #expect(transfer == nil)
      for _ in 0..<50 { #expect(client.get(server.url("/go")).text == "x") }
      // Left under way when the core goes.
      transfer = client.core.transfer(client.start(Request(url: server.url("/x"))))
      client.turn(until: MonotonicClock.now)
    }
    #expect(transfer == nil && session == nil && core == nil)
  }

  @Test("A session that ended is gone, queued tasks and all")
  func sessions() throws {
    let server = try ScriptedServer.answering { _, _ in reply() }
    defer { server.stop() }
    let client = Client { $0.maximumConnectionsPerHost = 1 }
    let ids = (0..<20).map { _ in client.start(Request(url: server.url())) }
    weak let session = client.core.transfer(try #require(ids.first))?.session
    #expect(session != nil)
    client.core.submit(.invalidateSession(client.session, cancellingTasks: true))
    for id in ids { #expect(client.finish(id).error != nil || client.completion(of: id) != nil) }
    client.turn(until: MonotonicClock.now)
    #expect(session == nil)
  }

  @Test("Two thousand requests, a hundred at a time, share no more connections than the limit")
  func many() throws {
    let server = try ScriptedServer.answering { _, _ in reply("200 OK", [], "x") }
    defer { server.stop() }
    let client = Client { $0.maximumConnectionsPerHost = 16 }
    #expect(client.get(server.url()).error == nil)
    var good = 0
    for _ in 0..<20 {
      let ids = (0..<100).map { _ in client.start(Request(url: server.url())) }
      for id in ids where client.finish(id).text == "x" { good += 1 }
      client.forget()
    }
    #expect(good == 2000)
    #expect(server.connectionCount <= 16)
  }

  @Test("A Unix socket instead of a host's address")
  func unixSocket() throws {
    let directory = try TemporaryDirectory()
    let path = "\(directory.path)/socket"
    let server = try ScriptedServer(unixPath: path) { peer in
      while let request = peer.readRequest() { peer.send(reply("200 OK", [], request.field("host") ?? "")) }
    }
    defer { server.stop() }
    let client = Client { $0.unixSocket = path }
    #expect(client.get("http://service/x").text == "service")
  }
}
