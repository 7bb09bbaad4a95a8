import COpenSSL
import CCurlShim

/// TLS connections that a transfer makes, and what handlers are asked about them.
extension Transfer {
  /// libcurl is about to make a TLS connection from this SSL_CTX. False when it must not.
  func secure(_ context: OpaquePointer) -> Bool {
    guard let host else { return false }
    // The proxy's certificate is libcurl's to verify.
    if host.proxy.isSecure, ProxyMark.take(from: context) { return true }
    guard let trust = host.trust else { return false }
    let connection = ConnectionTrust(trust, mayAsk: options.interest.contains(.connectionChallenge))
    connectionTrust = connection
    return connection.install(on: context)
  }

  /// The request may go out.
  var isConnectionTrusted: Bool {
    guard let connectionTrust else { return true }
    connectionTrust.establish()
    return !connectionTrust.isUnsettled
  }

  /// The error for a connection that TLS has made fail; nil for other failures.
  func connectionError(_ result: CURLcode, _ text: String) -> TaskError? {
    guard let connectionTrust else { return nil }
    let failure: TLSErrors.Failure
    switch result {
    // The server says that our certificate has expired; of its own we have another verdict.
    case CURLE_PEER_FAILED_VERIFICATION: failure = .alert(text)
    case _ where text.holds("alert"): failure = .alert(text)
    case CURLE_SEND_ERROR, CURLE_RECV_ERROR, CURLE_GOT_NOTHING, CURLE_SSL_CONNECT_ERROR:
      failure = sawHeader ? .other : .closed
    default: failure = .other
    }
    return TLSErrors.error(connectionTrust, failure)
  }

  // MARK: The handler

  /// Asks about a connection that could not be made without an answer. Of many tasks at once one asks.
  func ask(_ question: ConnectionTrust.Question) {
    guard let trust = connectionTrust?.host, trust.beginQuestion(question.subject, id) else { return }
    isAskingAboutConnection = true
    let challenge = trust.challenge(question)
    challenge.error?.url = url
    core.outbox.append(.challenge(id, challenge))
  }

  /// The task has its answer, or ends without one.
  func endQuestion() {
    guard isAskingAboutConnection, let connectionTrust, let question = connectionTrust.question else { return }
    isAskingAboutConnection = false
    for task in connectionTrust.host.endQuestion(question.subject) { core.transfer(task)?.reconsiderConnection() }
  }

  /// Another task has been answered, or has gone unanswered.
  private func reconsiderConnection() {
    guard case .askingChallenge = machine.state, let connectionTrust, let question = connectionTrust.question else {
      return
    }
    if connectionTrust.isAnswered { connectAgain() } else { ask(question) }
  }

  private func connectionError(_ server: ServerTrust) -> TaskError {
    var error = TLSErrors.error(server)
    error.url = url
    return error
  }

  /// The handler's word on it.
  func receive(_ answer: ChallengeAnswer, to question: ConnectionTrust.Question) {
    guard isAskingAboutConnection, let trust = connectionTrust?.host else { return }
    switch (answer, question) {
    case (.cancel, _): fail(TaskError(.userCancelledAuthentication, "authentication was cancelled", url: url))
    case (.request(let changed), _):
      endQuestion()
      followInstead(changed)
    case (.useCredential(let credential), .serverTrust(let server)): receive(credential, server, trust)
    case (.performDefaultHandling, .serverTrust(let server)), (.deliverResponse, .serverTrust(let server)):
      guard server.refusal == nil, let leaf = server.leaf else { return fail(connectionError(server)) }
      trust.leaveToVerification(leaf)
      connectAgain()
    case (.rejectProtectionSpace, .serverTrust(let server)): fail(connectionError(server))
    case (.useCredential(let credential), .clientCertificate):
      if let problem = trust.show(credential) { fail(problem) } else { connectAgain() }
    case (.performDefaultHandling, .clientCertificate), (.deliverResponse, .clientCertificate),
      (.rejectProtectionSpace, .clientCertificate):
      trust.show(nil)
      connectAgain()
    }
  }

  private func receive(_ credential: Credential, _ server: ServerTrust, _ trust: HostTrust) {
    guard case .serverTrust(let leaf) = credential.secret, leaf == server.leaf else {
      let message = "the credential is not for the certificate that \(server.host) shows"
      return fail(TaskError(.serverCertificateUntrusted, message, url: url))
    }
    trust.accept(leaf)
    connectAgain()
  }

  /// Nothing of the request has left.
  private func connectAgain() {
    endQuestion()
    advance(.challengeAnswered(.follow(needsBody: !canReplayBody)))
  }
}

/// libcurl has one callback for the TLS of servers and of proxies, and does not say which it is. An option that can be
/// set for proxies alone, and that shows in the SSL_CTX, tells them apart.
enum ProxyMark {
  /// CURLSSLOPT_ALLOW_BEAST: a workaround is not used.
  static let option = 1
  /// SSL_OP_DONT_INSERT_EMPTY_FRAGMENTS
  private static let trace: UInt64 = 1 << 11

  /// Whether it is the connection to a proxy. The workaround is put in place again.
  static func take(from context: OpaquePointer) -> Bool {
    guard SSL_CTX_get_options(context) & trace != 0 else { return false }
    SSL_CTX_clear_options(context, trace)
    return true
  }
}
