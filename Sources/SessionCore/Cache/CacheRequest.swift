/// A request as the cache looks at it.
struct CacheRequest {
  var method: String
  /// The URL without its fragment (`CacheKey`).
  var key: String
  /// The part of the key that is the session's.
  var realm = ""
  /// All fields that go out, those the session adds included.
  var fields: MessageFields
  var directives: CacheDirectives
  var policy: CachePolicy
  /// Who asks: the Authorization field, or what stands for it; nil for nobody in particular.
  var identity: Octets?
  /// The Cookie field as it goes out, stored cookies included; looked up where a response varies with it.
  var cookies: () -> [UInt8]?

  init(
    method: String = "GET", key: String, fields: MessageFields = MessageFields(),
    policy: CachePolicy = .useProtocolCachePolicy, identity: Octets? = nil, cookies: (() -> [UInt8]?)? = nil
  ) {
    self.method = method
    self.key = key
    self.fields = fields
    self.policy = policy
    self.identity = identity ?? fields.bytes("authorization").map { Octets(bytes: $0) }
    self.cookies = cookies ?? { fields.bytes("cookie") }
    directives = CacheDirectives(fields.all("cache-control"))
    // The older way to say it (RFC 9111 §5.4).
    if directives.isEmpty, fields.tokens("pragma").contains("no-cache") { directives = CacheDirectives(["no-cache"]) }
  }

  var isHead: Bool { HeaderText.equalNames(method, "HEAD") }

  /// What is stored may answer it, or may be brought up to date by its answer.
  var isCacheable: Bool { method == "GET" || isHead }

  /// It may change something on the server (RFC 9110 §9.2.1).
  var isUnsafe: Bool {
    switch method {
    case "GET", "HEAD", "OPTIONS", "TRACE", "PROPFIND", "REPORT", "SEARCH", "QUERY": return false
    default: return !isHead
    }
  }

  /// The part that is asked for, where it is one part of bytes and no condition comes with it.
  var range: RequestedRange? { fields.first("range").flatMap(RequestedRange.init) }

  /// Conditions that a cache cannot judge, or ranges it does not understand: such a request goes past it.
  var isBeyondCache: Bool {
    if ["if-match", "if-unmodified-since", "if-range"].contains(where: fields.has) { return true }
    return fields.has("range") && range == nil
  }

  /// It comes with a condition of its own, to which 304 is the answer.
  var isConditional: Bool { fields.has("if-none-match") || fields.has("if-modified-since") }
}

/// One range of a Range field (RFC 9110 §14.1.2).
enum RequestedRange: Equatable {
  case from(Int)
  case bounded(ClosedRange<Int>)
  /// So many bytes at the end.
  case suffix(Int)

  init?(_ value: String) {
    let parts = value.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2, HeaderText.equalNames(MessageFields.trimmed(parts[0]), "bytes") else { return nil }
    let bounds = parts[1].split(separator: "-", omittingEmptySubsequences: false).map(MessageFields.trimmed)
    guard bounds.count == 2 else { return nil }
    switch (Self.number(bounds[0]), Self.number(bounds[1])) {
    case (let first?, let last?) where first <= last: self = .bounded(first...last)
    case (let first?, nil) where bounds[1].isEmpty: self = .from(first)
    case (nil, let count?) where bounds[0].isEmpty && count > 0: self = .suffix(count)
    default: return nil
    }
  }

  private static func number(_ text: String) -> Int? {
    var text = text
    return text.withUTF8 { HeaderText.number(UnsafeRawBufferPointer($0)) }
  }

  /// The bytes meant of a body of that length; nil where there are none.
  func resolve(length: Int) -> ClosedRange<Int>? {
    guard length > 0 else { return nil }
    switch self {
    case .from(let first): return first < length ? first...(length - 1) : nil
    case .bounded(let range):
      return range.lowerBound < length ? range.lowerBound...min(range.upperBound, length - 1) : nil
    case .suffix(let count): return max(0, length - count)...(length - 1)
    }
  }
}

/// The text by which what is stored for a URL is found.
enum CacheKey {
  /// Scheme and host in lower case, no user information, no default port, no fragment, "/" for an empty path.
  ///
  /// - Parameter realm: Where a session's requests end up elsewhere than the URL says; "" for the usual place.
  static func make(_ url: String, realm: String = "") -> String {
    let whole = url.utf8.firstIndex(of: UInt8(ascii: "#")).map { String(url[..<$0]) } ?? url
    let key = isRegular(whole) ? whole : normalised(whole)
    return realm.isEmpty ? key : "\(key) \(realm)"
  }

  /// The realm of a session that sends its requests to a socket, or to addresses of its own choice, or shows who it is
  /// by a certificate: what it finds at a URL is not what others find there.
  static func realm(_ configuration: SessionConfiguration) -> String {
    var parts = configuration.resolve.map { "\($0.0)=\($0.1)" }.sorted()
    if let socket = configuration.unixSocket { parts.append("unix:\(socket)") }
    if let certificate = configuration.clientCertificate { parts.append("certificate:\(certificate.certificate)") }
    return parts.joined(separator: ",")
  }

  private static func isRegular(_ url: String) -> Bool {
    let look = URLLook(url)
    guard look.pathLength > 0, look.isPlain else { return false }
    var colons = 0
    for byte in url.utf8.prefix(look.authorityLength) {
      if byte >= 0x41, byte <= 0x5A { return false }
      if byte == UInt8(ascii: ":") { colons += 1 }
    }
    return colons == 1 || !url.hasPrefix("http://") && !url.hasPrefix("https://") || !hasDefaultPort(url, look)
  }

  private static func hasDefaultPort(_ url: String, _ look: URLLook) -> Bool {
    let authority = url.utf8.prefix(look.authorityLength)
    let port = url.hasPrefix("https:") ? ":443" : ":80"
    return authority.count > port.utf8.count && authority.suffix(port.utf8.count).elementsEqual(port.utf8)
  }

  private static func normalised(_ url: String) -> String {
    guard case .success(var parts) = URLParts.parse(url) else { return url }
    (parts.user, parts.password, parts.fragment) = (nil, nil, nil)
    parts.host = parts.host?.lowercased()
    if parts.port == URLParts.defaultPort(parts.scheme) { parts.port = nil }
    return (try? parts.text.get()) ?? url
  }
}
