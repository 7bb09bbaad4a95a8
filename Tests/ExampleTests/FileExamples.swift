import TestSupport
import Testing

/// Bytes at /data.bin, half of them at /cut, an error page everywhere else.
private func fileServer(_ body: [UInt8]) throws -> ScriptedServer {
  try ScriptedServer { connection in
    while let request = try connection.readRequest() {
      switch request.path {
      case "/data.bin": try connection.send(Reply(body: body))
      case "/cut":
        try connection.send("HTTP/1.1 200 OK\r\nContent-Length: \(body.count)\r\n\r\n")
        try connection.send(body[..<(body.count / 2)])
        return
      default: try connection.send(Reply(status: "404 Not Found", "no such page"))
      }
    }
  }
}

extension ExampleTests {
  static let backgroundCases = [
    ExampleCase("background_downloads.lua", "gets the files and leaves nothing else") { example in
      let server = try fileServer(body)
      let result = try await example.run([example.directory.path, server.url + "/data.bin", server.url + "/gone"])
      #expect(result.lines.sorted() == ["data.bin: done", "gone: status 404"], "\(result)")
      #expect(result.ending == .exited(1), "\(result)")
      #expect(example.directory.read("data.bin") == body)
      try await example.expect(example.directory.path, prints: [])
    }
  ]

  private static let body = (0..<700_000).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) }

  static let progressCases = [
    ExampleCase("progress.lua", "downloads to the file") { example in
      try await example.expect(
        try Httpbin.shared.get().url + "/bytes/100000", "out.bin", prints: ["out.bin: 100000 bytes"],
        reporting: "out.bin: 100 kB in 0:")
      #expect(example.directory.read("out.bin")?.count == 100_000)
      #expect(example.directory.names == ["out.bin"])
    },
    ExampleCase("progress.lua", "takes the name from the URL and keeps every byte") { example in
      let server = try fileServer(body)
      try await example.expect(
        server.url + "/data.bin?x=1", prints: ["data.bin: 700000 bytes"], reporting: "data.bin: 700 kB in 0:")
      #expect(example.directory.read("data.bin") == body)
    },
    ExampleCase("progress.lua", "a failed download leaves the older file") { example in
      let server = try fileServer(body)
      try example.directory.write("out.bin", "old")
      try await example.expectFailure(server.url + "/gone", "out.bin", saying: "404 Not Found")
      try await example.expectFailure(server.url + "/cut", "out.bin", saying: "out.bin: failed: ")
      #expect(example.directory.read("out.bin") == Array("old".utf8))
      #expect(example.directory.names == ["out.bin"])
    },
    ExampleCase("progress.lua", "a failed download leaves nothing where nothing was") { example in
      let server = try fileServer(body)
      try await example.expectFailure(server.url + "/gone", "out.bin", saying: "404 Not Found")
      try await example.expectFailure(server.url + "/cut", "out.bin", saying: "out.bin: failed: ")
      #expect(example.directory.names == [])
    },
  ]
}
