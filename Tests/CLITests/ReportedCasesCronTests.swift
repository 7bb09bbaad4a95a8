import Glibc
import TestSupport
import Testing

/// Faults users of other clients reported about interrupted downloads and bare environments (B41).
@Suite struct ReportedCasesCronTests {
  static let body = (0..<2_097_152).map { UInt8(truncatingIfNeeded: $0 &* 13 &+ $0 >> 11) }

  /// Sends half of the body, then the rest once the gate is open.
  static func server(_ gate: Gate) throws -> ScriptedServer {
    try ScriptedServer { connection in
      while let request = try connection.readRequest() {
        try connection.send("HTTP/1.1 200 OK\r\nETag: \"e\"\r\nContent-Length: \(body.count)\r\n\r\n")
        try connection.send(body[..<(body.count / 2)])
        if request.target == "/half", !gate.isOpen { return connection.waitForClose() }
        try connection.send(body[(body.count / 2)...])
      }
    }
  }

  static let script = """
    local http = require "http"
    local url, target = ...
    local r, err = http.get(url, { sink = target, progress = function(received)
      if received > 500000 then io.write("half\\n") io.flush() end
    end })
    if not r then io.stderr:write(tostring(err), "\\n") os.exit(1) end
    print("whole")
    """

  struct Interruption: Sendable, CustomTestStringConvertible {
    let signals: [Int32]
    let isOld: Bool
    var testDescription: String { "signals \(signals), \(isOld ? "an older file" : "no file") there" }
  }

  static let interruptions = [[SIGINT], [SIGTERM], [SIGINT, SIGINT], [SIGKILL]].flatMap { signals in
    [false, true].map { Interruption(signals: signals, isOld: $0) }
  }

  @Test("B41: half a download never takes the place of a whole file", arguments: interruptions)
  func interrupted(_ one: Interruption) async throws {
    let gate = Gate()
    let server = try Self.server(gate)
    let directory = try TemporaryDirectory()
    let target = directory.path + "/out.bin"
    if one.isOld { try directory.write("out.bin", "old") }
    let run = Executable(.file(Self.script), arguments: [server.url + "/half", target])
    let running = try run.start()
    #expect(await running.wrote("half"))
    one.signals.forEach { running.signal($0) }
    let result = await running.finish()
    let signal = one.signals[0]
    #expect([.signalled(signal), .exited(128 + signal)].contains(result.ending), "\(result)")
    #expect(directory.read("out.bin") == (one.isOld ? Array("old".utf8) : nil))
    if signal != SIGKILL { #expect(directory.names == (one.isOld ? ["out.bin"] : [])) }
    gate.open()
    let second = try await run.run()
    #expect(second.status == 0 && second.lines.last == "whole", "\(second)")
    #expect(directory.read("out.bin") == Self.body)
    #expect(directory.names == ["out.bin"])
  }

  @Test("B41: works in the bare environment of cron", arguments: [StandardStream.null, .closed])
  func bareEnvironment(stream: StandardStream) async throws {
    let gate = Gate()
    gate.open()
    let server = try Self.server(gate)
    let directory = try TemporaryDirectory()
    let script = try directory.write("job.lua", Self.script)
    var run = Executable(.none, arguments: [script, server.url + "/whole", directory.path + "/out.bin"])
    run.usesBareEnvironment = true
    run.environment = ["PATH": "/usr/bin"]
    run.directory = "/"
    run.streams = [stream, stream, stream]
    #expect(try await run.run().ending == .exited(0))
    #expect(directory.read("out.bin") == Self.body)
    #expect(directory.names == ["job.lua", "out.bin"])
  }
}
