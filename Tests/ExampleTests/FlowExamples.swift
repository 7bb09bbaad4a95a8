import TestSupport
import Testing

extension ExampleTests {
  static let mapCases = [
    ExampleCase("parallel_map.lua", "three waits of a second take less than three seconds") { example in
      let url = try Httpbin.shared.get().url + "/delay/1"
      let result = try await example.run(["3", url, url, url])
      #expect(result.ending == .exited(0), "\(result)")
      #expect(result.lines.count == 4 && result.lines.last == "3 of 3", "\(result)")
      #expect(result.lines.dropLast().allSatisfy { $0.wholeMatch(of: /200  \d+  (.+)/)?.1 == url[...] }, "\(result)")
      #expect(result.seconds < 2.9)
    },
    ExampleCase("parallel_map.lua", "never more than the limit, results in the order given") { example in
      let both = Gate()
      let server = try ScriptedServer { connection in
        while let request = try connection.readRequest() {
          // The first two wait for each other, so the script must have both under way.
          if connection.index == 1 { both.open() }
          guard both.wait() else { return }
          try connection.send(Reply(request.path), to: request)
        }
      }
      let urls = (1...6).map { "\(server.url)/\(String(repeating: "x", count: $0))" }
      let result = try await example.run(["2"] + urls)
      #expect(result.lines == urls.enumerated().map { "200  \($0 + 2)  \($1)" } + ["6 of 6"], "\(result)")
      #expect(result.ending == .exited(0))
      #expect(server.peakConnections == 2)
    },
    ExampleCase("parallel_map.lua", "what cannot be had has an error's code") { example in
      let server = try ScriptedServer { _ in Reply("ok") }
      let nobody = "http://127.0.0.1:\(Listener.deafPort)/"
      try await example.expect(
        "4", nobody, server.url, "gopher://x/",
        prints: [
          "cannot_connect_to_host  \(nobody)", "200  2  \(server.url)", "unsupported_url  gopher://x/", "1 of 3",
        ], status: 1)
      try await example.expectFailure("0", server.url, saying: "usage: ", status: 2)
    },
  ]

  static let redirectCases = [
    ExampleCase("redirect_handler.lua", "follows on the same host") { example in
      let origin = try Httpbin.shared.get().url
      try await example.expect(
        origin + "/redirect/2",
        prints: ["302 -> \(origin)/relative-redirect/1", "302 -> \(origin)/get", "200 \(origin)/get"])
    },
    ExampleCase("redirect_handler.lua", "changes what is sent to the next URL") { example in
      let server = try ScriptedServer { $0.path == "/a" ? .redirect(to: "/b") : Reply("there") }
      let origin = server.url
      try await example.expect(origin + "/a", prints: ["302 -> \(origin)/b", "200 \(origin)/b"])
      #expect(server.requests.map { $0["X-Redirected-From"] } == [nil, origin + "/a"])
    },
    ExampleCase("redirect_handler.lua", "does not leave the host") { example in
      let start = try Httpbin.shared.get().url + "/redirect-to?url=http://example.org/"
      try await example.expect(start, prints: ["refused http://example.org/", "302 \(start)"])
    },
  ]

  static let offlineCases = [
    ExampleCase("offline.lua", "the second run needs no network") { example in
      let directory = try TemporaryDirectory()
      let urls: [String]
      do {
        let server = try ScriptedServer {
          $0.path == "/no" ? Reply(status: "404 No", "no") : Reply("body of \($0.path)")
        }
        urls = [server.url + "/a?b", server.url + "/no"]
        try await example.expect(
          directory.path, urls[0], urls[1], prints: ["200  fetched  \(urls[0])", "404  fetched  \(urls[1])"])
      }
      try await example.expect(
        directory.path, urls[0], urls[1],
        prints: ["200  stored   \(urls[0])", "cannot_connect_to_host  -  \(urls[1])"])
    }
  ]

  static let retryCases = [
    ExampleCase("retry.lua", "gives up after the limit") { example in
      let server = try ScriptedServer { _ in Reply(status: "503 Service Unavailable", "busy") }
      try await example.expect(server.url, "2", prints: ["503 after 3 attempts"], status: 1)
      #expect(server.lines == ["GET /", "GET /", "GET /"])
      let service = try Httpbin.shared.get().url
      try await example.expect(service + "/status/503", "1", prints: ["503 after 2 attempts"], status: 1)
      try await example.expect(service + "/status/200", prints: ["200 after 1 attempts"])
    },
    ExampleCase("retry.lua", "waits as long as the server says") { example in
      let server = try ScriptedServer { request in
        request.connection == 0 && request.path == "/slow"
          ? Reply(status: "429 Too Many Requests", fields: [("Retry-After", "1"), ("Connection", "close")])
          : Reply("ok")
      }
      let result = try await example.run([server.url + "/slow"])
      #expect(result.lines == ["200 after 2 attempts"], "\(result)")
      #expect(result.ending == .exited(0))
      #expect(result.seconds >= 1)
    },
    ExampleCase("retry.lua", "asks again when a connection breaks, not when a page is missing") { example in
      let server = try ScriptedServer { connection in
        while let request = try connection.readRequest() {
          if connection.index == 0 { return connection.reset() }
          try connection.send(Reply(status: "404 Not Found"), to: request)
        }
      }
      try await example.expect(server.url, prints: ["404 after 2 attempts"], status: 1)
    },
  ]
}
