/// What a challenge is answered with (`URLCredential`).
public struct Credential: Equatable, Sendable {
  /// How long it may be kept (`URLCredential.Persistence`).
  public enum Persistence: String, Sendable {
    /// For the task alone.
    case none
    case forSession = "for_session"
    /// In the session's credential storage, also for later processes.
    case permanent
  }

  /// What it consists of. The secrets must never reach a log, an error or a trace.
  public enum Secret: Equatable, Sendable {
    case password(user: Octets, password: Octets)
    /// For Bearer and for schemes that take a token the same way.
    case token(Octets)
    /// A client certificate and its key, as paths.
    case certificate(path: String, key: String?, password: String?)
    /// The server that shows this certificate is to be trusted, whatever is wrong with it.
    case serverTrust(leaf: Fingerprint)
  }

  public var secret: Secret
  public var persistence: Persistence

  public init(_ secret: Secret, persistence: Persistence = .forSession) {
    self.secret = secret
    self.persistence = persistence
  }
}
