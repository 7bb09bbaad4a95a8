import COpenSSL
import CTLSShim

/// Follows one TLS handshake: has the server's certificates judged, and shows our own where the server asks for one.
///
/// A handshake cannot wait for a handler. Where one has to be asked, the handshake is ended and `question` says what
/// about; once the answer has been told to the `HostTrust`, a second handshake goes through. Nothing of the application
/// is sent on a connection that has not been settled.
///
/// It knows nothing of libcurl. To use it on a connection of one's own: get the `HostTrust` from `SessionTrust.host`,
/// make a `ConnectionTrust`, `install` it on the SSL_CTX (whose store must have the trusted authorities), and shake
/// hands. If that fails, `question` or `refusal` says why; `TLSErrors.error` makes a `TaskError` of it.
final class ConnectionTrust {
  let host: HostTrust
  /// There is a handler.
  private let mayAsk: Bool
  /// What a handler has to be asked before the connection can be made.
  private(set) var question: Question?
  /// The server whose certificates are not good enough.
  private(set) var refusal: ServerTrust?
  /// The server has asked for a certificate of ours.
  private(set) var isCertificateRequested = false
  private(set) var isCertificateShown = false
  /// Judged, but for the stapled response that is still to come.
  private var pending: (chain: [Certificate], problems: [TrustProblem])?
  private var isEstablished = false

  enum Question {
    case serverTrust(ServerTrust)
    /// The authorities the server would believe, by RFC 4514.
    case clientCertificate(distinguishedNames: [String])

    /// What one answer is enough for.
    enum Subject: Hashable {
      case server(Fingerprint?)
      case client
    }

    var subject: Subject {
      switch self {
      case .serverTrust(let server): .server(server.leaf)
      case .clientCertificate: .client
      }
    }
  }

  /// Whether the question has been answered meanwhile, to another connection.
  var isAnswered: Bool {
    switch question {
    case .serverTrust(let server): return host.judge(server, mayAsk: true) == true
    case .clientCertificate:
      if case .unknown = host.identity { return false }
      return true
    case nil: return false
    }
  }

  /// The handshake waits for an answer (`SSL_ERROR_WANT_RETRY_VERIFY`, `SSL_ERROR_WANT_X509_LOOKUP`), where else the
  /// connection is made again after it.
  private let suspends: Bool

  /// `mayAsk`: there is a handler, and it is asked about what it has not been asked before.
  init(_ host: HostTrust, mayAsk: Bool, suspends: Bool = false) {
    self.host = host
    self.mayAsk = mayAsk
    self.suspends = suspends
  }

  /// Nothing may be sent.
  var isUnsettled: Bool { pending != nil || question != nil || refusal != nil }

  /// The connection is in use: from now on nobody can be asked.
  func establish() { isEstablished = true }

  /// The server has answered. (In TLS 1.3 it sees our certificate only after the handshake.)
  func succeed() {
    if isCertificateShown { host.identityAccepted() }
  }

