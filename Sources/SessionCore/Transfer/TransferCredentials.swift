import CCurlShim

/// The credentials a request has before anybody asks, and libcurl's part in sending them.
extension Transfer {
  /// Credentials of the task's own, and the schemes they are for.
  struct OwnCredential {
    let credential: Credential
    let schemes: [String]

    init(_ user: Octets, _ password: Octets, _ schemes: [String]) {
      credential = Credential(.password(user: user, password: password), persistence: .none)
      self.schemes = schemes
    }
  }

  /// Those of the options or the URL.
  var ownCredential: OwnCredential? {
    switch authentication {
    case .any(let user, let password): return OwnCredential(user, password, ["digest", "ntlm", "basic"])
    case .scheme(let scheme, let user, let password): return OwnCredential(user, password, [scheme.name])
    case .basic, .bearer: return nil
    case .none: return urlCredentials.map { OwnCredential($0.user, $0.password, ["digest", "ntlm"]) }
    }
  }

  /// Those of the proxy's URL. libcurl sends them as Basic at once.
  var proxyCredential: OwnCredential? {
    host?.proxy.credentials.map { OwnCredential($0.user, $0.password, ["digest", "ntlm"]) }
  }

  func place(isProxy: Bool) -> Place? { isProxy ? host?.proxy.place : host?.place ?? Place(url) }

  var requestPath: String {
    guard case .success(let parts) = URLParts.parse(url) else { return "/" }
    return parts.path
  }

  /// What the options, the URL or the proxy's had sent along unasked: the challenge that follows is its refusal.
  func noteSentAtOnce(isProxy: Bool) {
    if let exchange = auth?[proxy: isProxy].exchange, exchange.attempt != nil || exchange.hasAnswered { return }
    guard let sent = isProxy ? sentToProxyAtOnce : sentAtOnce else { return }
    authState()[proxy: isProxy].exchange.anticipate(sent)
  }

  private var sentToProxyAtOnce: AuthExchange.Attempt? {
    proxyCredential.map { AuthExchange.Attempt(method: AuthScheme.basic.name, credential: $0.credential) }
  }

  private var sentAtOnce: AuthExchange.Attempt? {
    // A field set by hand has gone in their place.
    if has("authorization") { return nil }
    let secret: Credential.Secret
    switch authentication {
    case .bearer(let token):
      return AuthExchange.Attempt(method: "bearer", credential: Credential(.token(token), persistence: .none))
    case .basic(let user, let password): secret = .password(user: user, password: password)
    case .none:
      guard let (user, password) = urlCredentials else { return nil }
      secret = .password(user: user, password: password)
    case .scheme, .any: return nil
    }
    return AuthExchange.Attempt(method: AuthScheme.basic.name, credential: Credential(secret, persistence: .none))
  }

  // MARK: Before a request

  /// Decides what goes along unasked: what the options say is for at once, and what the session has been let in with.
  func anticipate() {
    if case .none = authentication, session.spaces.isEmpty, auth == nil { return }
    anticipateServer()
    anticipateProxy()
    probe()
  }

  /// A body that cannot be read twice waits until the server has said what it asks for.
  private func probe() {
    guard case .any = authentication, source?.isOnce == true else { return }
    let auth = authState()
    guard auth.server.answer.isNone, !auth.hasProbed else { return }
    auth.isProbing = true
    auth.hasProbed = true
  }

  private func anticipateServer() {
    if let server = auth?.server, !server.answer.isNone || server.exchange.hasAnswered { return }
    switch authentication {
    case .scheme(let scheme, let user, let password):
      if auth?.server.hasTriedOwn == true { return }
      let auth = authState()
      auth.server.hasTriedOwn = true
      auth.server.isOwn = true
      auth.server.answer = .libcurl(scheme, user: user, password: password)
      let credential = Credential(.password(user: user, password: password), persistence: .none)
      auth.server.exchange.anticipate(AuthExchange.Attempt(method: scheme.name, credential: credential))
    case .none:
      guard urlCredentials == nil, !session.spaces.isEmpty, !has("authorization"), let place = host?.place,
        let entry = session.spaces.server(place, path: requestPath)
      else { return }
      anticipate(entry, isProxy: false)
    case .any(let user, let password): anticipateDigest(user, password)
    case .basic, .bearer: break
    }
  }

