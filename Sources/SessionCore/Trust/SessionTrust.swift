import CCurlShim
import COpenSSL
import CTLSShim

/// What a session asks of TLS, by host.
final class SessionTrust {
  private let configuration: SessionConfiguration
  /// Why no server can be trusted: the certificates to trust cannot be read.
  private(set) lazy var authoritiesProblem = configuration.caFile.flatMap(Authorities.problem)
  private lazy var identity = configuration.clientCertificate.map(ClientIdentity.load)
  private var hosts: [String: HostTrust] = [:]

  /// Hosts kept although nothing has been settled about them.
  private static let hostLimit = 1024

  init(_ configuration: SessionConfiguration) { self.configuration = configuration }

  /// The error for what must not be asked for in clear text.
  func problem(scheme: String, host: String) -> TaskError? {
    configuration.transportSecurity.problem(scheme: scheme, host: host)
  }

  /// What holds for a host; the same object each time.
  func host(_ name: String, port: Int) -> HostTrust {
    let key = "\(name.lowercased()):\(port)"
    if let known = hosts[key] { return known }
    if hosts.count >= Self.hostLimit { hosts = hosts.filter { $0.value.remembers } }
    let made = makeHost(name, port: port)
    hosts[key] = made
    return made
  }

  private func makeHost(_ name: String, port: Int) -> HostTrust {
    var identity: ClientIdentity?
    var problem = authoritiesProblem
    switch self.identity {
    case .success(let loaded): identity = loaded
    case .failure(let error): problem = problem ?? error
    case nil: break
    }
    return HostTrust(
      name: name, port: port, policy: configuration.securityPolicies.policy(for: name),
      minimumTLS: configuration.transportSecurity.minimumTLS(for: name), identity: identity, problem: problem)
  }

  /// Forgets what handlers said.
  func forget() { hosts.values.forEach { $0.forget() } }
}
