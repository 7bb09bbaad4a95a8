import Testing

@testable import SessionCore

@Suite("Content codings")
struct DecodingTests {
  static let text = (0..<3000).map { "line \($0) of a text that is coded\n" }.joined()

  /// The text coded by each library's own encoder.
  static func coded(_ coding: String, _ bytes: [UInt8]) -> [UInt8] {
    switch coding {
    case "gzip": return Deflater.deflate(bytes, windowBits: 31)
    case "deflate": return Deflater.deflate(bytes, windowBits: 15)
    case "raw deflate": return Deflater.deflate(bytes, windowBits: -15)
    case "zstd": return Deflater.zstd(bytes)
    default: return bytes
    }
  }

  private static func serve(_ encoding: String, _ body: [UInt8], chunked: Bool = false) throws -> ScriptedServer {
    try ScriptedServer { peer in
      while peer.readRequest() != nil {
        let framing = chunked ? "Transfer-Encoding: chunked" : "Content-Length: \(body.count)"
        peer.send("HTTP/1.1 200 OK\r\nContent-Encoding: \(encoding)\r\n\(framing)\r\n\r\n")
        if chunked { peer.send("\(String(body.count, radix: 16))\r\n") }
        peer.send(body)
        if chunked { peer.send("\r\n0\r\n\r\n") }
      }
    }
  }

  @Test("Each coding, to memory, to a consumer and to a file", arguments: ["gzip", "deflate", "raw deflate", "zstd"])
  func codings(coding: String) throws {
    let body = Self.coded(coding, Array(Self.text.utf8))
    let server = try Self.serve(coding == "raw deflate" ? "deflate" : coding, body)
    defer { server.stop() }
    let directory = try TemporaryDirectory()
    let client = Client()
    var pieces = ""
    client.answer = { event, core in
      if case .data(let id, let piece, _, _) = event {
        pieces += piece.text
        core.submit(.answer(id, .dataConsumed))
      }
    }
    let memory = client.get(server.url()) { $0.interest = .progress }
    #expect(memory.text == Self.text)
    #expect(memory.bytesReceived == body.count && memory.bytesExpectedToReceive == body.count)
    #expect(client.get(server.url()) { $0.destination = .consumer }.error == nil)
    #expect(pieces == Self.text)
    #expect(client.get(server.url()) { $0.destination = .file(path: "\(directory.path)/out") }.error == nil)
    #expect(directory.read("out") == Self.text)
    let raw = client.get(server.url()) { $0.decompress = false }
    #expect(raw.body?.count == body.count)
    #expect(server.requests.last?.field("accept-encoding") == nil)
    for case .progress(_, let received, let expected) in client.events {
      #expect(received <= expected && expected == body.count)
    }
  }

  @Test("Brotli, from a stream coded by hand")
  func brotli() throws {
    // RFC 7932: window bits 16, one uncompressed meta-block of 5 bytes ("hello"), and an empty last one.
    let body: [UInt8] = [0x0B, 0x02, 0x80, 0x68, 0x65, 0x6C, 0x6C, 0x6F, 0x03]
    let server = try Self.serve("br", body)
    defer { server.stop() }
    #expect(Client().get(server.url()).text == "hello")
    let cut = try Self.serve("br", Array(body.dropLast(3)))
    defer { cut.stop() }
    #expect(Client().get(cut.url()).errorName == "cannot_decode_content_data")
  }

  @Test("A stream that is cut or damaged is an error, not a short success", arguments: ["gzip", "deflate", "zstd"])
  func damaged(coding: String) throws {
    let whole = Self.coded(coding, Array(Self.text.utf8))
    let cut = try Self.serve(coding, Array(whole.dropLast(20)), chunked: true)
    let garbage = try Self.serve(coding, Array("this was never compressed".utf8))
    let directory = try TemporaryDirectory()
    defer {
      cut.stop()
      garbage.stop()
    }
    for server in [cut, garbage] {
      let client = Client()
      client.answer = { event, core in
        if case .data(let id, _, _, _) = event { core.submit(.answer(id, .dataConsumed)) }
      }
      let memory = client.get(server.url())
      #expect(memory.errorName == "cannot_decode_content_data")
      #expect(memory.body == nil && memory.status == 200)
      #expect(client.get(server.url()) { $0.destination = .consumer }.errorName == "cannot_decode_content_data")
      let file = client.get(server.url()) { $0.destination = .file(path: "\(directory.path)/out") }
      #expect(file.errorName == "cannot_decode_content_data")
      #expect(directory.names.isEmpty)
    }
  }

