import TestSupport
import Testing

/// Frames that a server may send, and those it may not, one by one.
@Suite struct WebSocketFrameTests {
  struct Case: Sendable, CustomTestStringConvertible {
    let name: String
    let frames: String
    /// What the first receives give.
    let prints: [String]
    /// The offered extension that the server takes.
    var uses = ""
    var testDescription: String { name }

    init(_ name: String, _ frames: String, uses: String = "", _ prints: String...) {
      self.name = name
      self.frames = frames
      self.prints = prints
      self.uses = uses
    }
  }

  private static let rules = "nil bad_server_response"
  private static let notText = "nil cannot_decode_raw_data"
  private static let tooLong = "nil data_length_exceeds_maximum"

  static let cases = [
    Case("text", "8103616263", "text abc"),
    Case("empty text and empty binary", "81008200", "text ", "binary "),
    Case("a length in two bytes that needs one", "817e0003616263", rules),
    Case("three fragments", "010161000162800163", "text abc"),
    Case("a ping between fragments is answered", "0101618900800162", "text ab"),
    Case("a pong nobody asked for", "8a03616263810161", "text a"),
    Case("UTF-8 cut between fragments", "0102e282" + "8001ac", "text €"),
    Case("text that is not UTF-8", "8101ff", notText),
    Case("text whose last character is cut", "8102e282", notText),
    Case("a surrogate in UTF-8", "8103eda080", notText),
    Case("UTF-8 that goes wrong in a later fragment", "010161800180", notText),
    Case("a reserved opcode", "8300", rules),
    Case("a reserved control opcode", "8b00", rules),
    Case("a reserved bit", "c100", rules),
    Case("another reserved bit", "a100", rules),
    Case("a masked frame", "818000000000", rules),
    Case("a fragmented ping", "090161", rules),
    Case("a ping of 126 bytes", "897e007e" + String(repeating: "00", count: 126), rules),
    Case("a continuation of nothing", "800161", rules),
    Case("a message inside another", "010161810162", rules),
    Case("a length in eight bytes with the highest bit", "817f8000000000000000", rules),
    Case("a length no message may have, and nothing of it", "827f4000000000000000", tooLong),
    Case("such a length after a message", "810161" + "827f0000000000100001", "text a", tooLong),
    Case(
      "a message and a close frame before the connection is closed", "end-" + "810161" + "880203e8", "text a",
      "nil network_connection_lost", "close 1000 "),
    Case(
      "messages before the connection is closed without a close frame", "end-" + "810161" + "810162",
      "text a", "text b", "nil network_connection_lost"),
    Case("closed without a code", "8800", "nil network_connection_lost", "close 1005 "),
    Case("closed with a code and a reason", "880503e8627965", "nil network_connection_lost", "close 1000 bye"),
    Case("a message before the close frame", "810161" + "880203e8", "text a", "nil network_connection_lost"),
    Case("what comes after a close frame is ignored", "880203e8" + "810161", "nil network_connection_lost"),
    Case("closed with half a code", "880103", rules),
    Case("closed with a code that may not be sent", "880203ed", rules),
    Case("closed with a reason that is not UTF-8", "880303e8ff", "nil bad_server_response|nil cannot_decode_raw_data"),
    Case("compressed", "c107f248cdc9c90700", uses: "permessage-deflate", "text Hello"),
    Case(
      "compressed in two fragments", "4103f248cd8004c9c90700", uses: "permessage-deflate", "text Hello"),
    Case(
      "the second message uses the first as its dictionary", "c107f248cdc9c90700" + "c105f200110000",
      uses: "permessage-deflate", "text Hello", "text Hello"),
    Case(
      "without context, the same twice", "c107f248cdc9c90700" + "c107f248cdc9c90700",
      uses: "permessage-deflate;+server_no_context_takeover", "text Hello", "text Hello"),
    Case("a stored block", "c10b000500faff48656c6c6f00", uses: "permessage-deflate", "text Hello"),
    Case("a final block", "c108f348cdc9c9070000", uses: "permessage-deflate", "text Hello"),
    Case("not compressed, although it could be", "810568656c6c6f", uses: "permessage-deflate", "text hello"),
    Case("damaged", "c103ffffff", uses: "permessage-deflate", notText),
    Case("compressed without agreement", "c107f248cdc9c90700", rules),
    Case("an extension that was not offered", "", uses: "x-other", "nil bad_server_response"),
    Case(
      "a parameter that was not offered", "", uses: "permessage-deflate;+other=1", "nil bad_server_response"),
  ]

