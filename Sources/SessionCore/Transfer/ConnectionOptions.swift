import CCurlShim

/// The part of a session's configuration that is set on a handle once.
final class ConnectionOptions {
  static let acceptEncoding = HeaderField("Accept-Encoding", "gzip, deflate, br, zstd")
  private static let usualUserAgent = "httpscript/\(Version.text)"
  /// What a session adds to each request when nothing else is said.
  static let usualFields = [HeaderField("User-Agent", usualUserAgent), acceptEncoding]

  private let configuration: SessionConfiguration
  let userAgent: String
  private var resolve: UnsafeMutablePointer<curl_slist>?

  init(_ configuration: SessionConfiguration) {
    self.configuration = configuration
    userAgent = configuration.userAgent ?? Self.usualUserAgent
    for (place, address) in configuration.resolve {
      if let grown = curl_slist_append(resolve, "\(place):\(address)") { resolve = grown }
    }
  }

  deinit { curl_slist_free_all(resolve) }

  func apply(to easy: CurlHandle) {
    if let resolve { hs_easy_set_pointer(easy.curl, CURLOPT_RESOLVE, UnsafeMutableRawPointer(resolve)) }
    if let interface = configuration.interface { easy.set(CURLOPT_INTERFACE, interface) }
    if let socket = configuration.unixSocket { easy.set(CURLOPT_UNIX_SOCKET_PATH, socket) }
    if configuration.httpVersion == .http2PriorKnowledge, !CurlLibrary.reusesPriorKnowledge {
      easy.set(CURLOPT_FRESH_CONNECT, 1)
      easy.set(CURLOPT_FORBID_REUSE, 1)
    }
    if configuration.keepsIdleConnections {
      easy.set(CURLOPT_TCP_KEEPALIVE, 1)
      easy.set(CURLOPT_TCP_KEEPIDLE, 60)
      easy.set(CURLOPT_TCP_KEEPINTVL, 60)
      easy.set(CURLOPT_MAXAGE_CONN, 24 * 3600)
    }
    if let authorities = configuration.caFile {
      trust(authorities, easy)
    } else if let bundle = CurlLibrary.bundle {
      trust(bundle, easy)
    }
    if configuration.tlsMinimum != nil || configuration.tlsMaximum != nil {
      easy.set(CURLOPT_SSLVERSION, minimum(configuration.tlsMinimum) | maximum(configuration.tlsMaximum))
    }
  }

  /// These and no others, of proxies too. Only what comes from one file is kept by libcurl for all connections; to read
  /// it for each takes longer than the rest of a handshake.
  private func trust(_ authorities: String, _ easy: CurlHandle) {
    let isDirectory = KeyFile.isDirectory(authorities)
    for (file, directory) in [(CURLOPT_CAINFO, CURLOPT_CAPATH), (CURLOPT_PROXY_CAINFO, CURLOPT_PROXY_CAPATH)] {
      easy.set(file, isDirectory ? nil : authorities)
      easy.set(directory, isDirectory ? authorities : nil)
    }
  }

  private func minimum(_ version: TLSVersion?) -> Int {
    switch version {
    case nil: return Int(CURL_SSLVERSION_DEFAULT)
    case .v1_0: return Int(CURL_SSLVERSION_TLSv1_0)
    case .v1_1: return Int(CURL_SSLVERSION_TLSv1_1)
    case .v1_2: return Int(CURL_SSLVERSION_TLSv1_2)
    case .v1_3: return Int(CURL_SSLVERSION_TLSv1_3)
    }
  }

  private func maximum(_ version: TLSVersion?) -> Int {
    // CURL_SSLVERSION_MAX_… are the same numbers, 16 bits up.
    version.map { minimum($0) << 16 } ?? 0
  }

  /// libcurl's number for a policy.
  static func httpVersion(_ policy: HTTPVersionPolicy) -> Int {
    switch policy {
    case .automatic: return Int(CURL_HTTP_VERSION_2TLS)
    case .http1_0: return Int(CURL_HTTP_VERSION_1_0)
    case .http1_1: return Int(CURL_HTTP_VERSION_1_1)
    case .http2: return Int(CURL_HTTP_VERSION_2TLS)
    case .http2PriorKnowledge: return Int(CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE)
    }
  }
}
