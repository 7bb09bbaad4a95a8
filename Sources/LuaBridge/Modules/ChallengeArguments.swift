import SessionCore

/// The arguments of `core.answer_challenge` behind the task: what to do, then what goes with it.
///
/// "credential": persistence, kind ("password", "token", "certificate", "trust") and its texts. "request": as in
/// `TaskArguments.request`. "default", "cancel", "reject", "deliver": nothing.
enum ChallengeArguments {
  static func answer(_ call: HostCall) -> Answer? {
    switch call.string(2) {
    case "credential": credential(call, at: 3).map { .challenge(.useCredential($0)) }
    case "default": .challenge(.performDefaultHandling)
    case "cancel": .challenge(.cancel)
    case "reject": .challenge(.rejectProtectionSpace)
    case "deliver": .challenge(.deliverResponse)
    case "request":
      call.string(3).flatMap { TaskArguments.request(call, method: $0, at: 4, parts: 8) }
        .map { .challenge(.request($0)) }
    default: nil
    }
  }

  /// Persistence at `index`, then kind and texts.
  static func credential(_ call: HostCall, at index: Int) -> Credential? {
    guard let persistence = call.string(index).flatMap(Credential.Persistence.init) else { return nil }
    return secret(call, at: index + 1).map { Credential($0, persistence: persistence) }
  }

  private static func secret(_ call: HostCall, at index: Int) -> Credential.Secret? {
    switch call.string(index) {
    case "password":
      guard let user = call.octets(index + 1), let password = call.octets(index + 2) else { return nil }
      return .password(user: user, password: password)
    case "token": return call.octets(index + 1).map { .token($0) }
    case "certificate":
      return call.string(index + 1).map {
        .certificate(path: $0, key: call.string(index + 2), password: call.string(index + 3))
      }
    case "trust":
      return call.string(index + 1).flatMap(Fingerprint.init(hexadecimal:)).map { .serverTrust(leaf: $0) }
    default: return nil
    }
  }
}
