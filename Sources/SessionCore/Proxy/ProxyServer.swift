import CCurlShim

/// A proxy as a configuration or the environment names it, taken apart here. libcurl goes without the proxy where it
/// cannot take a URL's user and password apart: it is given none that have not been looked at.
final class ProxyServer: Sendable {
  /// What libcurl is given, with user and password; "" is none.
  let url: String
  /// The same without these.
  let bareURL: String
  /// Where it is, as a protection space names it.
  let place: Place?
  /// User and password in its URL.
  let credentials: (user: Octets, password: Octets)?
  /// Why nothing may go through it. Says nothing of the URL, which may have a password anywhere.
  let problem: String?

  static let none = ProxyServer(bare: "")

  /// More than any server takes as a field, and less than libcurl refuses as an option.
  private static let longestURL = 1 << 16
  private static let schemes: Set = ["http", "https", "socks", "socks4", "socks4a", "socks5", "socks5h"]

  var isNone: Bool { url.isEmpty }
  /// It is spoken to in HTTP.
  var speaksHTTP: Bool { place?.scheme == "http" || isSecure }
  /// It is spoken to by TLS.
  var isSecure: Bool { place?.scheme == "https" }
  var isSOCKS: Bool { place != nil && !speaksHTTP }

  /// As curl has it, a proxy without a scheme speaks HTTP, and is at port 1080 where none is given.
  static func make(_ text: String) -> ProxyServer {
    if text.isEmpty { return .none }
    let url = hasScheme(text) ? text : "http://\(text)"
    guard url.utf8.count <= longestURL else { return ProxyServer(bare: url, problem: "the proxy's URL is too long") }
    let parsed = URLHandle()
    guard parsed.setAny(url) == CURLUE_OK, let scheme = parsed.get(CURLUPART_SCHEME),
      let host = parsed.get(CURLUPART_HOST)
    else { return ProxyServer(bare: url, problem: "what names the proxy is no URL") }
    let port = parsed.get(CURLUPART_PORT).flatMap { Int($0) } ?? (scheme == "https" ? 443 : 1080)
    let place = Place(scheme: scheme, host: host, port: port)
    guard schemes.contains(scheme) else {
      let kinds = "http, https, socks4, socks4a, socks5 or socks5h"
      return ProxyServer(bare: url, place: place, problem: "a proxy speaks \(kinds), not \(scheme)")
    }
    let (user, password) = (parsed.get(CURLUPART_USER), parsed.get(CURLUPART_PASSWORD))
    guard user != nil || password != nil else { return ProxyServer(bare: url, place: place) }
    let credentials = (PercentEncoding.octets(user ?? ""), PercentEncoding.octets(password ?? ""))
    guard isTakable(credentials.0, credentials.1) else {
      let problem = "a control character in the user or the password of the proxy's URL"
      return ProxyServer(bare: url, place: place, problem: problem)
    }
    guard !scheme.hasPrefix("http") || RequestCheck.isBasicUser(credentials.0) else {
      return ProxyServer(bare: url, place: place, problem: "the proxy's URL: \(RequestCheck.colonInUser)")
    }
    _ = parsed.set(CURLUPART_USER, nil)
    _ = parsed.set(CURLUPART_PASSWORD, nil)
    guard let bare = parsed.get(CURLUPART_URL) else { return ProxyServer(bare: url, problem: "no memory for a URL") }
    return ProxyServer(bare: bare, place: place, credentials: credentials)
  }

  private init(
    bare bareURL: String, place: Place? = nil, credentials: (user: Octets, password: Octets)? = nil,
    problem: String? = nil
  ) {
    self.bareURL = bareURL
    self.place = place
    self.credentials = credentials
    self.problem = problem
    url = credentials.map { Self.url(bareURL, $0.user, $0.password) } ?? bareURL
  }

  /// Its URL with this user and password. Only there libcurl takes them as they are: an option it would decode with each
  /// request of a transfer anew.
  func url(user: Octets, password: Octets) -> String { Self.url(bareURL, user, password) }

  /// Whether libcurl finds user and password again in the URL they are put into.
  static func isTakable(_ user: Octets, _ password: Octets) -> Bool {
    RequestCheck.isFieldText(user) && RequestCheck.isFieldText(password)
  }

  private static func url(_ bare: String, _ user: Octets, _ password: Octets) -> String {
    guard let scheme = URLParts.leadingScheme(bare) else { return bare }
    let rest = bare.dropFirst(scheme.count + 3)
    return "\(scheme)://\(encoded(user)):\(encoded(password))@\(rest)"
  }

  private static func encoded(_ octets: Octets) -> String {
    octets.bytes.withUnsafeBytes { String(decoding: PercentEncoding.encode($0), as: UTF8.self) }
  }

  private static func hasScheme(_ text: String) -> Bool {
    URLParts.leadingScheme(text).map { text.dropFirst($0.count).hasPrefix("://") } ?? false
  }
}

extension Session {
  /// What libcurl is given of a proxy. One of SOCKS asks nobody, and so gets at once who is stored for it.
  func url(of proxy: ProxyServer) -> String {
    guard proxy.isSOCKS, proxy.credentials == nil, let place = proxy.place, let storage = credentialStorage,
      storage.mayHold(core.now)
    else { return proxy.url }
    let pattern = SpacePattern(host: place.host, port: place.port, scheme: place.scheme, isProxy: true)
    guard case .password(let user, let password)? = storage.defaultCredential(for: pattern)?.secret,
      ProxyServer.isTakable(user, password)
    else { return proxy.url }
    return proxy.url(user: user, password: password)
  }
}
