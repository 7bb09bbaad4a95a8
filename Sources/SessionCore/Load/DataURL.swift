/// The content of a `data:` URL (RFC 2397, as the fetch standard reads it).
struct DataURL {
  /// The media type, as a Content-Type field.
  var mediaType: String
  var content: [UInt8]

  private static let defaultType = "text/plain;charset=US-ASCII"

  /// The error's text where it is none.
  struct Problem: Error {
    let message: String
  }

  static func isOne(_ url: String) -> Bool {
    URLParts.leadingScheme(url).map { HeaderText.equalNames(String($0), "data") } ?? false
  }

  static func parse(_ url: String) -> Result<DataURL, Problem> {
    let bytes = url.utf8.dropFirst("data:".utf8.count).prefix { $0 != UInt8(ascii: "#") }
    guard let comma = bytes.firstIndex(of: UInt8(ascii: ",")) else {
      return .failure(Problem(message: "a data: URL has a comma before its data"))
    }
    var type = HeaderText.trimmed(String(decoding: bytes[..<comma], as: UTF8.self))
    let encoded = Array(bytes[bytes.index(after: comma)...])
    var content = encoded.withUnsafeBytes { PercentEncoding.decode($0) }
    if let shorter = withoutBase64(type) {
      guard let decoded = content.withUnsafeBytes({ Base64.decode($0) }) else {
        return .failure(Problem(message: "the data of a data: URL are not Base64"))
      }
      content = decoded
      type = shorter
    }
    return .success(DataURL(mediaType: checked(type), content: content))
  }

  /// The media type before `;base64`, or nil where that is not at its end.
  private static func withoutBase64(_ type: String) -> String? {
    guard let semicolon = type.utf8.lastIndex(of: UInt8(ascii: ";")) else { return nil }
    let last = HeaderText.trimmed(String(type[type.utf8.index(after: semicolon)...]))
    return HeaderText.equalNames(last, "base64") ? String(type[..<semicolon]) : nil
  }

  /// A text that is no media type stands for the default one.
  private static func checked(_ text: String) -> String {
    let type = text.hasPrefix(";") ? "text/plain\(text)" : text
    let essence = type.prefix { $0 != ";" }
    let parts = HeaderText.trimmed(String(essence)).split(separator: "/", omittingEmptySubsequences: false)
    let isType = parts.count == 2 && parts.allSatisfy { RequestCheck.isToken(String($0)) }
    return isType && type.utf8.allSatisfy({ $0 >= 0x20 && $0 < 0x7F }) ? type : defaultType
  }
}

/// The load of a response that is in memory from the beginning.
final class MemoryLoad: LocalLoad {
  let fetchType: TransactionMetrics.FetchType
  let isJudged: Bool
  private var head: LocalHead?
  private let content: Bytes
  private var offset = 0

  private static let pieceSize = 64 * 1024

  init(_ head: LocalHead, _ content: Bytes, fetchType: TransactionMetrics.FetchType, isJudged: Bool) {
    self.head = head
    self.content = content
    self.fetchType = fetchType
    self.isJudged = isJudged
  }

  func next() -> LocalStep {
    if let head {
      self.head = nil
      return .response(head)
    }
    guard offset < content.count else { return .finished }
    let end = min(content.count, offset + Self.pieceSize)
    defer { offset = end }
    return .data(content, offset..<end)
  }
}
