import CCurlShim

/// What a 401 or 407 comes to: answered by what the task or its session has, by a handler, or delivered.
extension Transfer {
  /// What is to be done about a response that asks for credentials; nil when it is the answer to the task.
  func challengeVerdict() -> TaskMachine.Verdict? {
    let isProxy = intake.status == 407
    let fields = HeaderText.octets(of: isProxy ? "proxy-authenticate" : "www-authenticate", in: intake.block)
    var challenges = ChallengeParser.parse(fields)
    if challenges.isEmpty, !isProxy, options.interest.contains(.bareChallenge) {
      challenges = [AuthenticationChallenge(scheme: AuthScheme.unnamed)]
    }
    guard !challenges.isEmpty else { return nil }
    noteSentAtOnce(isProxy: isProxy)
    let auth = authState()
    auth.asksProxy = isProxy
    if repeatsWithNewNonce(auth, challenges) { return .again(needsBody: !canReplayBody) }
    receive(challenges, auth)
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

  private func receive(_ challenges: [AuthenticationChallenge], _ auth: TransferAuth) {
    let isProxy = auth.asksProxy
    auth[proxy: isProxy].answer = .none
    auth[proxy: isProxy].isOwn = false
    let refused = auth[proxy: isProxy].exchange.receive(challenges)
    if let credential = refused?.credential, auth[proxy: isProxy].isAnticipated, let place = place(isProxy: isProxy) {
      session.spaces.forget(credential, at: place, isProxy: isProxy)
    }
    auth[proxy: isProxy].isAnticipated = false
  }

  private enum Step {
    case ask
    case follow
    case deliver
  }

  /// What comes next for the challenges that are left.
  private func nextStep(_ auth: TransferAuth) -> Step {
    if auth[proxy: auth.asksProxy].exchange.isExhausted { return .deliver }
    if answerWithOwn(auth) { return .follow }
    return nextQuestion(auth)
  }

  /// Asks the handler about the strongest challenge; without one, the session's credentials answer.
  private func nextQuestion(_ auth: TransferAuth) -> Step {
    guard auth[proxy: auth.asksProxy].exchange.current != nil else { return .deliver }
    if hasChallengeHandler(auth) { return .ask }
    if answerWithStored(auth) { return .follow }
    return nextSource(auth) == nil ? .deliver : .ask
  }

  private func hasChallengeHandler(_ auth: TransferAuth) -> Bool {
    guard let offer = auth[proxy: auth.asksProxy].exchange.current else { return false }
    let isConnectionLevel = protectionSpace(offer, isProxy: auth.asksProxy).isConnectionLevel
    return options.interest.contains(isConnectionLevel ? .connectionChallenge : .challenge)
  }

  /// Answers with the credentials that the task's options, its URL or the proxy's give, once.
  private func answerWithOwn(_ auth: TransferAuth) -> Bool {
    let isProxy = auth.asksProxy
    guard !auth[proxy: isProxy].hasTriedOwn, let own = isProxy ? proxyCredential : ownCredential else { return false }
    auth[proxy: isProxy].hasTriedOwn = true
    for offer in auth[proxy: isProxy].exchange.offers where own.schemes.contains(offer.scheme) {
      if use(own.credential, for: offer, auth) {
        auth[proxy: isProxy].isOwn = true
        return true
      }
    }
    return false
  }

  /// Answers the first challenge that the session's store has credentials for.
  private func answerWithStored(_ auth: TransferAuth) -> Bool {
    for offer in auth[proxy: auth.asksProxy].exchange.offers {
      if let credential = storedCredential(offer, auth), use(credential, for: offer, auth) { return true }
    }
    return false
  }

  private func storedCredential(_ offer: AuthenticationChallenge, _ auth: TransferAuth) -> Credential? {
    let space = protectionSpace(offer, isProxy: auth.asksProxy)
    return session.credentialStorage?.credential(for: space, of: namedUser(auth))
  }

  /// The user whom a URL names without a password: nobody else's credentials will do.
  private func namedUser(_ auth: TransferAuth) -> Octets? {
    guard !auth.asksProxy, let urlCredentials, urlCredentials.password.isEmpty else { return nil }
    return urlCredentials.user
  }

  /// Puts credentials into the next request. False when they do not fit the challenge or it asks for what cannot be
  /// done, or when they have just been refused.
  private func use(_ credential: Credential, for offer: AuthenticationChallenge, _ auth: TransferAuth) -> Bool {
    let isProxy = auth.asksProxy
    guard !auth[proxy: isProxy].exchange.wasRefused(credential, for: offer),
      offer.isAnswerable(withBody: source.map { $0.length != 0 } ?? false),
      let answer = AuthAnswer(credential, scheme: offer.scheme, isProxy: isProxy)
    else { return false }
    auth[proxy: isProxy].answer = answer
    auth[proxy: isProxy].exchange.answer(offer, with: credential)
    return true
  }

  private func protectionSpace(_ offer: AuthenticationChallenge, isProxy: Bool) -> ProtectionSpace {
    let place = place(isProxy: isProxy)
    return ProtectionSpace(
      host: place?.host ?? "", port: place?.port ?? 0, scheme: place?.scheme ?? "", realm: offer.realm,
      method: offer.scheme, isProxy: isProxy)
  }

  // MARK: The handler

  /// The keyring and a program that knows credentials come before the handler, who is told what they said.
  func askChallenge() {
    if let question = connectionTrust?.question { return ask(question) }
    guard let auth else { return }
    if let storage = session.credentialStorage, let (source, space) = nextSource(auth) {
      auth[proxy: auth.asksProxy].asked.append(source)
      return core.credentials.lookUp(space, by: source, in: storage, for: id)
    }
    askHandler(auth)
  }

  /// Who is to be asked next about the current challenge, each once for each party, and about which space.
  private func nextSource(_ auth: TransferAuth) -> (CredentialStorage.Source, ProtectionSpace)? {
    let party = auth[proxy: auth.asksProxy]
    guard let storage = session.credentialStorage, let offer = party.exchange.current else { return nil }
    let space = protectionSpace(offer, isProxy: auth.asksProxy)
    let source = storage.source(for: space, of: namedUser(auth), after: party.asked, now: core.now)
    return source.map { ($0, space) }
  }

  /// Keyring or program have answered; what they said is in the storage.
  func lookupFinished() {
    guard case .askingChallenge = machine.state, connectionTrust?.question == nil, let auth else { return }
    if nextSource(auth) != nil { return askChallenge() }
    if hasChallengeHandler(auth) { return askHandler(auth) }
    answerWithStored(auth) ? followChallenge() : deliverChallenge()
  }

  private func askHandler(_ auth: TransferAuth) {
    guard let offer = auth[proxy: auth.asksProxy].exchange.current else { return }
    let challenge = Challenge(protectionSpace(offer, isProxy: auth.asksProxy))
    challenge.parameters = offer.parameters
    if let token = offer.token { challenge.parameters.append((name: "token68", value: Octets(token))) }
    challenge.laterMethods = auth[proxy: auth.asksProxy].exchange.offers.dropFirst().map(\.scheme)
    challenge.proposedCredential = proposal(for: offer, auth)
    challenge.previousFailureCount = auth[proxy: auth.asksProxy].exchange.failureCount(of: offer)
    challenge.failureResponse = currentHead()
    core.outbox.append(.challenge(id, challenge))
  }

  /// What default handling would answer with: never what has just been refused, asked for or not, as offering that again
  /// ends the exchange.
  private func proposal(for offer: AuthenticationChallenge, _ auth: TransferAuth) -> Credential? {
    guard let stored = storedCredential(offer, auth) else { return nil }
    return auth[proxy: auth.asksProxy].exchange.wasRefused(stored, for: offer) ? nil : stored
  }

  /// The handler's word on a challenge.
  func receiveChallengeAnswer(_ answer: ChallengeAnswer) {
    guard case .askingChallenge = machine.state else { return }
    if let question = connectionTrust?.question { return receive(answer, to: question) }
    guard let auth else { return }
    switch answer {
    case .useCredential(let credential): useGiven(credential, auth)
    case .performDefaultHandling: answerWithStored(auth) ? followChallenge() : deliverChallenge()
    case .deliverResponse: deliverChallenge()
    case .rejectProtectionSpace: rejectCurrent(auth)
    case .cancel: fail(TaskError(.userCancelledAuthentication, "authentication was cancelled", url: url))
    case .request(let changed): followInstead(changed, auth)
    }
  }

  private func useGiven(_ credential: Credential, _ auth: TransferAuth) {
    guard let offer = auth[proxy: auth.asksProxy].exchange.current else { return deliverChallenge() }
    if auth[proxy: auth.asksProxy].exchange.wasRefused(credential, for: offer) { return deliverChallenge() }
    // Credentials that the scheme cannot be answered with are as good as none for it.
    use(credential, for: offer, auth) ? followChallenge() : rejectCurrent(auth)
  }

  private func rejectCurrent(_ auth: TransferAuth) {
    auth[proxy: auth.asksProxy].exchange.rejectCurrent()
    switch nextQuestion(auth) {
    case .ask: advance(.challengeAnswered(.askNext))
    case .follow: followChallenge()
    case .deliver: deliverChallenge()
    }
  }

  private func followChallenge() { advance(.challengeAnswered(.follow(needsBody: !canReplayBody))) }

  private func deliverChallenge() {
    advance(.challengeAnswered(.deliver(asking: options.interest.contains(.response))))
  }

  /// A handler's own request takes the challenged one's place.
  private func followInstead(_ changed: Request, _ auth: TransferAuth) {
    let isProxy = auth.asksProxy
    if let offer = auth[proxy: isProxy].exchange.current { auth[proxy: isProxy].exchange.answer(offer, with: nil) }
    followInstead(changed)
  }

  func followInstead(_ changed: Request) {
    let current = FollowUp(request: request, keepsBody: true, crossesOrigin: false, status: intake.status)
    var next = makeFollowUp(changed, proposed: current)
    next.isRedirect = false
    followUp = next
    advance(.challengeAnswered(.follow(needsBody: needsBody(next))))
  }

  // MARK: Acceptance

  /// A response that is no challenge has come: what went along has been accepted, and is kept as far as it may be.
  func noteAccepted() {
    guard let auth else { return }
    if intake.status != 407 { keepAccepted(auth, isProxy: true) }
    if intake.status != 407, intake.status != 401 { keepAccepted(auth, isProxy: false) }
  }

  private func keepAccepted(_ auth: TransferAuth, isProxy: Bool) {
    guard let (credential, offer) = auth[proxy: isProxy].exchange.accepted(), let place = place(isProxy: isProxy),
      credential.persistence != .none, let storage = session.credentialStorage
    else { return }
    storage.accepted(credential, in: protectionSpace(offer, isProxy: isProxy))
    core.credentials.tellKeyring(storage)
    let path = requestPath
    let entry = AuthenticatedSpaces.Entry(
      realm: offer.realm, method: offer.scheme, credential: credential, answer: auth[proxy: isProxy].answer,
      directories: AuthenticatedSpaces.directories(offer, path: path, url: url))
    if isProxy { session.spaces.acceptProxy(entry, at: place) } else { session.spaces.accept(entry, at: place) }
  }
}
