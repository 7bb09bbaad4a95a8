import CCurlShim

/// A URL taken apart (`URLComponents`), on libcurl's parser.
public struct URLParts: Equatable, Sendable {
  /// In lower case, without the colon.
  public var scheme: String
  /// Percent-decoded.
  public var user: String?
  /// Percent-decoded.
  public var password: String?
  /// As written; an IPv6 literal with its brackets.
  public var host: String?
  /// Only where the text has one.
  public var port: Int?
  /// Percent-encoded, as written, dot segments removed.
  public var path: String
  /// Percent-encoded, without the question mark.
  public var query: String?
  /// Percent-encoded, without the hash.
  public var fragment: String?

  /// The parts of a URL that is to be built by `text`.
  public init(
    scheme: String, user: String? = nil, password: String? = nil, host: String?, port: Int? = nil, path: String,
    query: String? = nil, fragment: String? = nil
  ) {
    self.scheme = scheme
    self.user = user
    self.password = password
    self.host = host
    self.port = port
    self.path = path
    self.query = query
    self.fragment = fragment
  }

  /// Why a text is no URL, in libcurl's words.
  public struct Failure: Error, Equatable, Sendable {
    /// `CURLUcode`.
    public let code: Int
    public let message: String

    init(_ code: CURLUcode) {
      self.code = Int(code.rawValue)
      message = String(cString: curl_url_strerror(code))
    }
  }

  /// Takes an absolute URL of any scheme with an authority apart. What a URL cannot have is percent-encoded.
  public static func parse(_ text: String) -> Result<URLParts, Failure> {
    let url = URLHandle()
    let code = url.setAny(text)
    guard code == CURLUE_OK else { return .failure(Failure(code)) }
    return .success(URLParts(of: url))
  }

  /// The parts of a parsed URL.
  init(of url: URLHandle) {
    scheme = url.get(CURLUPART_SCHEME) ?? ""
    user = url.getDecoded(CURLUPART_USER)
    password = url.getDecoded(CURLUPART_PASSWORD)
    host = url.get(CURLUPART_HOST)
    port = url.get(CURLUPART_PORT).flatMap { Int($0) }
    path = url.get(CURLUPART_PATH) ?? "/"
    query = url.get(CURLUPART_QUERY)
    fragment = url.get(CURLUPART_FRAGMENT)
  }

