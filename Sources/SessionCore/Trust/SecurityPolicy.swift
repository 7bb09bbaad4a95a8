/// How a server's certificates are judged beyond the usual verification (AFSecurityPolicy).
public struct SecurityPolicy: Sendable {
  public enum Pinning: String, Sendable {
    case none
    /// A certificate of the chain must have a pinned public key.
    case publicKey = "public_key"
    /// A certificate of the chain must be a pinned one.
    case certificate
  }

  public var pinning = Pinning.none
  /// Each is the path of a file (PEM or DER), PEM text, or a pin: `sha256//` and Base64.
  public var certificates: [String] = []
  /// What the verifier finds wrong does not matter, names apart.
  public var allowsInvalidCertificates = false
  public var validatesDomainName = true

  public init() {}

  /// Why the certificates are not good enough.
  ///
  /// - Parameters:
  ///   - problems: what the verifier found, in its order.
  ///   - pinned: the place in the chain of a certificate that is pinned, nil where there is none.
  func refusal(_ problems: [TrustProblem], pinned: Int?) -> TrustProblem? {
    if let problem = problems.first(where: { !forgives($0) }) { return problem }
    guard pinning != .none else { return nil }
    guard let pinned, holds(problems, upTo: pinned) else { return .notPinned }
    return nil
  }

  private func forgives(_ problem: TrustProblem) -> Bool {
    switch problem.kind {
    case .wrongName: !validatesDomainName
    case .expired, .notYetValid, .unknownRoot, .revoked, .structure: allowsInvalidCertificates
    case .policy: false
    }
  }

  /// Whether the server's certificate really goes back to the one at this place: where faults are forgiven, anybody
  /// could send a certificate of another's along. A pin on the server's own needs no chain.
  private func holds(_ problems: [TrustProblem], upTo depth: Int) -> Bool {
    depth == 0 || !problems.contains { $0.kind == .structure && $0.depth <= depth }
  }
}

/// A session's policies: one for certain hosts, one for the rest.
public struct SecurityPolicies: Sendable {
  public var usual = SecurityPolicy()
  /// By host, or by `*.` and a domain.
  public var byHost: [(pattern: String, value: SecurityPolicy)] = []

  public init() {}

  func policy(for host: String) -> SecurityPolicy { HostPattern.best(byHost, for: host) ?? usual }
}
