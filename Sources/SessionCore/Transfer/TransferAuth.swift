import CCurlShim

/// A task's state of authentication; made when it is first needed.
final class TransferAuth {
  var server = AuthExchange()
  var proxy = AuthExchange()
  /// Whose challenge a handler is being asked about.
  var asksProxy = false
  /// What goes along with requests.
  var serverAnswer = AuthAnswer.none
  var proxyAnswer = AuthAnswer.none
  /// The credentials of the task's options or of its URL have been tried.
  var hasTriedOwn = false

  /// For another server: nothing of what was said to the last one holds.
  func leaveOrigin() {
    server = AuthExchange()
    serverAnswer = .none
    hasTriedOwn = false
  }

  /// For another request to the same server: what it has accepted still goes along.
  func leavePlace() {
    server = AuthExchange()
    hasTriedOwn = false
  }

  subscript(proxy isProxy: Bool) -> AuthExchange {
    get { isProxy ? proxy : server }
    set { if isProxy { proxy = newValue } else { server = newValue } }
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
}

/// The schemes that libcurl does for us; the value is its `CURLAUTH_…`, macros with casts that Swift does not see.
enum AuthScheme: Int {
  case basic = 1
  case digest = 2
  case negotiate = 4
  case ntlm = 8

  init?(name: String) {
    switch name {
    case "basic": self = .basic
    case "digest": self = .digest
    case "negotiate": self = .negotiate
    case "ntlm": self = .ntlm
    default: return nil
    }
  }
}

extension AuthAnswer {
  /// How these credentials answer a challenge of a scheme; nil when they cannot.
  ///
  /// - Parameter isProxy: libcurl sends all of a proxy's, since it alone knows which go to a tunnel.
  init?(_ credential: Credential, scheme: String, isProxy: Bool) {
    switch credential.secret {
    case .password(let user, let password):
      guard let known = AuthScheme(name: scheme) else { return nil }
      if known == .basic, !isProxy {
        self = .field("Basic \(Base64.encode("\(user):\(password)"))")
      } else {
        self = .libcurl(known, user: user, password: password)
      }
    case .token(let token):
      guard AuthScheme(name: scheme) == nil, !isProxy, RequestCheck.isFieldText(token) else { return nil }
      self = .field((scheme == "bearer" ? "Bearer" : scheme) + " " + token)
    case .certificate, .serverTrust: return nil
    }
  }
}
