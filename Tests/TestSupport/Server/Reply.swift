/// A whole response, for servers that need no control over single bytes.
public struct Reply: Sendable {
  /// Status line without the version, such as "200 OK".
  public var status: String
  /// Fields in the order they are sent.
  public var fields: [(String, String)]
  /// The body; its length is sent as Content-Length unless `fields` names a framing.
  public var body: [UInt8]

  /// A reply with bytes for its body.
  public init(status: String = "200 OK", fields: [(String, String)] = [], body: [UInt8]) {
    self.status = status
    self.fields = fields
    self.body = body
  }

  /// A reply with text for its body.
  public init(status: String = "200 OK", fields: [(String, String)] = [], _ text: String = "") {
    self.init(status: status, fields: fields, body: Array(text.utf8))
  }

  /// A redirect with an empty body.
  public static func redirect(_ status: String = "302 Found", to location: String) -> Reply {
    Reply(status: status, fields: [("Location", location)])
  }

  /// The reply as sent; a HEAD request gets the same fields without the body.
  public func bytes(withBody: Bool = true) -> [UInt8] {
    var head = "HTTP/1.1 \(status)\r\n"
    for (name, value) in fields { head += "\(name): \(value)\r\n" }
    if !hasFraming { head += "Content-Length: \(body.count)\r\n" }
    return latin1Bytes(head + "\r\n") + (withBody ? body : [])
  }

  private var hasFraming: Bool {
    status.hasPrefix("204") || status.hasPrefix("304")
      || fields.contains { ["content-length", "transfer-encoding"].contains($0.0.lowercased()) }
  }
}

/// Bytes cut into chunks of HTTP/1.1 with the final empty one.
public func chunked(_ chunks: [[UInt8]]) -> [UInt8] {
  chunks.flatMap { Array("\(String($0.count, radix: 16))\r\n".utf8) + $0 + [13, 10] } + Array("0\r\n\r\n".utf8)
}
