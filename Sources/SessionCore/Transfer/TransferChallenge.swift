import CCurlShim

/// The plain `digest` and `any` options: the server is asked first, and its 401 answered once.
extension Transfer {
  enum ChallengeScheme {
    case basic
    case digest
  }

  /// Looks whether a 401 can be answered with the credentials given. At most once for each URL.
  func chooseScheme() -> Bool {
    guard !answeredChallenge, challengeScheme == nil else { return false }
    let offered = ChallengeParser.parse(HeaderText.values(of: "www-authenticate", in: intake.block))
    let hasDigest = offered.contains { $0.scheme == "digest" }
    let hasBasic = offered.contains { $0.scheme == "basic" }
    switch authentication {
    case .digest: challengeScheme = hasDigest ? .digest : nil
    case .any: challengeScheme = hasDigest ? .digest : hasBasic ? .basic : nil
    case .none, .basic, .bearer: challengeScheme = nil
    }
    return challengeScheme != nil
  }

  /// Gives libcurl the credentials before the first request, and the scheme before the one that answers the
  /// challenge. The handle is the one that received the challenge, and has kept the server's nonce.
  func prepareCredentials(_ easy: EasyHandle) {
    switch authentication {
    case .none, .basic, .bearer: return
    case .digest(let user, let password), .any(let user, let password):
      guard let scheme = challengeScheme else { return easy.setCredentials(user: user, password: password) }
      answeredChallenge = true
      // CURLAUTH_DIGEST and CURLAUTH_BASIC are macros with casts, which Swift does not see.
      easy.setSchemes(scheme == .digest ? 1 << 1 : 1)
    }
  }
}