  /// A nonce that was got with these credentials goes on.
  private func anticipateDigest(_ user: Octets, _ password: Octets) {
    guard session.keepsHandles, let place = host?.place,
      session.hasKeptHandle(NonceKey(place: place, user: user, password: password, isProxy: false))
    else { return }
    authState().server.answer = .libcurl(.digest, user: user, password: password)
    authState().server.isOwn = true
  }

  private func anticipateProxy() {
    if let proxy = auth?.proxy, !proxy.answer.isNone || proxy.exchange.hasAnswered { return }
    guard !session.spaces.isEmpty, let place = host?.proxy.place, let entry = session.spaces.proxy(place) else {
      return
    }
    anticipate(entry, isProxy: true)
  }

  private func anticipate(_ entry: AuthenticatedSpaces.Entry, isProxy: Bool) {
    let auth = authState()
    auth[proxy: isProxy].answer = entry.answer
    auth[proxy: isProxy].isAnticipated = true
    auth[proxy: isProxy].exchange.anticipate(
      AuthExchange.Attempt(method: entry.method, realm: entry.realm, credential: entry.credential, counts: false))
  }

  // MARK: libcurl's part

  /// Gives libcurl the credentials it is to make fields of. The handle is the one that received the challenge, and has
  /// kept the server's nonce.
  func prepareCredentials(_ easy: EasyHandle) {
    guard let auth else {
      return mayAnswerLater ? easy.expectChallenges(fromProxy: expectsProxyChallenge) : easy.clearCredentials()
    }
    if !auth.server.answer.isLibcurls, !auth.proxy.answer.isLibcurls {
      return mayAnswerLater ? easy.expectChallenges(fromProxy: expectsProxyChallenge) : easy.clearCredentials()
    }
    easy.setCredentials(auth.server.answer)
    easy.setProxyCredentials(auth.proxy.answer)
  }

  private var mayAnswerLater: Bool {
    if options.interest.contains(.challenge) || options.interest.contains(.connectionChallenge) { return true }
    if urlCredentials != nil || session.hasStoredCredentials { return true }
    if case .any = authentication { return true }
    return false
  }

  /// A proxy of SOCKS asks nobody, and would be offered the user that is none.
  private var expectsProxyChallenge: Bool {
    host.map { $0.proxy.speaksHTTP && $0.proxy.credentials == nil } ?? false
  }

  /// Whether libcurl may answer this response by itself, so that it is not the last word.
  var mayAnswerItself: Bool {
    guard let auth else { return false }
    switch intake.status {
    case 401: return auth.server.answer.isLibcurls
    case 407: return auth.proxy.answer.isLibcurls
    // It may have been asked without the body.
    case 200..<300:
      return requestsBegun == 1 && source != nil && (auth.server.answer.isLibcurls || auth.proxy.answer.isLibcurls)
    default: return false
    }
  }

  // MARK: Nonces

  /// What a handle's nonce is good for; nil unless Digest has been done with it.
  var nonceKey: NonceKey? {
    guard let auth else { return nil }
    for isProxy in [false, true] {
      if case .libcurl(.digest, let user, let password) = auth[proxy: isProxy].answer,
        let place = place(isProxy: isProxy)
      {
        return NonceKey(place: place, user: user, password: password, isProxy: isProxy)
      }
    }
    return nil
  }

  /// A handle that an earlier task with these credentials has left, with a nonce that is still good for a while.
  func takeKeptHandle() -> EasyHandle? {
    guard auth != nil, session.keepsHandles, let key = nonceKey, let kept = session.takeKeptHandle(key) else {
      return nil
    }
    authState().hasOldNonce = true
    return kept
  }

  /// A server that has forgotten a kept nonce need not say so (`stale`): its new one is tried without asking.
  func repeatsWithNewNonce(_ auth: TransferAuth, _ challenges: [AuthenticationChallenge]) -> Bool {
    guard auth.hasOldNonce, auth[proxy: auth.asksProxy].answer.isLibcurls,
      challenges.contains(where: { $0.scheme == "digest" })
    else { return false }
    auth.hasOldNonce = false
    return true
  }
}

/// Whose nonce a handle has, and for which credentials.
struct NonceKey: Hashable {
  let place: Place
  let user: Octets
  let password: Octets
  let isProxy: Bool
}
