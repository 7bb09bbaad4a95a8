import CCurlShim

/// What a 401 or 407 comes to: answered by what the task or its session has, by a handler, or delivered.
extension Transfer {
  /// What is to be done about a response that asks for credentials; nil when it is the answer to the task.
  func challengeVerdict() -> TaskMachine.Verdict? {
    let isProxy = intake.status == 407
    let fields = HeaderText.values(of: isProxy ? "proxy-authenticate" : "www-authenticate", in: intake.block)
    let challenges = ChallengeParser.parse(fields)
    guard !challenges.isEmpty else { return nil }
    let auth = authState()
    auth.asksProxy = isProxy
    auth[proxy: isProxy].receive(challenges)
    switch nextStep(auth) {
    case .ask: return .challengeAsking
    case .follow: return .again(needsBody: !canReplayBody)
    case .deliver: return nil
    }
  }

  func authState() -> TransferAuth {
    if let auth { return auth }
    let made = TransferAuth()
    auth = made
    return made
  }

  private enum Step {
    case ask
    case follow
    case deliver
  }

  /// What comes next for the challenges that are left.
  private func nextStep(_ auth: TransferAuth) -> Step {
    if auth[proxy: auth.asksProxy].isExhausted { return .deliver }
    if answerWithOwn(auth) { return .follow }
    return nextQuestion(auth)
  }

  /// Finds a challenge that a handler may be asked about.
  private func nextQuestion(_ auth: TransferAuth) -> Step {
    for offer in auth[proxy: auth.asksProxy].offers {
      let space = protectionSpace(offer, isProxy: auth.asksProxy)
      let wanted: Interest = space.isConnectionLevel ? .connectionChallenge : .challenge
      if !options.interest.isDisjoint(with: wanted) { return .ask }
      break
    }
    return .deliver
  }

  /// Answers with the credentials that the task's options or its URL give, once.
  private func answerWithOwn(_ auth: TransferAuth) -> Bool {
    guard !auth.asksProxy, !auth.hasTriedOwn, let (credential, schemes) = ownCredential else { return false }
    auth.hasTriedOwn = true
    for offer in auth.server.offers where schemes.contains(offer.scheme) {
      if !auth.server.wasRefused(credential, for: offer), use(credential, for: offer, auth) { return true }
    }
    return false
  }

  private var ownCredential: (Credential, schemes: [String])? {
    switch authentication {
    case .any(let user, let password):
      return (Credential(.password(user: user, password: password), persistence: .none), ["digest", "ntlm", "basic"])
    case .digest(let user, let password):
      return (Credential(.password(user: user, password: password), persistence: .none), ["digest"])
    case .basic, .bearer: return nil
    case .none:
      guard let (user, password) = urlCredentials else { return nil }
      return (Credential(.password(user: user, password: password), persistence: .none), ["digest", "ntlm", "basic"])
    }
  }

  /// Puts credentials into the next request. False when they do not fit the challenge.
  private func use(_ credential: Credential, for offer: AuthenticationChallenge, _ auth: TransferAuth) -> Bool {
    guard let answer = AuthAnswer(credential, scheme: offer.scheme, isProxy: auth.asksProxy) else { return false }
    if auth.asksProxy { auth.proxyAnswer = answer } else { auth.serverAnswer = answer }
    auth[proxy: auth.asksProxy].answer(offer, with: credential)
    return true
  }

  private func protectionSpace(_ offer: AuthenticationChallenge, isProxy: Bool) -> ProtectionSpace {
    let place = isProxy ? host?.proxyPlace : host?.place ?? Place(url)
    return ProtectionSpace(
      host: place?.host ?? "", port: place?.port ?? 0, scheme: place?.scheme ?? "", realm: offer.realm,
      method: offer.scheme, isProxy: isProxy)
  }

  // MARK: The handler

  func askChallenge() {
    if let question = connectionTrust?.question { return ask(question) }
    guard let auth, let offer = auth[proxy: auth.asksProxy].current else { return }
    let challenge = Challenge(protectionSpace(offer, isProxy: auth.asksProxy))
    challenge.parameters = offer.parameters
    if let token = offer.token { challenge.parameters.append((name: "token68", value: token)) }
    challenge.previousFailureCount = auth[proxy: auth.asksProxy].failureCount(of: offer)
    challenge.failureResponse = currentHead()
    core.outbox.append(.challenge(id, challenge))
  }

