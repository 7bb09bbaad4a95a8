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
}
