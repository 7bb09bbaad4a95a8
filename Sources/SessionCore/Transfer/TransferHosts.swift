/// What responses say of their hosts, for later requests: who wants https only, and where else an origin can be had.
extension Transfer {
  /// Takes the policy of a host that wants https only; the first field counts, and none that came over http.
  func learnTransportSecurity() {
    guard let hsts = session.hsts, let host, host.isSecure else { return }
    var isFirst = true
    HeaderText.forEachLine(intake.block.buffer) { line in
      guard isFirst, let field = HeaderText.value(of: "strict-transport-security", in: line) else { return }
      isFirst = false
      if let policy = HSTSPolicy(field) { hsts.learn(policy, of: host.name) }
    }
  }

  /// The place to connect to in the origin's stead. Not through a proxy, which is asked for the origin.
  func alternative(to host: Host) -> AlternativeService? {
    guard host.isSecure, host.proxy.isNone, let storage = session.configuration.alternativeServices else {
      return nil
    }
    return storage.service(for: origin(of: host), now: core.now)
  }

  func learnAlternatives() {
    guard let host, host.isSecure, let storage = session.configuration.alternativeServices else { return }
    let field = HeaderText.values(of: "alt-svc", in: intake.block).joined(separator: ",")
    storage.learn(
      AlternativeService.parse(field, origin: host.name.lowercased()), of: origin(of: host), protocols: spokenProtocols)
  }

  /// The alternative could not be spoken to: the next request goes to the origin again.
  func forgetAlternative() {
    guard alternativeUsed != nil, !intake.isHeadComplete, let host else { return }
    session.configuration.alternativeServices?.forget(origin(of: host))
  }

  private func origin(of host: Host) -> AlternativeServiceStorage.Origin {
    AlternativeServiceStorage.Origin(host: host.name.lowercased(), port: host.port)
  }

  private var spokenProtocols: Set<String> {
    switch session.configuration.httpVersion {
    case .automatic, .http2: ["h2", "http/1.1"]
    case .http1_0, .http1_1: ["http/1.1"]
    case .http2PriorKnowledge: ["h2"]
    }
  }
}
