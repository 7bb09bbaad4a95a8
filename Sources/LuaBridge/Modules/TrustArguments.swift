import SessionCore

/// What a configuration says of TLS, as http.security flattens it: texts, each ended by NUL.
enum TrustArguments {
  /// Of each policy: pattern ("" for the usual one), pinning, two flags, the number of certificates, these.
  static func policies(_ call: HostCall, _ index: Int) -> SecurityPolicies? {
    guard let texts = texts(call, index) else { return nil }
    var policies = SecurityPolicies()
    var rest = texts[...]
    while rest.count >= 5 {
      let fields = Array(rest.prefix(5))
      rest = rest.dropFirst(5)
      guard let pinning = SecurityPolicy.Pinning(rawValue: fields[1]), let count = Int(fields[4]), count <= rest.count
      else { return nil }
      var policy = SecurityPolicy()
      policy.pinning = pinning
      policy.allowsInvalidCertificates = fields[2] == "1"
      policy.validatesDomainName = fields[3] == "1"
      policy.certificates = Array(rest.prefix(count))
      rest = rest.dropFirst(count)
      if fields[0].isEmpty { policies.usual = policy } else { policies.byHost.append((fields[0], policy)) }
    }
    return rest.isEmpty ? policies : nil
  }

  /// Whether anything may be loaded and the least TLS; of each exception: host, two flags, the least TLS.
  static func transportSecurity(_ call: HostCall, _ index: Int) -> TransportSecurity? {
    guard let texts = texts(call, index), texts.count % 4 == 2 else { return nil }
    var security = TransportSecurity()
    security.allowsArbitraryLoads = texts[0] == "1"
    security.minimumTLS = ConfigurationArguments.tlsVersions[texts[1]]
    for start in stride(from: 2, to: texts.count, by: 4) {
      security.exceptions.append(
        TransportSecurity.Exception(
          host: texts[start], includesSubdomains: texts[start + 1] == "1",
          allowsInsecureHTTPLoads: texts[start + 2] == "1",
          minimumTLS: ConfigurationArguments.tlsVersions[texts[start + 3]]))
    }
    return security
  }

  /// Certificate, key, and the password behind a "1".
  static func clientCertificate(_ call: HostCall, _ index: Int) -> ClientCertificate? {
    guard let texts = texts(call, index), texts.count == 3 else { return nil }
    return ClientCertificate(
      certificate: texts[0], key: texts[1].isEmpty ? nil : texts[1],
      password: texts[2].hasPrefix("1") ? String(texts[2].dropFirst()) : nil)
  }

  private static func texts(_ call: HostCall, _ index: Int) -> [String]? {
    call.bytes(index)?.split(separator: 0, omittingEmptySubsequences: false).dropLast().map {
      String(decoding: $0, as: UTF8.self)
    }
  }
}
