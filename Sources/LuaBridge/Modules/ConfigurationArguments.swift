import SessionCore

/// The pairs of name and value that `core.session` takes, as a `SessionConfiguration`. Names are those of api
/// `http.configuration`; the Lua side has checked the values' types.
enum ConfigurationArguments {
  struct Problem: Error {
    let message: String
  }

  static func read(
    _ call: HostCall, from start: Int, _ stores: StoreRegistry
  ) -> Result<SessionConfiguration, Problem> {
    var configuration = SessionConfiguration()
    configuration.cookieStorage = stores.cookies
    configuration.credentialStorage = stores.credentials
    configuration.hstsStorage = stores.hsts
    configuration.alternativeServices = stores.alternatives
    configuration.cache = stores.cache
    var index = start
    while index < call.count {
      guard let name = call.string(index) else {
        return .failure(Problem(message: "a configuration field has no name"))
      }
      guard set(name, call, index + 1, stores, in: &configuration) else {
        return .failure(Problem(message: "configuration field '\(name)' has a value of the wrong kind"))
      }
      index += 2
    }
    return .success(configuration)
  }

  private static func set(
    _ name: String, _ call: HostCall, _ index: Int, _ stores: StoreRegistry,
    in configuration: inout SessionConfiguration
  ) -> Bool {
    switch name {
    case "timeout_for_request": assign(call.number(index)) { configuration.timeoutForRequest = $0 }
    case "timeout_for_resource": assign(call.number(index)) { configuration.timeoutForResource = $0 }
    case "http_maximum_connections_per_host":
      assign(call.integer(index)) { configuration.maximumConnectionsPerHost = $0 }
    case "request_cache_policy":
      assign(call.string(index).flatMap(CachePolicy.init)) { configuration.cachePolicy = $0 }
    case "cache": assign(storage(call, index, CacheModule.type)) { configuration.cache = $0 }
    case "http_additional_headers":
      assign(TaskArguments.fields(call.bytes(index))) { configuration.additionalHeaders = $0 }
    case "user_agent": assign(call.string(index)) { configuration.userAgent = $0 }
    case "proxy_http": assign(call.string(index)) { proxy(http: $0, in: &configuration) }
    case "proxy_https": assign(call.string(index)) { proxy(https: $0, in: &configuration) }
    case "no_proxy": assign(call.string(index)) { proxy(bypass: $0, in: &configuration) }
    case "network_service_type":
      assign(call.string(index).flatMap { ServiceType(name: $0) }) { configuration.serviceType = $0 }
    case "waits_for_connectivity": assign(call.boolean(index)) { configuration.waitsForConnectivity = $0 }
    case "should_use_extended_background_idle_mode":
      assign(call.boolean(index)) { configuration.keepsIdleConnections = $0 }
    case "http_should_use_pipelining": assign(call.boolean(index)) { configuration.usesPipelining = $0 }
    case "http_version": assign(httpVersions[call.string(index) ?? ""]) { configuration.httpVersion = $0 }
    case "resolve": assign(call.string(index)) { configuration.resolve += pairs($0) }
    case "interface": assign(call.string(index)) { configuration.interface = $0 }
    case "unix_socket": assign(call.string(index)) { configuration.unixSocket = $0 }
    case "receive_rate_limit": assign(call.number(index)) { configuration.rateLimit.receive = $0 }
    case "send_rate_limit": assign(call.number(index)) { configuration.rateLimit.send = $0 }
    case "shared_container": assign(call.string(index)) { configuration.sharedContainer = $0 }
    case "protocol_classes": assign(call.boolean(index)) { configuration.asksForLoaders = $0 }
    case "allows_file_urls": assign(call.boolean(index)) { configuration.allowsFileURLs = $0 }
    case "ca_file": assign(call.string(index)) { configuration.caFile = $0 }
    case "tls_minimum_supported": assign(tlsVersions[call.string(index) ?? ""]) { configuration.tlsMinimum = $0 }
    case "tls_maximum_supported": assign(tlsVersions[call.string(index) ?? ""]) { configuration.tlsMaximum = $0 }
    case "security_policy": assign(TrustArguments.policies(call, index)) { configuration.securityPolicies = $0 }
    case "transport_security":
      assign(TrustArguments.transportSecurity(call, index)) { configuration.transportSecurity = $0 }
    case "client_certificate":
      assign(TrustArguments.clientCertificate(call, index)) { configuration.clientCertificate = $0 }
    case "cookie_storage":
      assign(storage(call, index, CookieModule.storage)) { configuration.cookieStorage = $0 }
    case "credential_storage":
      assign(storage(call, index, CredentialModule.storage)) { configuration.credentialStorage = $0 }
    case "remembers_hosts":
      assign(call.boolean(index)) { remembers in
        if remembers { return }
        configuration.hstsStorage = HSTSStorage()
        configuration.alternativeServices = AlternativeServiceStorage()
      }
    case "http_should_set_cookies": assign(call.boolean(index)) { configuration.shouldSetCookies = $0 }
    case "http_cookie_accept_policy":
      assign(call.string(index).flatMap(CookieAcceptPolicy.init(rawValue:))) { configuration.cookieAcceptPolicy = $0 }
    default: false
    }
  }

  private static func assign<Value>(_ value: Value?, _ store: (Value) -> Void) -> Bool {
    guard let value else { return false }
    store(value)
    return true
  }

  /// A store, none for `false`; nil for anything else.
  private static func storage<Store: AnyObject>(_ call: HostCall, _ index: Int, _ type: HostType<Store>) -> Store?? {
    if let store = call.object(index, type) { return .some(store) }
    return call.boolean(index) ? nil : .some(nil)
  }

  /// Sets what is given of a session's proxies.
  private static func proxy(
    http: String? = nil, https: String? = nil, bypass: String? = nil, in configuration: inout SessionConfiguration
  ) {
    var old = (http: "", https: "", bypass: "")
    if case .proxies(let http, let https, let bypass) = configuration.proxy { old = (http, https, bypass) }
    configuration.proxy = .proxies(
      http: http ?? old.http, https: https ?? old.https, noProxy: bypass ?? old.bypass)
  }

  /// "host:port=address" pairs, each ended by NUL.
  private static func pairs(_ text: String) -> [(String, String)] {
    text.split(separator: "\0").compactMap { pair in
      guard let equals = pair.firstIndex(of: "=") else { return nil }
      return (String(pair[..<equals]), String(pair[equals...].dropFirst()))
    }
  }

  private static let httpVersions: [String: HTTPVersionPolicy] = [
    "auto": .automatic, "1.0": .http1_0, "1.1": .http1_1, "2": .http2, "2-prior-knowledge": .http2PriorKnowledge,
  ]
  static let tlsVersions: [String: TLSVersion] = [
    "1.0": .v1_0, "1.1": .v1_1, "1.2": .v1_2, "1.3": .v1_3,
  ]
}
