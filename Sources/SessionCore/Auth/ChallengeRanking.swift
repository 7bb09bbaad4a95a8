/// Which of a response's challenges is answered first.
enum ChallengeRanking {
  /// Negotiate proves itself without a password, Digest without showing one (SHA-256 better than MD5), NTLM likewise
  /// but with older means; tokens and schemes of other names come next, and Basic, which shows the password, last.
  /// Equals stay in the server's order.
  static func strongestFirst(_ challenges: [AuthenticationChallenge]) -> [AuthenticationChallenge] {
    usable(challenges).enumerated()
      .sorted { a, b in
        let (left, right) = (strength(a.element), strength(b.element))
        return left != right ? left > right : a.offset < b.offset
      }
      .map(\.element)
  }

  /// libcurl keeps the first Digest challenge of a response, so that is the one that can be answered (RFC 7616 §3.7
  /// has servers name the one they like best first).
  private static func usable(_ challenges: [AuthenticationChallenge]) -> [AuthenticationChallenge] {
    var hasDigest = false
    return challenges.filter { challenge in
      guard challenge.scheme == "digest" else { return true }
      defer { hasDigest = true }
      return !hasDigest
    }
  }

  private static func strength(_ challenge: AuthenticationChallenge) -> Int {
    switch challenge.scheme {
    case "negotiate": return 6
    case "digest":
      let algorithm = challenge.parameter("algorithm")?.lowercased() ?? "md5"
      return algorithm.hasPrefix("md5") ? 4 : 5
    case "ntlm": return 3
    case "basic": return 1
    default: return 2
    }
  }
}
