import Glibc

/// Which proxy a URL's requests go through, decided as curl does.
struct ProxyRules {
  private let http: String
  private let https: String
  private let bypass: ProxyBypass

  init(_ configuration: ProxyConfiguration) {
    switch configuration {
    case .none:
      self.init(http: "", https: "", noProxy: "")
    case .url(let url, let noProxy):
      self.init(http: url, https: url, noProxy: noProxy)
    case .environment:
      let all = Self.variable("all_proxy", "ALL_PROXY")
      // Never HTTP_PROXY in capitals: in a CGI program the client would set it (CVE-2016-5385).
      self.init(
        http: Self.variable("http_proxy") ?? all ?? "",
        https: Self.variable("https_proxy", "HTTPS_PROXY") ?? all ?? "",
        noProxy: Self.variable("no_proxy", "NO_PROXY") ?? "")
    }
  }

  init(http: String, https: String, noProxy: String) {
    self.http = http
    self.https = https
    bypass = ProxyBypass(noProxy)
  }

  /// The proxy's URL, or "" for none.
  func proxy(scheme: String, host: String) -> String {
    let proxy = scheme == "https" ? https : http
    return proxy.isEmpty || bypass.matches(host) ? "" : proxy
  }

  private static func variable(_ names: String...) -> String? {
    for name in names {
      if let value = getenv(name), value.pointee != 0 { return String(cString: value) }
    }
    return nil
  }
}
