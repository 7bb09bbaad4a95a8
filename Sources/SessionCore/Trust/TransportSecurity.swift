/// App Transport Security: what may be asked for in clear text, and which TLS is the least.
public struct TransportSecurity: Sendable {
  public struct Exception: Sendable {
    public var host: String
    public var includesSubdomains: Bool
    public var allowsInsecureHTTPLoads: Bool
    public var minimumTLS: TLSVersion?

    public init(
      host: String, includesSubdomains: Bool = false, allowsInsecureHTTPLoads: Bool = false,
      minimumTLS: TLSVersion? = nil
    ) {
      self.host = host
      self.includesSubdomains = includesSubdomains
      self.allowsInsecureHTTPLoads = allowsInsecureHTTPLoads
      self.minimumTLS = minimumTLS
    }
  }

  /// Hosts without an exception may be spoken to in clear text.
  public var allowsArbitraryLoads = true
  /// For hosts that have an exception, this says what holds in place of the rest.
  public var exceptions: [Exception] = []
  public var minimumTLS: TLSVersion?

  public init() {}

  /// What Apple asks of hosts that must be secure.
  private static let usualMinimum = TLSVersion.v1_2

  /// The error for a URL that must not be asked for like this; nil for any other.
  func problem(scheme: String, host: String) -> TaskError? {
    guard scheme == "http" else { return nil }
    if let exception = exception(for: host) {
      return exception.allowsInsecureHTTPLoads ? nil : Self.refusal(host)
    }
    return allowsArbitraryLoads ? nil : Self.refusal(host)
  }

  /// The least TLS for a host; nil where the configuration's own limit is all there is.
  func minimumTLS(for host: String) -> TLSVersion? {
    if let exception = exception(for: host) { return exception.minimumTLS ?? minimumTLS ?? Self.usualMinimum }
    return minimumTLS ?? (allowsArbitraryLoads ? nil : Self.usualMinimum)
  }

  private func exception(for host: String) -> Exception? {
    let entries = exceptions.flatMap { one -> [(pattern: String, value: Exception)] in
      one.includesSubdomains ? [(one.host, one), ("*.\(one.host)", one)] : [(one.host, one)]
    }
    return HostPattern.best(entries, for: host)
  }

  private static func refusal(_ host: String) -> TaskError {
    let message = "transport_security requires https for \(host): nothing has been sent"
    return TaskError(.transportSecurityRequiresSecureConnection, message)
  }
}
