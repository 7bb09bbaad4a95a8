/// The place a request goes to, as cookies see it.
public struct CookiePlace: Equatable, Sendable {
  public var isSecure: Bool
  /// In lower case, an international name in its ASCII form.
  public var host: String
  /// Without query; at least "/".
  public var path: String

  public init(isSecure: Bool, host: String, path: String) {
    self.isSecure = isSecure
    self.host = host.lowercased()
    self.path = path.hasPrefix("/") ? path : "/"
  }

  /// That of a URL; nil where the text is no URL with a host.
  public init?(url: String) {
    guard case .success(let parts) = URLParts.parse(url), let host = parts.host, !host.isEmpty,
      let name = HostName.ascii(host)
    else { return nil }
    self.init(isSecure: HeaderText.equalNames(parts.scheme, "https"), host: name, path: parts.path)
  }

  /// What a cookie without a Path is sent for: the directory (RFC 6265bis §5.1.4).
  var defaultPath: String {
    guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")), slash > path.startIndex else { return "/" }
    return String(path[..<slash])
  }
}

/// The comparisons cookies stand on (RFC 6265bis §5.1).
enum CookieRules {
  /// The host is the domain or below it. (An address is only ever itself.)
  static func host(_ host: String, isIn domain: String) -> Bool {
    if host == domain { return true }
    guard host.utf8.count > domain.utf8.count, host.hasSuffix(domain) else { return false }
    let before = host.utf8.index(host.endIndex, offsetBy: -domain.utf8.count - 1)
    return host.utf8[before] == UInt8(ascii: ".") && !HostName.isAddress(host)
  }

  /// The request's path is the cookie's or below it.
  static func path(_ path: String, isUnder cookiePath: String) -> Bool {
    guard path.utf8.count >= cookiePath.utf8.count, path.utf8.starts(with: cookiePath.utf8) else { return false }
    if path.utf8.count == cookiePath.utf8.count || cookiePath.hasSuffix("/") { return true }
    return path.utf8.dropFirst(cookiePath.utf8.count).first == UInt8(ascii: "/")
  }

  /// Others have names of their own under the domain: no cookie is for all of it.
  static func isPublicSuffix(_ domain: String) -> Bool {
    !HostName.isAddress(domain) && PublicSuffix.isPublicSuffix(domain)
  }

  /// Whether two hosts belong to one site: the same name under a public suffix, or the same host.
  static func isSameSite(_ a: String, _ b: String) -> Bool {
    if a == b { return true }
    guard !HostName.isAddress(a), !HostName.isAddress(b), let site = PublicSuffix.registrableDomain(of: a) else {
      return false
    }
    return site == PublicSuffix.registrableDomain(of: b)
  }

  /// What the prefix of a name promises (§4.1.3). A nameless cookie must not look as if it had such a name.
  static func keepsPromise(_ cookie: Cookie) -> Bool {
    if cookie.name.isEmpty { return !hasPrefix(cookie.value, "__secure-") && !hasPrefix(cookie.value, "__host-") }
    if hasPrefix(cookie.name, "__secure-") { return cookie.isSecure }
    if hasPrefix(cookie.name, "__host-") { return cookie.isSecure && cookie.isHostOnly && cookie.path == "/" }
    return true
  }

  private static func hasPrefix(_ text: [UInt8], _ prefix: String) -> Bool {
    text.count >= prefix.utf8.count && zip(text, prefix.utf8).allSatisfy { HeaderText.lower($0) == $1 }
  }
}

/// When cookies are taken (`HTTPCookie.AcceptPolicy`).
public enum CookieAcceptPolicy: String, Sendable {
  case always
  case never
  /// Only where the host belongs to the site of the request's main document.
  case onlyFromMainDocumentDomain = "only_from_main_document_domain"

  /// - Parameter mainDocument: its host; nil where the request is its own main document.
  func accepts(from host: String, mainDocument: String?) -> Bool {
    switch self {
    case .always: true
    case .never: false
    case .onlyFromMainDocumentDomain: mainDocument.map { CookieRules.isSameSite($0, host) } ?? true
    }
  }
}
