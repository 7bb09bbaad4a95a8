/// Where a server or a proxy is, as protection spaces name it.
struct Place: Hashable {
  let scheme: String
  let host: String
  let port: Int

  init(scheme: String, host: String, port: Int) {
    self.scheme = scheme
    self.host = host
    self.port = port
  }

  /// nil for what is no URL with a host.
  init?(_ url: String) {
    guard case .success(let parts) = URLParts.parse(url), let host = parts.host else { return nil }
    self.init(scheme: parts.scheme, host: host, port: parts.port ?? URLParts.defaultPort(parts.scheme) ?? 0)
  }

  /// nil for "". As curl has it, a proxy without a scheme speaks HTTP, and is at port 1080 where none is given.
  init?(proxy: String) {
    guard let parts = Self.parts(proxy: proxy), let host = parts.host else { return nil }
    self.init(scheme: parts.scheme, host: host, port: parts.port ?? (parts.scheme == "https" ? 443 : 1080))
  }

  /// User and password of a proxy's URL.
  static func credentials(proxy: String) -> (user: String, password: String)? {
    guard proxy.contains("@"), let parts = parts(proxy: proxy), let user = parts.user else { return nil }
    return (user, parts.password ?? "")
  }

  /// The proxy's URL without them.
  static func withoutCredentials(proxy: String) -> String {
    guard proxy.contains("@"), var parts = parts(proxy: proxy) else { return proxy }
    parts.user = nil
    parts.password = nil
    return (try? parts.text.get()) ?? proxy
  }

  private static func parts(proxy: String) -> URLParts? {
    guard !proxy.isEmpty else { return nil }
    return try? URLParts.parse(proxy.holds("://") ? proxy : "http://" + proxy).get()
  }
}
