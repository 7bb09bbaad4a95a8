/// Where a proxy is.
struct ProxyPlace: Equatable {
  let scheme: String
  let host: String
  let port: Int

  /// nil for "" and for what is no URL. Curl takes a proxy without a scheme as HTTP, and without a port as 1080.
  init?(_ proxy: String) {
    guard !proxy.isEmpty else { return nil }
    let text = proxy.contains("://") ? proxy : "http://" + proxy
    guard case .success(let parts) = URLParts.parse(text), let host = parts.host else { return nil }
    scheme = parts.scheme
    self.host = host
    port = parts.port ?? (parts.scheme == "https" ? 443 : 1080)
  }
}
