import COpenSSL

/// The opening of a WebSocket (RFC 6455 §4): what the request says and what the answer must.
struct WebSocketHandshake {
  let protocols: [String]
  let key: String

  /// What the answer has settled.
  struct Agreement: Equatable {
    /// "" is none.
    var subprotocol = ""
    /// nil: messages are not compressed.
    var compression: CompressionAgreement?
  }

  /// The parameters of permessage-deflate (RFC 7692 §7.1).
  struct CompressionAgreement: Equatable {
    /// The server forgets what it has sent after each message; we do.
    var serverForgets = false
    var clientForgets = false
    /// The exponent of our window's size.
    var clientWindow = 15
  }

  /// `nonce`: 16 bytes by chance.
  init(protocols: [String], nonce: [UInt8]) {
    self.protocols = protocols
    key = Self.base64(nonce)
  }

  private static let ownFields = [
    "connection", "upgrade", "sec-websocket-key", "sec-websocket-version", "sec-websocket-protocol",
    "sec-websocket-extensions",
  ]

  /// The fields of the request, in place of any of these names that it has.
  func apply(to request: inout Request) {
    request.headers.removeAll { field in Self.ownFields.contains { HeaderText.equalNames($0, field.name) } }
    request.headers += [
      HeaderField("Connection", "Upgrade"), HeaderField("Upgrade", "websocket"),
      HeaderField("Sec-WebSocket-Version", "13"), HeaderField("Sec-WebSocket-Key", key),
      HeaderField("Sec-WebSocket-Extensions", "permessage-deflate; client_max_window_bits"),
    ]
    if !protocols.isEmpty {
      request.headers.append(HeaderField("Sec-WebSocket-Protocol", protocols.joined(separator: ", ")))
    }
  }

  /// Looks at the fields of a 101 answer: what it settles, or what is wrong with it.
  func check(_ block: Bytes) -> Result<Agreement, TaskError> {
    func tokens(_ name: StaticString) -> [String] {
      HeaderText.values(of: name, in: block).flatMap { $0.split(separator: ",") }.map { HeaderText.trimmed(String($0)) }
    }
    guard tokens("upgrade").contains(where: { HeaderText.equalNames($0, "websocket") }) else {
      return wrong("it upgrades to something else")
    }
    guard tokens("connection").contains(where: { HeaderText.equalNames($0, "upgrade") }) else {
      return wrong("it has no Connection: Upgrade")
    }
    guard HeaderText.values(of: "sec-websocket-accept", in: block).map(HeaderText.trimmed) == [Self.accept(key)] else {
      return wrong("its Sec-WebSocket-Accept does not belong to the request")
    }
    var agreement = Agreement()
    let chosen = tokens("sec-websocket-protocol")
    guard chosen.count <= 1, chosen.allSatisfy(protocols.contains) else {
      return wrong("it chooses a protocol that was not offered")
    }
    agreement.subprotocol = chosen.first ?? ""
    for extension_ in tokens("sec-websocket-extensions") {
      guard agreement.compression == nil, let compression = Self.compression(extension_) else {
        return wrong("it uses an extension that was not offered: \(extension_)")
      }
      agreement.compression = compression
    }
    return .success(agreement)
  }

  private func wrong(_ what: String) -> Result<Agreement, TaskError> {
    .failure(TaskError(.badServerResponse, "the answer opens no WebSocket: \(what)"))
  }

  /// permessage-deflate with parameters; nil for anything that was not offered.
  private static func compression(_ text: String) -> CompressionAgreement? {
    let parts = text.split(separator: ";").map { HeaderText.trimmed(String($0)) }
    guard parts.first == "permessage-deflate" else { return nil }
    var result = CompressionAgreement()
    var seen: Set<String> = []
    for part in parts.dropFirst() {
      let pair = part.split(separator: "=", maxSplits: 1).map { HeaderText.trimmed(String($0)) }
      guard let name = pair.first, seen.insert(name).inserted else { return nil }
      let value = pair.count == 2 ? pair[1].filter { $0 != "\"" } : nil
      switch (name, value) {
      case ("server_no_context_takeover", nil): result.serverForgets = true
      case ("client_no_context_takeover", nil): result.clientForgets = true
      case ("server_max_window_bits", let bits?):
        guard let number = Int(bits), (8...15).contains(number) else { return nil }
      case ("client_max_window_bits", let bits?):
        guard let number = Int(bits), (8...15).contains(number) else { return nil }
        result.clientWindow = number
      default: return nil
      }
    }
    return result
  }

  /// What the server makes of a key (RFC 6455 §4.2.2).
  static func accept(_ key: String) -> String {
    base64(Hash.sha1.digest(of: Array((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").utf8)))
  }

  private static func base64(_ bytes: [UInt8]) -> String {
    String(decoding: bytes.withUnsafeBytes { Base64.encode($0) }, as: UTF8.self)
  }
}
