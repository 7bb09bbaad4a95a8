import TestSupport
import Testing

/// A page that is not JSON, and a status that is not 2xx.
private func documentServer() throws -> ScriptedServer {
  try ScriptedServer { request in
    switch request.path {
    case "/page": Reply(fields: [("Content-Type", "text/html")], "<p>no JSON")
    case "/list": Reply(fields: [("Content-Type", "application/json")], #"{"b":[10,{"c":"x"}],"a":1.5,"n":null}"#)
    default: Reply(status: "404 Not Found", "nothing here")
    }
  }
}

extension ExampleTests {
  static let getCases = [
    ExampleCase("get_json.lua", "prints what the service answers") { example in
      let url = try Httpbin.shared.get().url + "/get"
      let result = try await example.run([url, "q=lua & C", "page=2"])
      #expect(result.ending == .exited(0), "\(result)")
      #expect(result.lines.contains("args.page = 2"))
      #expect(result.lines.contains("args.q = lua & C"))
      #expect(result.lines.contains("headers.Accept = application/json"))
    },
    ExampleCase("get_json.lua", "every value with its path, in order") { example in
      let server = try documentServer()
      try await example.expect(
        server.url + "/list", prints: ["a = 1.5", "b.1 = 10", "b.2.c = x", "n = null"])
      #expect(server.lines == ["GET /list"])
      #expect(server.requests.first?["Accept"] == "application/json")
    },
    ExampleCase("get_json.lua", "what is no JSON, no success or no server is an error") { example in
      let server = try documentServer()
      try await example.expectFailure(server.url + "/page", saying: "get_json.lua")
      try await example.expectFailure(server.url + "/gone", saying: "404")
      try await example.expectFailure("http://127.0.0.1:\(Listener.deafPort)/", saying: "127.0.0.1")
      try await example.expectFailure(server.url, "query", saying: "'query' is not name=value", status: 2)
    },
  ]

  static let formCases = [
    ExampleCase("post_form.lua", "the service reads the form") { example in
      let result = try await example.run([try Httpbin.shared.get().url + "/post", "user=ann", "note=a & b"])
      #expect(result.ending == .exited(0), "\(result)")
      #expect(result.lines.first == "200 OK")
      let answer = try JSONValue(parsing: Array(result.lines.dropFirst().joined(separator: "\n").utf8))
      #expect(answer["form"] == .object(["user": .string("ann"), "note": .string("a & b")]))
    },
    ExampleCase("post_form.lua", "names repeat and keep their order") { example in
      let server = try ScriptedServer { Reply($0.bodyText) }
      try await example.expect(
        server.url + "/f", "z=1", "a=Zoë", "z=", prints: ["200 OK", "z=1&a=Zo%C3%AB&z="])
      #expect(server.lines == ["POST /f"])
      #expect(server.requests.first?["Content-Type"] == "application/x-www-form-urlencoded")
    },
    ExampleCase("post_form.lua", "a status that is not a success is shown and ends with 1") { example in
      let server = try ScriptedServer { _ in Reply(status: "422 Unprocessable Entity", "user: taken") }
      try await example.expect(
        server.url, "user=ann", prints: ["422 Unprocessable Entity", "user: taken"], status: 1)
    },
  ]

  static let multipartCases = [
    ExampleCase("upload_multipart.lua", "the service reads the file and the field") { example in
      let file = try example.directory.write("notes.txt", "first\nsecond\n")
      let result = try await example.run([try Httpbin.shared.get().url + "/post", file, "hello"])
      #expect(result.ending == .exited(0), "\(result)")
      #expect(result.lines.first == "200 OK")
      let answer = try JSONValue(parsing: Array(result.lines.dropFirst().joined(separator: "\n").utf8))
      #expect(answer["files"]["upload"].string == "first\nsecond\n")
      #expect(answer["form"]["comment"].string == "hello")
    },
    ExampleCase("upload_multipart.lua", "any bytes, the file's name and its type") { example in
      let server = try ScriptedServer { _ in Reply("stored") }
      let bytes = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ $0 >> 9) }
      try example.directory.write("photo.jpg", bytes)
      try await example.expect(server.url + "/up", "photo.jpg", prints: ["200 OK", "stored"])
      let request = try #require(server.requests.first)
      let parts = try #require(MultipartReader.parts(of: request))
      #expect(parts.map(\.name) == ["comment", "upload"])
      #expect(parts.map(\.filename) == [nil, "photo.jpg"])
      #expect(parts.first?.data == [])
      #expect(parts.last?.data == bytes)
      #expect(parts.last?.fields["content-type"] == "image/jpeg")
    },
    ExampleCase("upload_multipart.lua", "without the file nothing is sent") { example in
      let server = try ScriptedServer { _ in Reply() }
      try await example.expectFailure(server.url, "missing.txt", saying: "missing.txt")
      #expect(server.requests.isEmpty)
    },
  ]
}
