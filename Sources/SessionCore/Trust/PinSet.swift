/// What a policy pins, as fingerprints to compare with.
struct PinSet {
  private let pinning: SecurityPolicy.Pinning
  private var fingerprints: Set<Fingerprint> = []

  /// Reads the files a policy names.
  static func load(_ policy: SecurityPolicy) -> Result<PinSet, TaskError> {
    var pins = PinSet(pinning: policy.pinning)
    defer { OpenSSL.forgetErrors() }
    guard policy.pinning != .none else { return .success(pins) }
    for source in policy.certificates {
      if let problem = pins.add(source) { return .failure(problem) }
    }
    return .success(pins)
  }

  private init(pinning: SecurityPolicy.Pinning) { self.pinning = pinning }

  /// The place of the first certificate in a chain that is pinned.
  func place(in chain: [Certificate]) -> Int? {
    switch pinning {
    case .none: nil
    case .publicKey: chain.firstIndex { fingerprints.contains($0.publicKeySHA256) }
    case .certificate: chain.firstIndex { fingerprints.contains($0.sha256) }
    }
  }

  private mutating func add(_ source: String) -> TaskError? {
    if source.hasPrefix("sha256//") {
      guard let pin = Fingerprint(pin: source) else { return Self.problem(source, "no SHA-256 in Base64") }
      fingerprints.insert(pin)
      return nil
    }
    if source.holds("-----BEGIN ") { return add(Bytes(source), named: "PEM text") }
    switch KeyFile.read(source) {
    case .failure(let error): return error
    case .success(let bytes): return add(bytes, named: source)
    }
  }

  private mutating func add(_ bytes: Bytes, named name: String) -> TaskError? {
    var found: [Fingerprint] = []
    if PEM.isPEM(bytes) {
      found = PEM.certificates(bytes).map(fingerprint)
      if pinning == .publicKey { found += PEM.publicKeys(bytes) }
    } else if let certificate = Certificate(der: bytes.buffer) {
      found = [fingerprint(certificate)]
    }
    guard !found.isEmpty else { return Self.problem(name, "no certificate in it") }
    fingerprints.formUnion(found)
    return nil
  }

  private func fingerprint(_ certificate: Certificate) -> Fingerprint {
    pinning == .publicKey ? certificate.publicKeySHA256 : certificate.sha256
  }

  private static func problem(_ name: String, _ what: String) -> TaskError {
    TaskError(.serverCertificateUntrusted, "security_policy cannot be used: \(name): \(what)")
  }
}
