/// What credentials are for (`URLProtectionSpace`).
public struct ProtectionSpace: Hashable, Sendable {
  public var host: String
  public var port: Int
  /// "http" or "https"; of the proxy's own URL where it is the proxy that asks.
  public var scheme: String
  /// "" where the challenge names none.
  public var realm: Octets
  /// A scheme's name in lower case ("basic", "digest", …), or one of `serverTrust` and `clientCertificate`.
  public var method: String
  public var isProxy: Bool

  public static let serverTrust = "server_trust"
  public static let clientCertificate = "client_certificate"

  public init(host: String, port: Int, scheme: String, realm: Octets, method: String, isProxy: Bool) {
    self.host = host
    self.port = port
    self.scheme = scheme
    self.realm = realm
    self.method = method
    self.isProxy = isProxy
  }

  /// Whether what is proved there holds for a connection and not for a request: such challenges go to the session's
  /// handler.
  public var isConnectionLevel: Bool {
    switch method {
    case Self.serverTrust, Self.clientCertificate, "ntlm", "negotiate": true
    default: false
    }
  }
}

/// A question for credentials (`URLAuthenticationChallenge`). The task waits for `Answer.challenge`.
///
/// An object, as an event is copied on its way up.
public final class Challenge {
  public let space: ProtectionSpace
  /// The challenge's own parameters (RFC 9110 §11.2), names in lower case. A lone token68 is named "token68".
  public var parameters: [(name: String, value: Octets)] = []
  /// The schemes of the response's other challenges, which come after this one.
  public var laterMethods: [String] = []
  /// What would be used by default.
  public var proposedCredential: Credential?
  /// How often credentials have been refused in this space, by this task.
  public var previousFailureCount = 0
  /// The 401 or 407; none where a connection is challenged.
  public var failureResponse: ResponseHead?
  /// The server's certificates, of a challenge about them.
  public var serverTrust: ServerTrust?
  /// The authorities whose certificates the server would believe, by RFC 4514; of a challenge for a client certificate.
  public var distinguishedNames: [String] = []
  /// What the connection fails with unless the challenge is answered.
  public var error: TaskError?

  public init(_ space: ProtectionSpace) { self.space = space }
}

/// A handler's word on a challenge (`URLSession.AuthChallengeDisposition`).
public enum ChallengeAnswer {
  case useCredential(Credential)
  /// As if there were no handler.
  case performDefaultHandling
  /// The task ends with `user_cancelled_authentication`.
  case cancel
  /// Go on to the next challenge of the same response; after the last one the response is delivered.
  case rejectProtectionSpace
  /// No more challenges for this response: it is the answer to the task.
  case deliverResponse
  /// Make this request in place of the challenged one.
  case request(Request)
}
