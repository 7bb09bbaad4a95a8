import COpenSSL
import CCurlShim

/// TLS connections that a transfer makes, and what handlers are asked about them.
extension Transfer {
  /// libcurl is about to make a TLS connection from this SSL_CTX. False when it must not.
  func secure(_ context: OpaquePointer) -> Bool {
    guard let host, !ProxyMark.take(from: context, proxy: host.proxy) else { return self.host != nil }
    // Of a URL in clear text only the proxy has TLS.
    guard let trust = host.trust else { return false }
    let connection = ConnectionTrust(trust, mayAsk: false)
    connectionTrust = connection
    return connection.install(on: context)
  }

  /// The request may go out.
  var isConnectionTrusted: Bool {
    guard let connectionTrust else { return true }
    connectionTrust.establish()
    return !connectionTrust.isUnsettled
  }
}

/// libcurl has one callback for the TLS of servers and of proxies, and does not say which it is. An option that can be
/// set for proxies alone, and that shows in the SSL_CTX, tells them apart.
enum ProxyMark {
  /// CURLSSLOPT_ALLOW_BEAST: a workaround is not used.
  static let option = 1
  /// SSL_OP_DONT_INSERT_EMPTY_FRAGMENTS
  private static let trace: UInt64 = 1 << 11

  /// Whether it is the connection to a proxy. The workaround is put in place again.
  static func take(from context: OpaquePointer, proxy: String) -> Bool {
    guard proxy.lowercased().hasPrefix("https://"), SSL_CTX_get_options(context) & trace != 0 else { return false }
    SSL_CTX_clear_options(context, trace)
    return true
  }
}
