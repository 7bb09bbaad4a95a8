import TestSupport
import Testing

extension ExampleTests {
  static let streamCases = [
    ExampleCase("tcp_echo.lua", "sends standard input and prints the answer") { example in
      let server = try ScriptedServer { connection in
        while let bytes = try connection.readSome() { try connection.send(bytes) }
      }
      var run = Executable(.none, arguments: [Example.folder + "/" + example.script, "127.0.0.1", "\(server.port)"])
      run.input = Array("one\ntwo\n".utf8)
      let result = try await run.run()
      #expect(result.lines == ["one", "two"] && result.ending == .exited(0), "\(result)")
      try await example.expectFailure(
        "127.0.0.1", "\(Listener.deafPort)", saying: "cannot_connect_to_host", status: 1)
    },
    ExampleCase("web_socket.lua", "messages come back") { example in
      let server = try WebSocketServer()
      try await example.expect("ws://127.0.0.1:\(server.port)/", "one", "two", prints: ["text\tone", "text\ttwo"])
      try await example.expectFailure("ws://127.0.0.1:\(Listener.deafPort)/", "x", saying: "cannot_connect_to_host")
    },
    ExampleCase("smtp_starttls.lua", "a server takes the mail") { example in
      let server = try StreamServer(.smtp)
      let arguments = ["localhost", "\(server.port)", "a@example.org", "b@example.org", "hello"]
      let result = try await example.run(arguments + [server.authority])
      #expect(result.lines == ["250 OK 53"] && result.ending == .exited(0), "\(result)")
      // Lines that begin with a dot come as they are, and none ends the mail.
      let dots = arguments.dropLast() + [".\r\n..\nb", server.authority]
      let dotted = try await example.run(Array(dots))
      #expect(dotted.lines == ["250 OK 56"] && dotted.ending == .exited(0), "\(dotted)")
      let untrusted = try await example.run(arguments)
      #expect(untrusted.ending == .exited(1) && untrusted.stderr.contains("server_certificate_"), "\(untrusted)")
    },
  ]
}
