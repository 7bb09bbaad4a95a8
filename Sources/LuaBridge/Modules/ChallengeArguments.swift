import SessionCore

/// The arguments of `core.answer_challenge` behind the task: what to do, then what goes with it.
///
/// "credential": persistence, kind ("password", "token", "certificate", "trust") and its texts. "request": as in
/// `TaskArguments.request`. "default", "cancel", "reject", "deliver": nothing.
enum ChallengeArguments {
  static func answer(_ call: HostCall) -> Answer? {
    switch call.string(2) {
    case "credential": credential(call).map { .challenge(.useCredential($0)) }
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

  private static func credential(_ call: HostCall) -> Credential? {
    guard let persistence = call.string(3).flatMap(Credential.Persistence.init) else { return nil }
    return secret(call).map { Credential($0, persistence: persistence) }
  }

  private static func secret(_ call: HostCall) -> Credential.Secret? {
    switch call.string(4) {
    case "password":
      guard let user = call.string(5), let password = call.string(6) else { return nil }
      return .password(user: user, password: password)
    case "token": return call.string(5).map { .token($0) }
    case "certificate":
      return call.string(5).map { .certificate(path: $0, key: call.string(6), password: call.string(7)) }
    case "trust": return call.string(5).flatMap(Fingerprint.init(hexadecimal:)).map { .serverTrust(leaf: $0) }
    default: return nil
    }
  }
}
