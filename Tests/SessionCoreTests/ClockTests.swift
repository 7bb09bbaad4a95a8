import Glibc
import Testing

@testable import SessionCore

@Suite("Timeouts, cancelling, suspending", .serialized)
struct ClockTests {
  /// Sends the head and then a byte at intervals, until the client has gone.
  private func drip(head: String, interval: Double, count: Int) throws -> ScriptedServer {
    try ScriptedServer { peer in
      while peer.readRequest() != nil {
        peer.send(head)
        for _ in 0..<count {
          usleep(UInt32(interval * 1e6))
          guard peer.send("x") else { return }
        }
      }
    }
  }

  private func seconds(_ body: () -> Void) -> Double {
    let start = MonotonicClock.now
    body()
    return MonotonicClock.now - start
  }

  @Test("The request timeout is restarted by data, and may be less than a second")
  func requestTimeout() throws {
    let server = try drip(head: "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\n", interval: 0.1, count: 6)
    let silent = try ScriptedServer { peer in
      while peer.readRequest() != nil { peer.send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n12345") }
    }
    defer {
      server.stop()
      silent.stop()
    }
    #expect(Client().get(server.url()) { $0.requestTimeout = 0.3 }.text == "xxxxxx")
    let time = seconds {
      let result = Client().get(silent.url()) { $0.requestTimeout = 0.5 }
      #expect(result.errorName == "timed_out")
      #expect(result.status == 200)
    }
    #expect(time > 0.45 && time < 1)
  }

  @Test("The resource timeout is absolute: over bytes that drip, and over hops")
  func resourceTimeout() throws {
    let body = try drip(head: "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n", interval: 0.05, count: 100)
    let head = try drip(head: "HTTP/1.1 200 OK\r\nX-A: ", interval: 0.05, count: 100)
    let hops = try ScriptedServer { peer in
      while peer.readRequest() != nil {
        usleep(150_000)
        peer.send(reply("302 F", ["Location: /next"]))
      }
    }
    defer { [body, head, hops].forEach { $0.stop() } }
    for server in [body, head, hops] {
      let time = seconds {
        let result = Client().get(server.url()) {
          $0.requestTimeout = 5
          $0.resourceTimeout = 0.5
        }
        #expect(result.errorName == "timed_out")
      }
      #expect(time > 0.45 && time < 0.9)
    }
  }

  @Test("Waiting in the queue does not count, and the limit for a host holds")
  func queue() throws {
    let server = try ScriptedServer { peer in
      while peer.readRequest() != nil {
        usleep(150_000)
        peer.send(reply("200 OK", [], "x"))
      }
    }
    defer { server.stop() }
    let client = Client { $0.maximumConnectionsPerHost = 2 }
    let ids = (0..<8).map { _ in client.start(Request(url: server.url())) { $0.requestTimeout = 0.4 } }
    for id in ids { #expect(client.finish(id).error == nil) }
    #expect(server.connectionCount == 2)
  }

  @Test("Priority goes before age in the queue")
  func priority() throws {
    let server = try ScriptedServer.answering { _, _ in reply() }
    defer { server.stop() }
    let client = Client { $0.maximumConnectionsPerHost = 1 }
    var ids: [TaskID] = []
    for (path, priority) in [("/first", 0.5), ("/low", 0.1), ("/default", 0.5), ("/high", 0.9), ("/later", 0.5)] {
      ids.append(client.start(Request(url: server.url(path))) { $0.priority = priority })
    }
    for id in ids { #expect(client.finish(id).error == nil) }
    #expect(server.requests.map(\.target) == ["/first", "/high", "/default", "/later", "/low"])
  }

  @Test("A cancelled task ends once, with that error, wherever it is")
  func cancel() throws {
    let server = try ScriptedServer { peer in
      while let request = peer.readRequest() {
        switch request.target {
        case "/silent": peer.waitForEnd()
        case "/half":
          peer.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n12345")
          peer.waitForEnd()
        case "/redirect": peer.send(reply("302 F", ["Location: /silent"]))
        default: peer.send(reply("200 OK", [], "x"))
        }
      }
    }
    defer { server.stop() }
    let client = Client { $0.maximumConnectionsPerHost = 1 }
    client.core.submit(.cancelTask(TaskID(99)))
    let active = client.start(Request(url: server.url("/silent")))
    let queued = client.start(Request(url: server.url("/silent")))
    client.core.submit(.cancelTask(queued))
    client.core.submit(.cancelTask(queued))
    #expect(client.finish(queued).errorName == "cancelled")
    client.core.submit(.cancelTask(active))
    #expect(client.finish(active).errorName == "cancelled")

    let half = client.start(Request(url: server.url("/half"))) { $0.destination = .consumer }
    #expect(client.runUntil { if case .data = $0 { true } else { false } })
    client.core.submit(.cancelTask(half))
    client.core.submit(.answer(half, .dataConsumed))
    #expect(client.finish(half).errorName == "cancelled")

    let asking = client.start(Request(url: server.url("/redirect"))) { $0.interest = .redirect }
    #expect(client.runUntil { if case .willRedirect = $0 { true } else { false } })
    client.core.submit(.cancelTask(asking))
    client.core.submit(.answer(asking, .redirect(.followProposed)))
    #expect(client.finish(asking).errorName == "cancelled")
    #expect(client.get(server.url("/ok")).text == "x")
    let completions = client.events.filter { if case .completed = $0 { true } else { false } }
    #expect(completions.count == 5)
  }

  @Test("Suspending stops bytes and clock; resuming goes on where it was")
  func suspend() throws {
    let size = 2_000_000
    let server = try ScriptedServer { peer in
      while peer.readRequest() != nil { peer.send(reply("200 OK", [], String(repeating: "x", count: size))) }
    }
    defer { server.stop() }
    let client = Client()
    var total = 0
    client.answer = { event, core in
      if case .data(let id, let piece, _, _) = event {
        total += piece.count
        core.submit(.answer(id, .dataConsumed))
      }
    }
    let id = client.start(Request(url: server.url())) {
      $0.destination = .consumer
      $0.requestTimeout = 1
    }
    #expect(client.runUntil { if case .data = $0 { true } else { false } })
    client.core.submit(.suspendTask(id))
    let pause = MonotonicClock.now + 1.5
    while MonotonicClock.now < pause { client.turn(until: pause) }
    let atPause = total
    #expect(client.completion(of: id) == nil)
    #expect(atPause < size)
    client.core.submit(.resumeTask(id))
    #expect(client.finish(id).error == nil)
    #expect(total == size)
  }

  @Test("A task suspended before its turn lets others pass")
  func suspendQueued() throws {
    let server = try ScriptedServer.answering { _, _ in reply() }
    defer { server.stop() }
    let client = Client { $0.maximumConnectionsPerHost = 1 }
    let first = client.start(Request(url: server.url("/1")))
    let second = client.start(Request(url: server.url("/2")))
    let third = client.start(Request(url: server.url("/3")))
    client.core.submit(.suspendTask(second))
    #expect(client.finish(first).error == nil)
    #expect(client.finish(third).error == nil)
    client.core.submit(.resumeTask(second))
    #expect(client.finish(second).error == nil)
    #expect(server.requests.map(\.target) == ["/1", "/3", "/2"])
  }

  @Test("Sessions end after their tasks, or with them")
  func invalidation() throws {
    let server = try ScriptedServer { peer in
      while let request = peer.readRequest() {
        if request.target == "/silent" { peer.waitForEnd() }
        peer.send(reply("200 OK", [], "x"))
      }
    }
    defer { server.stop() }
    let finishing = Client()
    let id = finishing.start(Request(url: server.url()))
    finishing.core.submit(.invalidateSession(finishing.session, cancellingTasks: false))
    #expect(finishing.finish(id).error == nil)
    #expect(finishing.runUntil { if case .sessionInvalidated = $0 { true } else { false } })
    #expect(finishing.get(server.url()).errorName == "cancelled")

    let cancelling = Client()
    let silent = cancelling.start(Request(url: server.url("/silent")))
    cancelling.turn(until: MonotonicClock.now)
    cancelling.core.submit(.invalidateSession(cancelling.session, cancellingTasks: true))
    #expect(cancelling.finish(silent).errorName == "cancelled")
    guard case .sessionInvalidated? = cancelling.events.last else {
      Issue.record("the session's end must be the last event")
      return
    }
  }

  @Test("Waits with a deadline in the past still move transfers")
  func busyCaller() throws {
    let server = try ScriptedServer.answering { _, _ in reply("200 OK", [], "x") }
    defer { server.stop() }
    let client = Client()
    let id = client.start(Request(url: server.url()))
    let limit = MonotonicClock.now + 5
    while client.completion(of: id) == nil, MonotonicClock.now < limit { client.turn(until: 0) }
    #expect(client.completion(of: id)?.text == "x")
  }

  @Test("The wake descriptor ends a wait")
  func wake() {
    let client = Client()
    var one: UInt64 = 1
    #expect(write(client.core.wakeDescriptor, &one, 8) == 8)
    var events: [Event] = []
    let time = seconds { client.core.wait(until: MonotonicClock.now + 5, into: &events) }
    #expect(time < 1 && events.isEmpty)
  }

  @Test("Closing idle connections makes the next request connect anew")
  func closeIdle() throws {
    let server = try ScriptedServer.answering { _, _ in reply() }
    defer { server.stop() }
    let client = Client()
    #expect(client.get(server.url()).error == nil)
    client.core.submit(.closeIdleConnections(client.session))
    #expect(client.get(server.url()).error == nil)
    #expect(server.connectionCount == 2)
  }
}
