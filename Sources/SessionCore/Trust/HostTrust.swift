/// What a session asks of one host's TLS, and what has been settled about it: policy, pins, the certificates that a
/// handler has accepted, the certificate of our own to show there.
final class HostTrust {
  /// As it must stand in the certificate: in lower case, without brackets.
  let name: String
  let port: Int
  let policy: SecurityPolicy
  let minimumTLS: TLSVersion?
  /// Why nothing can be asked of the host (a file of the policy's cannot be read).
  let problem: TaskError?
  private let pins: PinSet?

  /// Fingerprints of server certificates by what was said of them.
  private var verdicts: [Fingerprint: Verdict] = [:]
  private(set) var identity: Identity
  private let configured: Identity
  /// How often in a row the server has not been content with our certificate.
  private(set) var rejections = 0

  /// Who waits for an answer that another task's handler is about to give.
  private var waiting: [ConnectionTrust.Question.Subject: [TaskID]] = [:]

  private enum Verdict {
    /// A handler takes responsibility for it.
    case accepted
    /// A handler left it to the verification.
    case leftToVerification
  }

  /// The certificate of our own.
  enum Identity {
    /// Nobody has been asked for one.
    case unknown
    /// There is none, and nobody need be asked again.
    case none
    case given(ClientIdentity)
  }

  init(
    name: String, port: Int, policy: SecurityPolicy, minimumTLS: TLSVersion?, identity: ClientIdentity?,
    problem: TaskError?
  ) {
    self.name = HostPattern.normalized(name)
    self.port = port
    self.policy = policy
    self.minimumTLS = minimumTLS
    configured = identity.map { .given($0) } ?? .unknown
    self.identity = configured
    switch PinSet.load(policy) {
    case .success(let pins):
      self.pins = pins
      self.problem = problem
    case .failure(let error):
      pins = nil
      self.problem = problem ?? error
    }
  }

  /// The judgement on a chain.
  func evaluate(_ chain: [Certificate], _ problems: [TrustProblem], _ revocation: Revocation) -> ServerTrust {
    var problems = problems
    if case .revoked = revocation { problems.append(.revoked) }
    let refusal = policy.refusal(problems, pinned: pins?.place(in: chain))
    return ServerTrust(
      host: name, port: port, certificates: chain, problems: problems, revocation: revocation, refusal: refusal)
  }

  // MARK: Who is being asked

  /// A task wants to ask about this. False where one does so already: it then waits for that one's answer.
  func beginQuestion(_ subject: ConnectionTrust.Question.Subject, _ task: TaskID) -> Bool {
    guard waiting[subject] != nil else {
      waiting[subject] = []
      return true
    }
    waiting[subject]?.append(task)
    return false
  }

  /// The task that asked has its answer, or has ended without one. Gives those that waited.
  func endQuestion(_ subject: ConnectionTrust.Question.Subject) -> [TaskID] {
    waiting.removeValue(forKey: subject) ?? []
  }

  /// What a handler is asked.
  func challenge(_ question: ConnectionTrust.Question) -> Challenge {
    func space(_ method: String) -> ProtectionSpace {
      ProtectionSpace(host: name, port: port, scheme: "https", realm: "", method: method, isProxy: false)
    }
    switch question {
    case .serverTrust(let server):
      let challenge = Challenge(space(ProtectionSpace.serverTrust))
      challenge.serverTrust = server
      if server.refusal != nil { challenge.error = TLSErrors.error(server) }
      return challenge
    case .clientCertificate(let names):
      let challenge = Challenge(space(ProtectionSpace.clientCertificate))
      challenge.distinguishedNames = names
      challenge.previousFailureCount = rejections
      return challenge
    }
  }

  // MARK: What handlers said

  /// Whether a server with this certificate is trusted; nil where a handler is to be asked.
  func judge(_ trust: ServerTrust, mayAsk: Bool) -> Bool? {
    let isGood = trust.refusal == nil
    // What nobody was ever asked about costs no fingerprint.
    if verdicts.isEmpty { return mayAsk ? nil : isGood }
    switch trust.leaf.flatMap({ verdicts[$0] }) {
    case .accepted: return true
    case .leftToVerification where isGood: return true
    case .leftToVerification, nil: return mayAsk ? nil : isGood
    }
  }

  /// A handler accepts the server's certificate: this one, whatever is wrong with it.
  func accept(_ leaf: Fingerprint) { verdicts[leaf] = .accepted }

  /// A handler leaves the certificate to the verification.
  func leaveToVerification(_ leaf: Fingerprint) { verdicts[leaf] = .leftToVerification }

  func show(_ identity: ClientIdentity?) { self.identity = identity.map { .given($0) } ?? .none }

  /// The certificate that a credential names is to be shown. Nil is success.
  func show(_ credential: Credential) -> TaskError? {
    guard case .certificate(let path, let key, let password) = credential.secret else {
      return TaskError(.clientCertificateRejected, "the credential for \(name) has no client certificate")
    }
    switch ClientIdentity.load(ClientCertificate(certificate: path, key: key, password: password)) {
    case .success(let identity):
      show(identity)
      return nil
    case .failure(let error): return error
    }
  }

  /// The server was not content with the certificate, or with none: what a handler said of it is forgotten.
  func identityRefused() {
    rejections += 1
    identity = configured
  }

  /// The server was content.
  func identityAccepted() { rejections = 0 }

  /// Whether there is something to be lost.
  var remembers: Bool {
    if case .unknown = identity { return !verdicts.isEmpty }
    return true
  }

  /// Forgets what handlers said.
  func forget() {
    verdicts.removeAll()
    identity = configured
    rejections = 0
  }
}
