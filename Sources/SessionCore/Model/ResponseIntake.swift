/// Collects the header lines libcurl delivers into the head of the last response.
///
/// A status line begins a new head, so that the fields of interim (1xx) responses, and of responses libcurl answers
/// by itself, never get into the final one. Lines after the empty line are trailers.
struct ResponseIntake {
  enum Line {
    /// A status line, field or trailer.
    case part
    /// The empty line after a head.
    case endOfHead
  }

  private(set) var status = 0
  private(set) var reason = ""
  private(set) var httpVersion = "1.1"
  private(set) var block = Bytes()
  /// Fields after a chunked body, if there were any.
  private(set) var trailers: Bytes?
  private(set) var contentLength = -1
  private(set) var isChunked = false
  private(set) var hasContentEncoding = false
  private(set) var hasLocation = false
  /// A field that says what the body's digest is.
  private(set) var hasDigest = false
  /// Something in the head says how long it holds, or identifies the representation.
  private(set) var hasCachingFields = false
  /// It is a stored response.
  var isFromCache = false
  private(set) var hasSetCookie = false
  private(set) var hasTransportSecurity = false
  private(set) var hasAlternativeService = false
  private(set) var isHeadComplete = false

  var isInterim: Bool { status >= 100 && status < 200 && status != 101 }

  /// A field of this head has been received.
  var isInHead: Bool { !isHeadComplete && block.count > 0 }

  /// The same head of a response whose body nobody will see.
  var withoutBody: ResponseIntake {
    var result = self
    result.contentLength = 0
    result.isChunked = false
    result.hasContentEncoding = false
    return result
  }

  /// Nothing received, for the next request.
  mutating func reset() {
    if status != 0 || block.count != 0 { self = ResponseIntake() }
  }

  mutating func receive(_ line: UnsafeRawBufferPointer) -> Line {
    if status != 0, !isHeadComplete, Self.isWellFormed(line) {
      note(UnsafeRawBufferPointer(rebasing: line[..<(line.count - 2)]))
      block.append(line)
      return .part
    }
    if isHeadComplete || status == 0, Self.isStatusLine(line) {
      reset()
      parseStatusLine(line)
      block.reserve(512)
      return .part
    }
    let text = Self.withoutLineEnd(line)
    if isHeadComplete {
      if !text.isEmpty { appendTrailer(text) }
    } else if text.isEmpty {
      isHeadComplete = true
      if isChunked { contentLength = -1 }
      return .endOfHead
    } else if block.count > 0 || status != 0 {
      append(text)
    }
    return .part
  }

  /// A head has begun and not ended.
  var isWithinHead: Bool { status != 0 && !isHeadComplete }

  /// Takes whole fields of the head under way, each with its CRLF.
  mutating func receive(fields: UnsafeRawBufferPointer) {
    guard block.append(fields) else { return }
    HeaderText.forEachLine(fields) { note($0) }
  }

  /// Takes a head that came from elsewhere than a connection.
  mutating func take(_ head: LocalHead) {
    reset()
    status = head.status
    reason = head.reason
    httpVersion = head.httpVersion
    for field in head.headers {
      var line = Array("\(field.name): ".utf8) + field.value
      line.withUnsafeBytes { note($0) }
      line += [0x0D, 0x0A]
      line.withUnsafeBytes { _ = block.append($0) }
    }
    isHeadComplete = true
    if isChunked { contentLength = -1 }
  }

  /// What a 416 means whose Content-Range says that all bytes are there already: the file is whole.
  mutating func markWhole() {
    status = 200
    reason = "OK"
  }

  /// The head as a value.
  func head(url: String) -> ResponseHead {
    ResponseHead(
      status: status, reason: reason, httpVersion: httpVersion, url: url, headerBlock: block,
      expectedContentLength: contentLength, isFromCache: isFromCache)
  }

  private mutating func append(_ text: UnsafeRawBufferPointer) {
    if let first = text.first, first == 0x20 || first == 0x09, block.count > 0 {
      // obs-fold (RFC 9112 §5.2) reads as one space.
      block.removeLast(2)
      block.append(byte: 0x20)
      block.append(HeaderText.trimmed(text))
    } else {
      note(text)
      block.append(text)
    }
    block.appendLineEnd()
  }

