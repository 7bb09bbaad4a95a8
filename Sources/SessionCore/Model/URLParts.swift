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

  /// Takes an absolute URL of any scheme with an authority apart. Raw UTF-8 and spaces are percent-encoded.
  public static func parse(_ text: String) -> Result<URLParts, Failure> {
    let url = URLHandle()
    let code = url.setAny(text)
    guard code == CURLUE_OK else { return .failure(Failure(code)) }
    return .success(URLParts(of: url))
  }

  /// The parts of a parsed URL.
  init(of url: URLHandle) {
    scheme = url.get(CURLUPART_SCHEME) ?? ""
    user = url.get(CURLUPART_USER, flags: UInt32(CURLU_URLDECODE))
    password = url.get(CURLUPART_PASSWORD, flags: UInt32(CURLU_URLDECODE))
    host = url.get(CURLUPART_HOST)
    port = url.get(CURLUPART_PORT).flatMap { Int($0) }
    path = url.get(CURLUPART_PATH) ?? "/"
    query = url.get(CURLUPART_QUERY)
    fragment = url.get(CURLUPART_FRAGMENT)
  }

  /// Puts the parts together again; user and password are percent-encoded, the other parts taken as they are.
  public var text: Result<String, Failure> {
    let url = URLHandle()
    let encode = UInt32(CURLU_URLENCODE)
    let parts: [(CURLUPart, String?, UInt32)] = [
      (CURLUPART_SCHEME, scheme, UInt32(CURLU_NON_SUPPORT_SCHEME)), (CURLUPART_HOST, host, 0),
      (CURLUPART_USER, user, encode), (CURLUPART_PASSWORD, password, encode),
      (CURLUPART_PORT, port.map { String($0) }, 0), (CURLUPART_PATH, path, 0),
      (CURLUPART_QUERY, query, 0), (CURLUPART_FRAGMENT, fragment, 0),
    ]
    for (part, value, flags) in parts where value != nil {
      let code = url.set(part, value, flags: flags)
      guard code == CURLUE_OK else { return .failure(Failure(code)) }
    }
    guard let whole = url.get(CURLUPART_URL) else { return .failure(Failure(CURLUE_NO_HOST)) }
    return .success(whole)
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
      code = base.set(CURLUPART_FRAGMENT, fragment.isEmpty ? nil : fragment, flags: 0)
    } else if !reference.isEmpty {
      code = base.set(reference)
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

  private static func hasAuthority(_ text: String) -> Bool {
    guard let scheme = leadingScheme(text) else { return text.hasPrefix("//") }
    return text.dropFirst(scheme.count + 1).hasPrefix("//")
  }

  private static func isLetter(_ byte: UInt8) -> Bool { (byte | 0x20) >= 0x61 && (byte | 0x20) <= 0x7A }
  private static func isDigit(_ byte: UInt8) -> Bool { byte >= 0x30 && byte <= 0x39 }
}

extension URLHandle {
  /// As `set`, after checking for what a C string cannot carry.
  func setAny(_ text: String) -> CURLUcode {
    text.utf8.contains(0) ? CURLUE_MALFORMED_INPUT : set(text)
  }
}
