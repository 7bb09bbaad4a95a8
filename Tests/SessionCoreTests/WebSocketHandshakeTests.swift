import Testing

@testable import SessionCore

@Suite("The opening of a WebSocket")
struct WebSocketHandshakeTests {
  private static let accept = "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n"

  private static func handshake(_ protocols: [String] = []) -> WebSocketHandshake {
    WebSocketHandshake(protocols: protocols, nonce: Array("the sample nonce".utf8))
  }

  private static func check(_ fields: String, _ protocols: [String] = []) -> WebSocketHandshake.Agreement? {
    let block = "Upgrade: WebSocket\r\nConnection: keep-alive, Upgrade\r\n" + accept + fields
    return try? handshake(protocols).check(Bytes(block)).get()
  }

  @Test("RFC 6455's own example")
  func example() {
    #expect(Self.handshake().key == "dGhlIHNhbXBsZSBub25jZQ==")
    #expect(WebSocketHandshake.accept("dGhlIHNhbXBsZSBub25jZQ==") == "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=")
    #expect(Self.check("") == WebSocketHandshake.Agreement())
  }

  @Test("The request's fields take the place of those set by hand")
  func fields() {
    var request = Request(
      url: "http://x/", headers: [HeaderField("connection", "close"), HeaderField("X-Own", "1")])
    Self.handshake(["a", "b"]).apply(to: &request)
    #expect(
      request.headers.map(\.name) == [
        "X-Own", "Connection", "Upgrade", "Sec-WebSocket-Version", "Sec-WebSocket-Key", "Sec-WebSocket-Extensions",
        "Sec-WebSocket-Protocol",
      ])
    #expect(request.headers.last?.value == Array("a, b".utf8))
  }

  @Test("A protocol must be one of those offered, and only one")
  func protocols() {
    #expect(Self.check("Sec-WebSocket-Protocol: b\r\n", ["a", "b"])?.subprotocol == "b")
    #expect(Self.check("Sec-WebSocket-Protocol: c\r\n", ["a", "b"]) == nil)
    #expect(Self.check("Sec-WebSocket-Protocol: a, b\r\n", ["a", "b"]) == nil)
    #expect(Self.check("Sec-WebSocket-Protocol: a\r\n") == nil)
  }

  @Test("Extensions")
  func extensions() {
    func compression(_ value: String) -> WebSocketHandshake.CompressionAgreement? {
      Self.check("Sec-WebSocket-Extensions: \(value)\r\n")?.compression
    }
    #expect(compression("permessage-deflate") == .init())
    #expect(
      compression("permessage-deflate; server_no_context_takeover; client_max_window_bits=\"10\"")
        == .init(serverForgets: true, clientWindow: 10))
    #expect(
      compression("permessage-deflate; server_max_window_bits=8; client_no_context_takeover")?.clientForgets == true)
    for wrong in [
      "permessage-bzip2", "permessage-deflate; x", "permessage-deflate; client_max_window_bits=16",
      "permessage-deflate; client_max_window_bits", "permessage-deflate, permessage-deflate",
      "permessage-deflate; server_no_context_takeover; server_no_context_takeover",
    ] {
      #expect(Self.check("Sec-WebSocket-Extensions: \(wrong)\r\n") == nil, "\(wrong)")
    }
  }

  @Test("Messages survive compression, with and without context, and in every window")
  func compression() throws {
    for clientForgets in [false, true] {
      for window in 8...15 {
        // What one side compresses, the other undoes: both directions of one codec with the same settings.
        let agreement = WebSocketHandshake.CompressionAgreement(
          serverForgets: clientForgets, clientForgets: clientForgets, clientWindow: window)
        let codec = try #require(MessageCompression(agreement))
        for length in [0, 1, 63, 64, 1000, 100_000, 1000] {
          let text = String(repeating: "abcdefghij", count: length / 10 + 1)
          let message = Bytes(String(text.prefix(length)))
          guard let small = codec.deflate(message) else {
            #expect(length < 64 || window == 8)
            continue
          }
          #expect(small.count < length)
          guard case .bytes(let whole) = codec.inflate(small, maximum: length) else {
            Issue.record("not undone: \(length) bytes in a window of \(window)")
            continue
          }
          #expect(whole.text == message.text)
        }
      }
    }
  }

  @Test("What is damaged or too long is told apart")
  func hostile() throws {
    let codec = try #require(MessageCompression(.init()))
    let small = try #require(codec.deflate(Bytes(String(repeating: "x", count: 100_000))))
    guard case .tooLong = codec.inflate(small, maximum: 99_999) else {
      Issue.record("not found to be too long")
      return
    }
    let other = try #require(MessageCompression(.init()))
    let damaged = Bytes()
    [UInt8](repeating: 255, count: 3).withUnsafeBytes { _ = damaged.append($0) }
    guard case .damaged = other.inflate(damaged, maximum: 9) else {
      Issue.record("not found to be damaged")
      return
    }
  }
}