  /// Puts itself into the connections made from this SSL_CTX, which keeps it alive. False when it cannot: then no
  /// connection must be made.
  func install(on context: OpaquePointer) -> Bool {
    let retained = Unmanaged.passRetained(self)
    guard SSL_CTX_set_ex_data(context, Self.slot, retained.toOpaque()) == 1 else {
      retained.release()
      return false
    }
    let argument = retained.toOpaque()
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nil)
    SSL_CTX_set_cert_verify_callback(context, Self.verify, argument)
    SSL_CTX_set_cert_cb(context, Self.certificateWanted, argument)
    // A server may ask for a certificate when it has seen what is requested.
    SSL_CTX_set_post_handshake_auth(context, 1)
    htls_request_status(context, Self.flightComplete, argument)
    guard let minimum = host.minimumTLS?.number, htls_minimum_version(context) < minimum else { return true }
    return htls_set_minimum_version(context, minimum) == 1
  }

  /// Where the SSL_CTX keeps it.
  private static let slot = CRYPTO_get_ex_new_index(
    CRYPTO_EX_INDEX_SSL_CTX, 0, nil, nil, nil,
    { _, object, _, _, _, _ in
      if let object { Unmanaged<ConnectionTrust>.fromOpaque(object).release() }
    })

  // MARK: OpenSSL asks

  private static let verify: @convention(c) (OpaquePointer?, UnsafeMutableRawPointer?) -> Int32 = { store, context in
    guard let store, let context else { return 0 }
    return Unmanaged<ConnectionTrust>.fromOpaque(context).takeUnretainedValue().verify(store) ? 1 : 0
  }

  private static let flightComplete: @convention(c) (OpaquePointer?, UnsafeMutableRawPointer?) -> Int32 = {
    ssl, context in
    guard let ssl, let context else { return 0 }
    return Unmanaged<ConnectionTrust>.fromOpaque(context).takeUnretainedValue().completeFlight(ssl) ? 1 : 0
  }

  private static let certificateWanted: @convention(c) (OpaquePointer?, UnsafeMutableRawPointer?) -> Int32 = {
    ssl, context in
    guard let ssl, let context else { return 0 }
    return Unmanaged<ConnectionTrust>.fromOpaque(context).takeUnretainedValue().showCertificate(ssl)
  }

  /// The server's certificates are there. In TLS 1.3 the stapled response is too; before, it comes later.
  private func verify(_ store: OpaquePointer) -> Bool {
    guard let raw = X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx()) else { return false }
    let ssl = OpaquePointer(raw)
    question = nil
    var problems = Self.problems(store)
    let chain = OpenSSL.elements(X509_STORE_CTX_get0_chain(store)).map(Certificate.init)
    guard let leaf = chain.first else { return false }
    if let problem = nameProblem(leaf) { problems.append(problem) }
    let isWhole = SSL_version(ssl) >= TLS1_3_VERSION
    let revocation =
      isWhole ? StapledResponse.read(ssl, chain: chain, store: X509_STORE_CTX_get0_store(store)) : .notKnown
    let trust = host.evaluate(chain, problems, revocation)
    // A handshake that can wait does so here, without what is still to come.
    if !isWhole, !suspends, host.judge(trust, mayAsk: mayAsk) != false {
      pending = (chain, problems)
    } else if !settle(trust, mayAsk: mayAsk) {
      if suspends, question != nil { return SSL_ctrl(ssl, SSL_CTRL_SET_RETRY_VERIFY, 0, nil) > 0 }
      let code = trust.refusal.map { Int32(truncatingIfNeeded: $0.code) }
      X509_STORE_CTX_set_error(store, code ?? X509_V_ERR_APPLICATION_VERIFICATION)
      return false
    }
    if !isWhole { pending = (chain, problems) }
    X509_STORE_CTX_set_error(store, X509_V_OK)
    return true
  }

  private func completeFlight(_ ssl: OpaquePointer) -> Bool {
    guard let (chain, problems) = pending else { return !isUnsettled }
    pending = nil
    let store = SSL_CTX_get_cert_store(SSL_get_SSL_CTX(ssl))
    let revocation = StapledResponse.read(ssl, chain: chain, store: store)
    return settle(host.evaluate(chain, problems, revocation), mayAsk: mayAsk && !suspends)
  }

  /// True where the handshake may go on.
  private func settle(_ trust: ServerTrust, mayAsk: Bool) -> Bool {
    switch host.judge(trust, mayAsk: mayAsk) {
    case true: return true
    case false: refusal = trust
    case nil: question = .serverTrust(trust)
    }
    return false
  }

  /// In OpenSSL's words: 1 to go on, 0 to fail, -1 to be asked again later.
  private func showCertificate(_ ssl: OpaquePointer) -> Int32 {
    isCertificateRequested = true
    question = nil
    switch host.identity {
    case .given(let identity):
      isCertificateShown = true
      return identity.use(on: ssl) ? 1 : 0
    case .none: return 1
    case .unknown:
      guard mayAsk, !isEstablished else { return 1 }
      let names = OpenSSL.elements(SSL_get_client_CA_list(ssl)).map(CertificateNames.text)
      question = .clientCertificate(distinguishedNames: names)
      return suspends ? -1 : 0
    }
  }

  // MARK: Verification

  /// More faults than a sensible chain can have.
  private static let problemLimit = 32

  private static func problems(_ store: OpaquePointer) -> [TrustProblem] {
    withUnsafeTemporaryAllocation(of: htls_problem.self, capacity: problemLimit) { found in
      let count = htls_verify(store, found.baseAddress, Int32(problemLimit))
      return found.prefix(Int(count)).map { TrustProblem($0.code, depth: Int($0.depth)) }
    }
  }

  private func nameProblem(_ leaf: Certificate) -> TrustProblem? {
    let address = X509_check_ip_asc(leaf.x509, host.name, 0)
    // -2: the name is no address.
    guard address == -2 else { return address == 1 ? nil : .wrongAddress }
    let flags = UInt32(X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS)
    return X509_check_host(leaf.x509, host.name, 0, flags, nil) == 1 ? nil : .wrongName
  }
}

extension TLSVersion {
  /// OpenSSL's number.
  var number: Int32 {
    switch self {
    case .v1_0: TLS1_VERSION
    case .v1_1: TLS1_1_VERSION
    case .v1_2: TLS1_2_VERSION
    case .v1_3: TLS1_3_VERSION
    }
  }
}
