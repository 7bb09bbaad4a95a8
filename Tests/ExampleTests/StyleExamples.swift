import TestSupport
import Testing

/// Three bytes at /three, a redirect to it at /go, an error page everywhere else.
private func styleServer() throws -> ScriptedServer {
  try ScriptedServer { request in
    switch request.path {
    case "/three": Reply("abc")
    case "/go": .redirect(to: "/three")
    default: Reply(status: "404 Not Found", "nothing here")
    }
  }
}

extension ExampleTests {
  static let styleCases = [
    ExampleCase("style_blocking.lua", "one after another") { example in
      let server = try styleServer()
      try await example.expect(
        server.url + "/three", server.url + "/x",
        prints: ["200\t3\t\(server.url)/three", "404\t12\t\(server.url)/x"])
      #expect(server.lines == ["GET /three", "GET /x"])
      try await example.expectFailure("http://127.0.0.1:\(Listener.deafPort)/", saying: "cannot_connect_to_host")
    },
    ExampleCase("style_callback.lua", "a function is called for each") { example in
      let server = try styleServer()
      let result = try await example.run([server.url + "/three", server.url + "/x"])
      #expect(result.ending == .exited(0), "\(result)")
      #expect(result.lines.sorted() == ["200\t3\t\(server.url)/three", "404\t12\t\(server.url)/x"], "\(result)")
      try await example.expectFailure("http://127.0.0.1:\(Listener.deafPort)/", saying: "cannot_connect_to_host")
    },
    ExampleCase("style_delegate.lua", "one object is told of every step") { example in
      let server = try styleServer()
      try await example.expect(
        server.url + "/go",
        prints: [
          "302\t\(server.url)/go\t->\t\(server.url)/three", "200\t\(server.url)/three", "3 bytes\t\(server.url)/three",
        ])
      try await example.expectFailure("http://127.0.0.1:\(Listener.deafPort)/", saying: "cannot_connect_to_host")
    },
  ]
}
