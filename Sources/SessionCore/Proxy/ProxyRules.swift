import Glibc

/// Which proxy a URL's requests go through, decided as curl does.
struct ProxyRules {
  private let http: ProxyServer
  private let https: ProxyServer
  private let bypass: ProxyBypass

  init(_ configuration: ProxyConfiguration) {
    switch configuration {
    case .none:
      self.init(http: "", https: "", noProxy: "")
    case .proxies(let http, let https, let noProxy):
      self.init(http: http, https: https, noProxy: noProxy)
    case .environment:
      self.init { name in
        guard let value = getenv(name), value.pointee != 0 else { return nil }
        return String(cString: value)
      }
    }
  }

  /// From variables of the environment.
  init(variable: (String) -> String?) {
    let all = variable("all_proxy") ?? variable("ALL_PROXY")
    // Never HTTP_PROXY in capitals: in a CGI program the client would set it (CVE-2016-5385).
    self.init(
      http: variable("http_proxy") ?? all ?? "",
      https: variable("https_proxy") ?? variable("HTTPS_PROXY") ?? all ?? "",
      noProxy: variable("no_proxy") ?? variable("NO_PROXY") ?? "")
  }

  init(http: String, https: String, noProxy: String) {
    self.http = ProxyServer.make(http)
    self.https = ProxyServer.make(https)
    bypass = ProxyBypass(noProxy)
  }

  func proxy(scheme: String, host: String) -> ProxyServer {
    let proxy = scheme == "https" ? https : http
    return proxy.isNone || bypass.matches(host) ? .none : proxy
  }
}
