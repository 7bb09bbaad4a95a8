/// The schemes that libcurl does for us; the value is its `CURLAUTH_…`, macros with casts that Swift does not see.
public enum AuthScheme: Int, Sendable {
  case basic = 1
  case digest = 2
  case negotiate = 4
  case ntlm = 8

  /// What a challenge is called that names no scheme (`NSURLAuthenticationMethodDefault`).
  static let unnamed = "default"

  /// From the name in lower case.
  public init?(name: String) {
    switch name {
    case "basic": self = .basic
    case "digest": self = .digest
    case "negotiate": self = .negotiate
    case "ntlm": self = .ntlm
    default: return nil
    }
  }

  var name: String {
    switch self {
    case .basic: "basic"
    case .digest: "digest"
    case .negotiate: "negotiate"
    case .ntlm: "ntlm"
    }
  }
}

extension AuthenticationChallenge {
  /// Whether libcurl can answer it, where it is a scheme of libcurl's. Of Digest, libcurl knows the algorithms MD5 and
  /// SHA-256 only, and where the body is to be protected too (`auth-int` and nothing else), takes each for an empty one.
  func isAnswerable(withBody: Bool) -> Bool {
    guard scheme == "digest" else { return true }
    let algorithm = parameter("algorithm")?.lowercased() ?? "md5"
    guard ["md5", "md5-sess", "sha-256", "sha-256-sess"].contains(algorithm) else { return false }
    guard withBody, let qualities = parameter("qop") else { return true }
    return qualities.lowercased().split { $0 == "," || $0 == " " || $0 == "\t" }.contains("auth")
  }
}

/// How a request carries credentials.
enum AuthAnswer: Equatable {
  case none
  /// The value of the Authorization field.
  case field(String)
  /// libcurl makes the field; it may take more than one request on the same connection.
  case libcurl(AuthScheme, user: String, password: String)

  var isNone: Bool { self == .none }

  var isLibcurls: Bool {
    if case .libcurl = self { return true }
    return false
  }

  /// How these credentials answer a challenge of a scheme; nil when they cannot.
  ///
  /// - Parameter isProxy: libcurl sends all of a proxy's, since it alone knows which go to a tunnel.
  init?(_ credential: Credential, scheme: String, isProxy: Bool) {
    switch credential.secret {
    case .password(let user, let password):
      guard let known = AuthScheme(name: scheme), known != .negotiate || KerberosTicket.isThere else { return nil }
      if known == .basic, !isProxy {
        self = .field("Basic \(Base64.encode("\(user):\(password)"))")
      } else {
        self = .libcurl(known, user: user, password: password)
      }
    case .token(let token):
      guard AuthScheme(name: scheme) == nil, !isProxy, RequestCheck.isFieldText(token) else { return nil }
      self = .field((["bearer", AuthScheme.unnamed].contains(scheme) ? "Bearer" : scheme) + " " + token)
    case .certificate, .serverTrust: return nil
    }
  }
}