  /// The handler's word on a challenge.
  func receiveChallengeAnswer(_ answer: ChallengeAnswer) {
    guard case .askingChallenge = machine.state else { return }
    if let question = connectionTrust?.question { return receive(answer, to: question) }
    guard let auth else { return }
    switch answer {
    case .useCredential(let credential): useGiven(credential, auth)
    case .performDefaultHandling, .deliverResponse: deliverChallenge()
    case .rejectProtectionSpace: rejectCurrent(auth)
    case .cancel: fail(TaskError(.userCancelledAuthentication, "authentication was cancelled", url: url))
    case .request(let changed): followInstead(changed, auth)
    }
  }

  private func useGiven(_ credential: Credential, _ auth: TransferAuth) {
    guard let offer = auth[proxy: auth.asksProxy].current else { return deliverChallenge() }
    if auth[proxy: auth.asksProxy].wasRefused(credential, for: offer) { return deliverChallenge() }
    // Credentials of another kind than the scheme takes are as good as none for it.
    guard use(credential, for: offer, auth) else { return rejectCurrent(auth) }
    advance(.challengeAnswered(.follow(needsBody: !canReplayBody)))
  }

  private func rejectCurrent(_ auth: TransferAuth) {
    auth[proxy: auth.asksProxy].rejectCurrent()
    switch nextQuestion(auth) {
    case .ask: advance(.challengeAnswered(.askNext))
    case .follow: advance(.challengeAnswered(.follow(needsBody: !canReplayBody)))
    case .deliver: deliverChallenge()
    }
  }

  private func deliverChallenge() {
    advance(.challengeAnswered(.deliver(asking: options.interest.contains(.response))))
  }

  /// A handler's own request takes the challenged one's place.
  private func followInstead(_ changed: Request, _ auth: TransferAuth) {
    if let offer = auth[proxy: auth.asksProxy].current { auth[proxy: auth.asksProxy].answer(offer, with: nil) }
    if !auth.asksProxy { auth.serverAnswer = .none }
    followInstead(changed)
  }

  func followInstead(_ changed: Request) {
    let current = FollowUp(request: request, keepsBody: true, crossesOrigin: false, status: intake.status)
    var next = makeFollowUp(changed, proposed: current)
    next.isRedirect = false
    followUp = next
    advance(.challengeAnswered(.follow(needsBody: next.keepsBody && !canReplayBody)))
  }

  // MARK: libcurl's part

  /// Gives libcurl the credentials it is to make fields of. The handle is the one that received the challenge, and has
  /// kept the server's nonce.
  func prepareCredentials(_ easy: EasyHandle) {
    let server = libcurlServerAnswer
    if case .libcurl(let scheme, let user, let password) = server {
      easy.setCredentials(user: user, password: password, scheme: scheme)
    } else if mayAnswerLater {
      easy.expectChallenges()
    } else {
      easy.clearCredentials()
    }
    if case .libcurl(let scheme, let user, let password)? = auth?.proxyAnswer {
      easy.setProxyCredentials(user: user, password: password, scheme: scheme)
    }
  }

  private var mayAnswerLater: Bool {
    if !options.interest.isDisjoint(with: [.challenge, .connectionChallenge]) || urlCredentials != nil { return true }
    if case .any = authentication { return true }
    return false
  }

  private var libcurlServerAnswer: AuthAnswer {
    if let auth, !auth.serverAnswer.isNone { return auth.serverAnswer }
    guard case .digest(let user, let password) = authentication else { return .none }
    if let auth, auth.hasTriedOwn { return .none }
    // Said at once: libcurl asks with a request without a body, and answers by itself.
    let auth = authState()
    auth.hasTriedOwn = true
    let credential = Credential(.password(user: user, password: password), persistence: .none)
    auth.server.anticipate(method: "digest", credential: credential)
    auth.serverAnswer = .libcurl(.digest, user: user, password: password)
    return auth.serverAnswer
  }

  /// Whether libcurl may answer this response by itself, so that it is not the last word.
  var mayAnswerItself: Bool {
    guard let auth else { return false }
    switch intake.status {
    case 401: return auth.serverAnswer.isLibcurls
    case 407: return auth.proxyAnswer.isLibcurls
    // It may have been asked without the body.
    case 200..<300:
      return requestsBegun == 1 && source != nil && (auth.serverAnswer.isLibcurls || auth.proxyAnswer.isLibcurls)
    default: return false
    }
  }
}