  @Test("Stacked codings, several members, padding, unknown ones")
  func stacked() throws {
    let plain = Array("a text".utf8)
    let rows: [(String, [UInt8], String)] = [
      ("zstd, gzip", Self.coded("gzip", Self.coded("zstd", plain)), "a text"),
      ("gzip", Self.coded("gzip", plain) + Self.coded("gzip", plain), "a texta text"),
      ("x-gzip", Self.coded("gzip", plain) + [0, 0, 0], "a text"),
      ("identity", plain, "a text"), ("GZIP", Self.coded("gzip", plain), "a text"), ("rot13", plain, "a text"),
      ("gzip", [], ""),
    ]
    for (encoding, body, expected) in rows {
      let server = try Self.serve(encoding, body)
      defer { server.stop() }
      let result = Client().get(server.url())
      #expect(result.error == nil, "\(encoding)")
      #expect(result.text == expected, "\(encoding)")
    }
  }

  @Test("A zstd frame whose window is larger than 8 MiB is refused", arguments: [(23, true), (24, false)])
  func zstdWindow(bits: UInt8, isTaken: Bool) throws {
    // The frame's head, with a window and no length, and one block of one byte as it is.
    let server = try Self.serve("zstd", [0x28, 0xB5, 0x2F, 0xFD, 0x00, (bits - 10) << 3, 0x09, 0x00, 0x00, 0x78])
    defer { server.stop() }
    let result = Client().get(server.url())
    #expect(result.error?.code == (isTaken ? nil : .cannotDecodeContentData))
    if isTaken { #expect(result.text == "x") }
  }

  @Test("A piece at a time is pulled through while the input is there, and the rest of it is kept")
  func lentInput() throws {
    let body = Self.coded("gzip", Array(Self.text.utf8))
    let chain = try #require(DecoderChain.make(contentEncodings: ["gzip"]))
    var result: [UInt8] = []
    var output = [UInt8](repeating: 0, count: 1000)
    func pull() -> Int {
      guard case .produced(let count) = output.withUnsafeMutableBytes({ chain.pull(into: $0) }) else {
        Issue.record("must decode")
        return 0
      }
      result += output.prefix(count)
      return count
    }
    for half in [body.prefix(body.count / 2), body.suffix(from: body.count / 2)] {
      // What was lent is not there any more when it is over.
      var lent = Array(half)
      lent.withUnsafeMutableBytes { bytes in
        #expect(chain.feed(UnsafeRawBufferPointer(bytes)) { pull() } > 0)
        for index in bytes.indices { bytes[index] = 0xFF }
      }
    }
    while pull() > 0 {}
    #expect(result == Array(Self.text.utf8))
    #expect(chain.finish() == nil)
  }

  @Test("Two field lines stack like one, and byte by byte input decodes too")
  func chain() throws {
    let plain = Array(Self.text.utf8)
    let body = Self.coded("gzip", Self.coded("deflate", plain))
    let chain = try #require(DecoderChain.make(contentEncodings: ["deflate", "gzip"]))
    var result: [UInt8] = []
    var output = [UInt8](repeating: 0, count: 1000)
    for byte in body {
      withUnsafeBytes(of: byte) { chain.feed($0) {} }
      var isDry = false
      while !isDry {
        guard case .produced(let count) = output.withUnsafeMutableBytes({ chain.pull(into: $0) }) else {
          Issue.record("must decode")
          return
        }
        result += output.prefix(count)
        isDry = count == 0
      }
    }
    #expect(result == plain)
    #expect(chain.finish() == nil)
    #expect(DecoderChain.make(contentEncodings: ["gzip", "unheard-of"]) == nil)
    #expect(DecoderChain.make(contentEncodings: [String(repeating: "gzip,", count: 10)]) == nil)
  }

  @Test("What decodes to very much is held back from a slow consumer, and limited")
  func bomb() throws {
    let body = Self.coded("gzip", [UInt8](repeating: 0x78, count: 20_000_000))
    let server = try Self.serve("gzip", body)
    defer { server.stop() }
    let client = Client()
    #expect(client.get(server.url()) { $0.maximumBody = 1_000_000 }.errorName == "data_length_exceeds_maximum")
    var total = 0
    client.answer = { event, core in
      if case .data(let id, let piece, _, _) = event {
        #expect(piece.count <= 96 * 1024)
        total += piece.count
        core.submit(.answer(id, .dataConsumed))
      }
    }
    #expect(client.get(server.url()) { $0.destination = .consumer }.error == nil)
    #expect(total == 20_000_000)
  }
}
