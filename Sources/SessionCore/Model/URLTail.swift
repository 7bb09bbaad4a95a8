/// What comes behind a URL's authority, or all of a relative reference: path, query and fragment.
enum URLTail {
  private enum Part {
    case path
    case query
    case fragment
  }

  /// Percent-encodes what a URL cannot have, as browsers do (URL standard §1.3): escapes that are there stay. NUL and
  /// the other control characters are for the parser to refuse.
  ///
  /// - Parameter isWebs: for http and https, whose sets are known. Of other schemes only spaces and bytes beyond ASCII are.
  static func encoded(_ text: Substring, isWebs: Bool) -> String {
    var part = Part.path
    var result: [UInt8] = []
    result.reserveCapacity(text.utf8.count + 16)
    for byte in text.utf8 {
      switch (byte, part) {
      case (UInt8(ascii: "#"), _): part = .fragment
      case (UInt8(ascii: "?"), .path): part = .query
      default: break
      }
      if isRaw(byte) || isWebs && isEncoded(byte, in: part) {
        PercentEncoding.append(byte, to: &result)
      } else {
        result.append(byte)
      }
    }
    return String(decoding: result, as: UTF8.self)
  }

  /// Whether it is encoded in some part.
  static func mayNeedEncoding(_ byte: UInt8) -> Bool {
    isRaw(byte) || isEncoded(byte, in: .path) || isEncoded(byte, in: .query)
  }

  /// No part can have it.
  private static func isRaw(_ byte: UInt8) -> Bool { byte == 0x20 || byte >= 0x7F }

  /// Whether a part's visible ASCII must be encoded; what ends the part aside.
  private static func isEncoded(_ byte: UInt8, in part: Part) -> Bool {
    switch (byte, part) {
    // " < >
    case (0x22, .path), (0x3C, .path), (0x3E, .path), (0x22, .query), (0x3C, .query), (0x3E, .query): return true
    // ^ ` { }
    case (0x5E, .path), (0x60, .path), (0x7B, .path), (0x7D, .path): return true
    // '
    case (0x27, .query): return true
    // A backslash is no more than data there; servers' parsers do not agree on what it is.
    case (0x5C, .query): return true
    default: return false
    }
  }
}
