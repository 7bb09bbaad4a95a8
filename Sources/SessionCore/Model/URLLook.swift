import Glibc

/// One quick look at a URL's text, to save parsing it where there is nothing to be found out.
struct URLLook {
  /// How many bytes come before the path (or query, or fragment): scheme and authority.
  private(set) var authorityLength = 0
  /// How many bytes of path come behind the authority.
  private(set) var pathLength = 0
  /// A control character, which no URL may have (RFC 3986 §2).
  private(set) var hasControlCharacter = false
  private(set) var hasUserInformation = false
  /// It has, or may have, what must be percent-encoded (`URLTail`).
  private(set) var needsEncoding = false
  /// Path and query are what the parser would make of them: no dot segments, escapes or fragment, and none is empty.
  private(set) var isRegular = true

  init(_ text: String) {
    text.withBytes { scan($0) }
  }

  /// A URL's text is taken as it is by libcurl's parser.
  var isPlain: Bool { !needsEncoding && !hasUserInformation }

  private mutating func scan(_ text: UnsafeRawBufferPointer) {
    var index = scanAuthority(text)
    authorityLength = index
    while index < text.count {
      let byte = text[index]
      if !Self.isHarmless(byte, except: UInt8(ascii: ".")) {
        if byte == UInt8(ascii: "?") { break }
        note(byte)
        // A segment that begins with a dot may be one that goes away.
        if byte == UInt8(ascii: "."), text[index - 1] == UInt8(ascii: "/") { isRegular = false }
      }
      index += 1
    }
    pathLength = index - authorityLength
    let queryStart = index
    while index < text.count {
      note(text[index])
      index += 1
    }
    if pathLength == 0 || index == queryStart + 1 { isRegular = false }
  }

  /// Looks at what comes before the path, and gives its length.
  private mutating func scanAuthority(_ text: UnsafeRawBufferPointer) -> Int {
    var index = 0
    var slashes = 0
    if Self.beginsWithHTTP(text) { (index, slashes) = (7, 2) }
    while index < text.count {
      let byte = text[index]
      index += 1
      if Self.isHarmless(byte, except: UInt8(ascii: "/")) { continue }
      switch byte {
      case UInt8(ascii: "/"):
        // libcurl takes three slashes for two.
        if slashes == 2, text[index - 2] == UInt8(ascii: "/") { continue }
        slashes += 1
        if slashes == 3 { return index - 1 }
      case UInt8(ascii: "?"), UInt8(ascii: "#"): return index - 1
      case UInt8(ascii: "@"): hasUserInformation = true
      default: note(byte)
      }
    }
    return text.count
  }

  private static func beginsWithHTTP(_ text: UnsafeRawBufferPointer) -> Bool {
    guard text.count > 7, let start = text.baseAddress else { return false }
    return memcmp(start, "http://", 7) == 0
  }

  /// Most bytes: letters and what is from "-" to ":", which is digits and `- . / :`; but for one of them.
  @inline(__always)
  private static func isHarmless(_ byte: UInt8, except exception: UInt8) -> Bool {
    (byte | 0x20) &- 0x61 < 26 || byte &- 0x2D < 14 && byte != exception
  }

  @inline(__always)
  private mutating func note(_ byte: UInt8) {
    // A bit for each character that is looked at: controls, space, DEL and " # % ' < > \ ^ ` { }. A test of one bit costs
    // no more, however many there are.
    let special: UInt64 = byte < 0x40 ? 0x5000_00AD_FFFF_FFFF : 0xA800_0001_5000_0000
    if byte >= 0x80 || special >> (byte & 0x3F) & 1 != 0 { noteSpecial(byte) }
  }

  private mutating func noteSpecial(_ byte: UInt8) {
    switch byte {
    // # %
    case 0x23, 0x25: isRegular = false
    // A backslash is encoded in the query only.
    case 0x5C: (isRegular, needsEncoding) = (false, true)
    default:
      needsEncoding = true
      if byte < 0x20 || byte == 0x7F { hasControlCharacter = true }
    }
  }
}

/// Tells a URL of a scheme that is not spoken here from a text that is no URL.
enum SchemeCheck {
  static func problem(with url: String) -> TaskError? {
    if url.hasPrefix("http://") || url.hasPrefix("https://") { return nil }
    guard let scheme = URLParts.leadingScheme(url) else {
      return TaskError(.badURL, "not an absolute URL", aboutURL: url)
    }
    if RedirectRules.isWeb(String(scheme)) { return nil }
    // "host:80/x" is a URL without a scheme, as people write it.
    let rest = url.dropFirst(scheme.count + 1)
    if scheme.contains(".") || rest.first?.isNumber == true {
      return TaskError(.badURL, "not an absolute URL", aboutURL: url)
    }
    return TaskError(.unsupportedURL, "unsupported URL scheme \(scheme)", aboutURL: url)
  }
}
