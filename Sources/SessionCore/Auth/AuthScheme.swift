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
  case field(Octets)
  /// libcurl makes the field; it may take more than one request on the same connection.
  case libcurl(AuthScheme, user: Octets, password: Octets)

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
      guard let known = AuthScheme(name: scheme), known != .negotiate || KerberosTicket.isThere,
        known != .basic || RequestCheck.isBasicUser(user)
      else { return nil }
      if known == .basic, !isProxy {
        self = .field(Self.basic(user, password))
      } else {
        // libcurl writes a user into a field as it is, and is given a proxy's in a URL.
        guard isProxy ? ProxyServer.isTakable(user, password) : RequestCheck.isFieldText(user) else { return nil }
        self = .libcurl(known, user: user, password: password)
      }
    case .token(let token):
      guard AuthScheme(name: scheme) == nil, !isProxy, RequestCheck.isFieldText(token) else { return nil }
      self = .field(Self.token(token, of: ["bearer", AuthScheme.unnamed].contains(scheme) ? "Bearer" : scheme))
    case .certificate, .serverTrust: return nil
    }
  }

  /// What the Authorization field says for Basic (RFC 7617 §2).
  static func basic(_ user: Octets, _ password: Octets) -> Octets {
    token(Base64.encode(Octets(bytes: user.bytes + [UInt8(ascii: ":")] + password.bytes)), of: "Basic")
  }

  /// What it says for a scheme with one token.
  static func token(_ token: Octets, of scheme: String) -> Octets {
    Octets(bytes: Array("\(scheme) ".utf8) + token.bytes)
  }
}
