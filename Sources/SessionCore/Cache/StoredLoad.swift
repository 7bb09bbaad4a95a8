/// The load of a stored response, or of a part of one.
final class StoredLoad: LocalLoad {
  let fetchType = TransactionMetrics.FetchType.localCache
  let isJudged = true
  private var head: LocalHead?
  private let body: CachedBody?
  /// What is left to be given out.
  private var rest: Range<Int>

  private static let pieceSize = 64 * 1024

  /// - Parameters:
  ///   - body: Nil for an answer without one.
  ///   - range: Of the stored bytes.
  init(_ head: LocalHead, _ body: CachedBody?, _ range: Range<Int>) {
    self.head = head
    self.body = body
    rest = body == nil ? 0..<0 : range
  }

  func next() -> LocalStep {
    if let head {
      self.head = nil
      return .response(head)
    }
    guard let body, !rest.isEmpty else { return .finished }
    switch body {
    case .memory(let bytes):
      let piece = rest.lowerBound..<min(rest.upperBound, rest.lowerBound + Self.pieceSize)
      rest = piece.upperBound..<rest.upperBound
      return .data(bytes, piece)
    case .file(let file):
      guard let piece = file.read(at: rest.lowerBound, rest.count) else {
        return .failed(TaskError(.cannotOpenFile, "the stored response cannot be read any more"))
      }
      rest = (rest.lowerBound + piece.count)..<rest.upperBound
      return .data(piece, 0..<piece.count)
    }
  }
}

extension CacheAnswer {
  /// The head that goes out, and which of the stored bytes.
  func make(_ stored: StoredResponse, now: Double) -> (head: LocalHead, range: Range<Int>?) {
    var head = LocalHead(
      status: stored.status, reason: stored.reason, httpVersion: stored.httpVersion,
      headers: stored.served(at: now).lines)
    switch self {
    case .whole: return (head, 0..<stored.length)
    case .head: return (head, nil)
    case .notModified:
      (head.status, head.reason) = (304, "Not Modified")
      head.headers.removeAll { field in Self.contentFields.contains { HeaderText.equalNames($0, field.name) } }
      return (head, nil)
    case .slice(let bytes):
      (head.status, head.reason) = (206, "Partial Content")
      var fields = MessageFields(head.headers)
      let total = stored.part?.total ?? stored.length
      fields.set("Content-Range", "bytes \(bytes.lowerBound)-\(bytes.upperBound)/\(total)")
      fields.set("Content-Length", String(bytes.count))
      head.headers = fields.lines
      let first = bytes.lowerBound - stored.bounds.lowerBound
      return (head, first..<(first + bytes.count))
    }
  }

  /// What a 304 says nothing of (RFC 9110 §15.4.5).
  private static let contentFields = ["content-length", "content-encoding", "content-type", "content-range"]
}

extension LocalHead {
  /// RFC 9111 §5.2.1.7.
  static var gatewayTimeout: LocalHead {
    LocalHead(status: 504, reason: "Gateway Timeout", headers: [HeaderField("Content-Length", "0")])
  }
}
