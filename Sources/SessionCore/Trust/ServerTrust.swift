/// A server's certificates and the judgement on them: what a server-trust challenge shows (`SecTrust`).
///
/// Made by `ConnectionTrust` in the middle of a handshake. It never changes afterwards.
public final class ServerTrust {
  /// Whom the certificates had to be for.
  public let host: String
  public let port: Int
  /// The chain as it was built, the server's own certificate first.
  public let certificates: [Certificate]
  /// All that the verifier found wrong, whatever the policy makes of it.
  public let problems: [TrustProblem]
  public let revocation: Revocation
  /// Why the certificates are not good enough; nil where verifier and policy are satisfied.
  public let refusal: TrustProblem?
  /// Of the server's own certificate.
  public private(set) lazy var leaf = certificates.first?.sha256

  init(
    host: String, port: Int, certificates: [Certificate], problems: [TrustProblem], revocation: Revocation,
    refusal: TrustProblem?
  ) {
    self.host = host
    self.port = port
    self.certificates = certificates
    self.problems = problems
    self.revocation = revocation
    self.refusal = refusal
  }
}

/// What a stapled OCSP response says (RFC 6960, RFC 6066 §8).
public enum Revocation: Equatable, Sendable {
  /// The server sent none, or none that can be believed.
  case notKnown
  case good
  /// When, in Unix seconds.
  case revoked(at: Double)
}
