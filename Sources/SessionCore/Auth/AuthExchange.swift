/// What a task and one party that asks for credentials (a server, or a proxy) have said to each other: which challenges
/// are left to try, what has been tried and refused. Without any I/O.
struct AuthExchange {
  /// What went along with a request, so that the next challenge can be seen as its refusal.
  struct Attempt: Equatable {
    var method: String
    /// nil where the credentials went out before anybody asked.
    var realm: String?
    /// nil for a request that a handler made itself.
    var credential: Credential?
  }

  /// How many challenges of one party are answered; more means that the two will not come to terms.
  static let answerLimit = 10

  /// The challenges of the last response that are left to try, strongest first.
  private(set) var offers: [AuthenticationChallenge] = []
  private(set) var attempt: Attempt?
  private var failures: [Key: Int] = [:]
  private var refused: [Key: Credential] = [:]
  private var answers = 0

  private struct Key: Hashable {
    let method: String
    let realm: String
  }

  /// The challenge that is next to be answered.
  var current: AuthenticationChallenge? { offers.first }

  /// Whether no further answer may be given.
  var isExhausted: Bool { answers >= Self.answerLimit }

  /// A response with these challenges has come: what went along with the request was refused.
  mutating func receive(_ challenges: [AuthenticationChallenge]) {
    offers = ChallengeRanking.strongestFirst(challenges)
    guard let attempt else { return }
    self.attempt = nil
    for offer in offers where offer.scheme == attempt.method && (attempt.realm ?? offer.realm) == offer.realm {
      let key = Self.key(offer)
      failures[key, default: 0] += 1
      if let credential = attempt.credential { refused[key] = credential }
      return
    }
  }

  func failureCount(of offer: AuthenticationChallenge) -> Int { failures[Self.key(offer)] ?? 0 }

  /// Whether it is what has just been refused there.
  func wasRefused(_ credential: Credential, for offer: AuthenticationChallenge) -> Bool {
    refused[Self.key(offer)]?.secret == credential.secret
  }

  /// The current challenge is not to be answered.
  mutating func rejectCurrent() {
    if !offers.isEmpty { offers.removeFirst() }
  }

  /// The next request answers the challenge, with credentials or by itself.
  mutating func answer(_ offer: AuthenticationChallenge, with credential: Credential?) {
    answers += 1
    attempt = Attempt(method: offer.scheme, realm: offer.realm, credential: credential)
  }

  /// The next request carries credentials that nobody has asked for.
  mutating func anticipate(method: String, credential: Credential) {
    attempt = Attempt(method: method, realm: nil, credential: credential)
  }

  private static func key(_ offer: AuthenticationChallenge) -> Key { Key(method: offer.scheme, realm: offer.realm) }
}
