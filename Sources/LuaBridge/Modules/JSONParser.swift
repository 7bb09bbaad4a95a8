import CJansson

/// What `json.decode` may be told.
struct JSONDecodingOptions {
  /// What becomes of an integer beyond 64 bits.
  enum BigIntegers: String {
    /// The nearest float.
    case float
    /// A string of its digits.
    case string
  }

  /// The last member of a name counts, instead of an error.
  var acceptsDuplicates = false
  /// nil: such an integer is an error.
  var bigIntegers: BigIntegers?
}

/// jansson's parser, and two things that jansson 2.14 refuses: integers beyond 64 bits and names with U+0000.
///
/// Both are rare, so the text is first parsed as it is; only when jansson refuses it for one of these reasons, a
/// rewritten text is parsed again.
struct JSONParser {
  typealias Document = UnsafeMutablePointer<json_t>

  let options: JSONDecodingOptions

  /// - Returns: a document that the caller owns.
  func parse(_ text: UnsafeRawBufferPointer) throws(JSONFailure) -> Document {
    let start = JSONParser.lengthOfByteOrderMark(text)
    switch load(UnsafeRawBufferPointer(rebasing: text[start...])) {
    case .success(let document): return document
    case .failure(let error): return try parseRewritten(text[start...], after: error, skipped: start)
    }
  }

  /// RFC 8259 §8.1 lets a parser ignore a byte order mark.
  private static func lengthOfByteOrderMark(_ text: UnsafeRawBufferPointer) -> Int {
    text.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
  }

  private func load(_ text: UnsafeRawBufferPointer) -> Result<Document, JanssonError> {
    var error = json_error_t()
    var flags = JSON_DECODE_ANY | JSON_ALLOW_NUL
    if !options.acceptsDuplicates { flags |= JSON_REJECT_DUPLICATES }
    var empty: CChar = 0
    let document = withUnsafePointer(to: &empty) {
      json_loadb(text.baseAddress?.assumingMemoryBound(to: CChar.self) ?? $0, text.count, Int(flags), &error)
    }
    guard let document else { return .failure(JanssonError(error: error)) }
    return .success(document)
  }

  private func parseRewritten(
    _ text: Slice<UnsafeRawBufferPointer>, after first: JanssonError, skipped: Int
  ) throws(JSONFailure) -> Document {
    var error = first
    guard error.isNulInName || error.isOverflow else { throw failure(error, skipped: skipped) }
    var rewriter = JSONRewriter(text)
    while rewrite(&rewriter, for: error) {
      switch rewriter.bytes.withUnsafeBytes(load) {
      case .success(let document):
        if let placeholder = rewriter.placeholder { JSONNulRestorer(placeholder).restore(document) }
        return document
      case .failure(let next): error = next
      }
    }
    throw failure(error, skipped: skipped, rewriter)
  }

  /// False when nothing more can be done about the error.
  private func rewrite(_ rewriter: inout JSONRewriter, for error: JanssonError) -> Bool {
    if error.isNulInName { return rewriter.replaceEscapedNul() }
    if error.isOverflow, let kind = options.bigIntegers { return rewriter.rewriteBigIntegers(as: kind) }
    return false
  }

  private func failure(_ error: JanssonError, skipped: Int, _ rewriter: JSONRewriter? = nil) -> JSONFailure {
    var failure = JSONFailure(parsing: error.error)
    if let place = failure.place, let rewriter { failure.place = rewriter.original(place) }
    failure.place?.position += skipped
    return failure
  }
}

/// jansson's own account of a failure.
private struct JanssonError: Error {
  let error: json_error_t

  private var code: UInt32 { withUnsafeBytes(of: error.text) { UInt32($0[$0.count - 1]) } }
  var isOverflow: Bool { code == json_error_numeric_overflow.rawValue }
  var isNulInName: Bool { code == json_error_null_byte_in_key.rawValue }
}