  @Test("Frames of a server", arguments: cases)
  func frames(_ one: Case) async throws {
    let server = try Self.server.get()
    let script = """
      local session = http.session(http.configuration.ephemeral(), {
        did_close = function(_, task, code, reason) CLOSED = "close " .. code .. " " .. reason end,
      })
      local task = session:web_socket_task(base)
      task:resume()
      for _ = 1, \(one.prints.filter { !$0.hasPrefix("close") }.count) do
        local message, err = task:receive()
        print(message and message.type .. " " .. message.data or "nil " .. err.code)
      end
      if task.state == "running" and not CLOSED then
        -- It still works both ways.
        task:send("again")
        repeat until assert(task:receive()).data:sub(2) == "again"
        task:cancel(1000)
      end
      task:wait()
      if \(one.prints.contains { $0.hasPrefix("close") }) then print(CLOSED) end
      """
    let query = one.uses.isEmpty ? "" : "?\(one.uses)"
    // Short messages are not compressed, so that the server's echo can be read.
    let result = try await runScript(script, ["ws://127.0.0.1:\(server.rawPort)/\(one.frames)\(query)"])
    let matches =
      result.lines.count == one.prints.count
      && zip(result.lines, one.prints).allSatisfy { line, wanted in wanted.split(separator: "|").contains { $0 == line }
      }
    #expect(matches && result.ending == .exited(0), "\(one.prints): \(result)")
  }

  static let server = Result { try WebSocketServer() }

  static let answers = [
    ("200 OK\r\nContent-Length: 0", "the server opens no WebSocket: it answers 200"),
    (
      "101 Switching\r\nUpgrade: other\r\nConnection: upgrade",
      "the answer opens no WebSocket: it upgrades to something else"
    ),
    ("101 Switching\r\nUpgrade: websocket", "the answer opens no WebSocket: it has no Connection: Upgrade"),
    (
      "101 Switching\r\nUpgrade: websocket\r\nConnection: upgrade\r\nSec-WebSocket-Accept: x",
      "the answer opens no WebSocket: its Sec-WebSocket-Accept does not belong to the request"
    ),
  ]

  @Test("Answers that open no WebSocket", arguments: answers)
  func refused(_ answer: String, _ message: String) async throws {
    let server = try ScriptedServer { connection in
      _ = try connection.readRequest()
      try connection.send("HTTP/1.1 \(answer)\r\n\r\n")
      connection.waitForClose()
    }
    let script = """
      local task = http.session(http.configuration.ephemeral()):web_socket_task(base)
      task:resume()
      local _, err = task:receive()
      print(err.code, err.message, err.response and err.response.status)
      print(select(2, task:wait()).code)
      """
    try await expectScript(
      script, [server.url.replacingOccurrences(of: "http:", with: "ws:") + "/chat?x=1"],
      prints: ["bad_server_response\t\(message)\t\(answer.prefix(3))", "bad_server_response"])
    let request = try #require(server.requests.first)
    #expect(request.line == "GET /chat?x=1" && request["Upgrade"] == "websocket")
    #expect(request["Sec-WebSocket-Version"] == "13" && request["Sec-WebSocket-Key"]?.count == 24)
  }

  @Test("A redirect and a password on the way")
  func detour() async throws {
    let server = try Self.server.get()
    let first = try ScriptedServer { _ in .redirect(to: "http://127.0.0.1:\(server.rawPort)/810161") }
    let script = """
      local task = http.session(http.configuration.ephemeral()):web_socket_task(base)
      task:resume()
      print(task:receive().data)
      task:cancel(1000)
      print(task:wait().status)
      """
    try await expectScript(script, [first.url], prints: ["a", "101"])
  }
}