  /// Puts the parts together again (RFC 3986 §5.3) and has the parser look at the result. User and password are
  /// percent-encoded, and in the other parts what would begin the next one.
  public var text: Result<String, Failure> {
    // Only a file's URL has no host (RFC 8089).
    guard let host = host ?? (scheme == "file" ? "" : nil), !host.utf8.contains(where: Self.endsHost) else {
      return .failure(Failure(CURLUE_BAD_HOSTNAME))
    }
    var result = "\(scheme)://"
    if let user { result += PercentEncoding.encode(user) }
    if let password { result += ":\(PercentEncoding.encode(password))" }
    if user != nil || password != nil { result += "@" }
    result += host
    if let port { result += ":\(port)" }
    result += path.hasPrefix("/") || path.isEmpty ? "" : "/"
    result += PercentEncoding.encode(path, only: "?#")
    if let query { result += "?\(PercentEncoding.encode(query, only: "#"))" }
    if let fragment { result += "#\(fragment)" }
    let url = URLHandle()
    let code = url.setAny(result)
    guard code == CURLUE_OK, let whole = url.get(CURLUPART_URL) else { return .failure(Failure(code)) }
    return .success(whole)
  }

  private static func endsHost(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "/"), UInt8(ascii: "?"), UInt8(ascii: "#"), UInt8(ascii: "@"), UInt8(ascii: "\\"): return true
    default: return byte <= 0x20
    }
  }

  /// Resolves a reference against an absolute URL (RFC 3986 §5.2). The base's fragment is never inherited.
  public static func resolve(_ reference: String, against base: String) -> Result<String, Failure> {
    let url = URLHandle()
    let code = url.setAny(base)
    guard code == CURLUE_OK else { return .failure(Failure(code)) }
    return resolve(reference, against: url)
  }

  /// The same against a parsed base, which is changed into the result.
  static func resolve(_ reference: String, against base: URLHandle) -> Result<String, Failure> {
    // An absolute URI without an authority (`mailto:`, `http:g`): strictly, it stands for itself (§5.2.2).
    if leadingScheme(reference) != nil, !hasAuthority(reference) { return .success(reference) }
    _ = base.set(CURLUPART_FRAGMENT, nil)
    var code = CURLUE_OK
    if reference.hasPrefix("#") {
      let fragment = String(reference.dropFirst())
      code = base.set(CURLUPART_FRAGMENT, fragment.isEmpty ? nil : PercentEncoding.encodeRaw(fragment), flags: 0)
    } else if !reference.isEmpty {
      code = base.setAny(reference)
    }
    guard code == CURLUE_OK, let whole = base.get(CURLUPART_URL) else { return .failure(Failure(code)) }
    return .success(whole)
  }

  /// Safe normalisation (RFC 3986 §6.2.2, §6.2.3): scheme and host in lower case, no default port, "/" for an empty
  /// path, no dot segments, hexadecimal digits in upper case, unreserved characters not encoded. Keeps the fragment.
  public static func normalize(_ text: String) -> Result<String, Failure> {
    switch parse(text) {
    case .failure(let failure): return .failure(failure)
    case .success(var parts):
      if let port = parts.port, port == defaultPort(parts.scheme) { parts.port = nil }
      parts.host = parts.host?.lowercased()
      parts.path = PercentEncoding.normalize(parts.path)
      parts.query = parts.query.map(PercentEncoding.normalize)
      parts.fragment = parts.fragment.map(PercentEncoding.normalize)
      // A dot segment may have been hidden by its encoding.
      return parts.text.flatMap { parse($0) }.flatMap { $0.text }
    }
  }

  static func defaultPort(_ scheme: String) -> Int? {
    switch scheme {
    case "http": return 80
    case "https": return 443
    case "ftp": return 21
    default: return nil
    }
  }

  /// The scheme a text begins with, as written.
  static func leadingScheme(_ text: String) -> Substring? {
    guard let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")) else { return nil }
    let scheme = text[..<colon]
    guard let first = scheme.utf8.first, isLetter(first) else { return nil }
    let isScheme = scheme.utf8.allSatisfy { isLetter($0) || isDigit($0) || $0 == 0x2B || $0 == 0x2D || $0 == 0x2E }
    return isScheme ? scheme : nil
  }

  /// Where the path, query or fragment of a URL or reference begins.
  static func authorityEnd(_ text: String) -> String.Index {
    guard hasAuthority(text) else { return text.startIndex }
    let start =
      leadingScheme(text).map { text.utf8.index($0.endIndex, offsetBy: 3) }
      ?? text.utf8.index(text.startIndex, offsetBy: 2)
    return text[start...].utf8.firstIndex { $0 == 0x2F || $0 == 0x3F || $0 == 0x23 } ?? text.endIndex
  }

  private static func hasAuthority(_ text: String) -> Bool {
    guard let scheme = leadingScheme(text) else { return text.hasPrefix("//") }
    return text.dropFirst(scheme.count + 1).hasPrefix("//")
  }

  private static func isLetter(_ byte: UInt8) -> Bool { (byte | 0x20) >= 0x61 && (byte | 0x20) <= 0x7A }
  private static func isDigit(_ byte: UInt8) -> Bool { byte >= 0x30 && byte <= 0x39 }
}

extension URLHandle {
  /// As `set`, after checking for what a C string cannot carry.
  /// What a URL cannot have is percent-encoded here and not by libcurl, which leaves most of it, and writes the digits in
  /// lower case.
  func setAny(_ text: String) -> CURLUcode {
    if text.utf8.contains(0) { return CURLUE_MALFORMED_INPUT }
    guard text.utf8.contains(where: URLTail.mayNeedEncoding) else { return set(text) }
    let scheme = URLParts.leadingScheme(text).map { String($0) } ?? get(CURLUPART_SCHEME)
    let end = URLParts.authorityEnd(text)
    return set(String(text[..<end]) + URLTail.encoded(text[end...], isWebs: scheme.map(RedirectRules.isWeb) ?? false))
  }
}
