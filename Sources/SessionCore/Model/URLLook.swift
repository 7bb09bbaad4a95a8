/// One quick look at a URL's text, to save parsing it more than once.
struct URLLook {
  /// The text up to the path: a key for its host.
  let authority: String
  let hasUserInformation: Bool
  /// It has spaces or bytes beyond ASCII.
  let needsEncoding: Bool

  init(_ text: String) {
    var slashes = 0
    var end = text.utf8.endIndex
    var hasAt = false
    var needsEncoding = false
    var index = text.utf8.startIndex
    while index != text.utf8.endIndex {
      let byte = text.utf8[index]
      if byte <= 0x20 || byte >= 0x7F { needsEncoding = true }
      if end == text.utf8.endIndex {
        switch byte {
        case UInt8(ascii: "/"):
          slashes += 1
          if slashes == 3 { end = index }
        case UInt8(ascii: "?"), UInt8(ascii: "#"): end = index
        case UInt8(ascii: "@"): hasAt = true
        default: break
        }
      }
      index = text.utf8.index(after: index)
    }
    authority = String(text[..<end])
    hasUserInformation = hasAt
    self.needsEncoding = needsEncoding
  }
}

/// Tells a URL of a scheme that is not spoken here from a text that is no URL.
enum SchemeCheck {
  static func problem(with url: String) -> TaskError? {
    if url.hasPrefix("http://") || url.hasPrefix("https://") { return nil }
    guard let scheme = URLParts.leadingScheme(url) else { return TaskError(.badURL, "not an absolute URL: \(url)") }
    if RedirectRules.isWeb(String(scheme)) { return nil }
    // "host:80/x" is a URL without a scheme, as people write it.
    let rest = url.dropFirst(scheme.count + 1)
    if scheme.contains(".") || rest.first?.isNumber == true {
      return TaskError(.badURL, "not an absolute URL: \(url)")
    }
    return TaskError(.unsupportedURL, "unsupported URL scheme \(scheme): \(url)")
  }
}