  /// A field line that goes into the block as it is.
  @inline(__always)
  private static func isWellFormed(_ line: UnsafeRawBufferPointer) -> Bool {
    let count = line.count
    return count > 2 && line[count - 1] == 0x0A && line[count - 2] == 0x0D && line[0] > 0x20
  }

  private mutating func appendTrailer(_ text: UnsafeRawBufferPointer) {
    let block = trailers ?? Bytes()
    trailers = block
    block.append(text)
    block.appendLineEnd()
  }

  /// Remembers what the core itself must look at.
  private mutating func note(_ field: UnsafeRawBufferPointer) {
    guard let first = field.first else { return }
    switch first | 0x20 {
    case UInt8(ascii: "a"): if HeaderText.isField("alt-svc", field) { hasAlternativeService = true }
    case UInt8(ascii: "c"):
      if let value = HeaderText.value(of: "content-length", in: field) {
        contentLength = HeaderText.number(value) ?? -1
      } else if HeaderText.isField("content-encoding", field) {
        hasContentEncoding = true
      } else if HeaderText.isField("content-digest", field) {
        hasDigest = true
      } else if HeaderText.isField("cache-control", field) {
        hasCachingFields = true
      }
    case UInt8(ascii: "e"):
      if HeaderText.isField("etag", field) || HeaderText.isField("expires", field) { hasCachingFields = true }
    case UInt8(ascii: "d"): if HeaderText.isField("digest", field) { hasDigest = true }
    case UInt8(ascii: "r"): if HeaderText.isField("repr-digest", field) { hasDigest = true }
    case UInt8(ascii: "l"):
      if HeaderText.isField("location", field) {
        hasLocation = true
      } else if HeaderText.isField("last-modified", field) {
        hasCachingFields = true
      }
    case UInt8(ascii: "s"):
      if HeaderText.isField("set-cookie", field) {
        hasSetCookie = true
      } else if HeaderText.isField("strict-transport-security", field) {
        hasTransportSecurity = true
      }
    case UInt8(ascii: "t"): if HeaderText.isField("transfer-encoding", field) { isChunked = true }
    default: break
    }
  }

  private mutating func parseStatusLine(_ line: UnsafeRawBufferPointer) {
    let text = Self.withoutLineEnd(line)
    // "HTTP/1.1 200 OK", or "HTTP/2 200 ".
    var index = 5
    while index < text.count, text[index] != 0x20 { index += 1 }
    httpVersion = Self.version(UnsafeRawBufferPointer(rebasing: text[5..<index]))
    while index < text.count, text[index] == 0x20 { index += 1 }
    while index < text.count, let digit = HeaderText.digit(text[index]) {
      status = status * 10 + digit
      index += 1
    }
    guard index < text.count else { return }
    let phrase = HeaderText.trimmed(UnsafeRawBufferPointer(rebasing: text[index...]))
    let isOK = phrase.count == 2 && phrase[0] == UInt8(ascii: "O") && phrase[1] == UInt8(ascii: "K")
    reason = isOK ? "OK" : String(decoding: phrase, as: UTF8.self)
  }

  private static func version(_ text: UnsafeRawBufferPointer) -> String {
    guard text.count == 3, text[0] == UInt8(ascii: "1") else {
      return text.first == UInt8(ascii: "3") ? "3" : text.first == UInt8(ascii: "2") ? "2" : "1.1"
    }
    return text[2] == UInt8(ascii: "0") ? "1.0" : "1.1"
  }

  private static func isStatusLine(_ line: UnsafeRawBufferPointer) -> Bool {
    line.count > 5 && line[0] == UInt8(ascii: "H") && line[1] == UInt8(ascii: "T") && line[2] == UInt8(ascii: "T")
      && line[3] == UInt8(ascii: "P") && line[4] == UInt8(ascii: "/")
  }

  private static func withoutLineEnd(_ line: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
    var count = line.count
    if count > 0, line[count - 1] == 0x0A { count -= 1 }
    if count > 0, line[count - 1] == 0x0D { count -= 1 }
    return UnsafeRawBufferPointer(rebasing: line[..<count])
  }
}
