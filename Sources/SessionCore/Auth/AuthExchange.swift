/// What a task and one party that asks for credentials (a server, or a proxy) have said to each other: which challenges
/// are left to try, what has been tried and refused. Without any I/O.
struct AuthExchange {
  /// What went along with a request, so that the next challenge can be seen as its refusal.
  struct Attempt {
    var method: String
    /// nil where nobody has said it yet.
    var realm: Octets?
    /// nil for a request that a handler made itself.
    var credential: Credential?
    /// What was answered; nil where the credentials went along unasked.
    var offer: AuthenticationChallenge?
    /// A refusal counts as a failure of this task's.
    var counts = true
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
    let realm: Octets
  }

  /// The challenge that is next to be answered.
  var current: AuthenticationChallenge? { offers.first }

  /// Whether no further answer may be given.
  var isExhausted: Bool { answers >= Self.answerLimit }

  /// Whether a challenge has been answered.
  var hasAnswered: Bool { answers > 0 }

  /// A response with these challenges has come: what went along with the request was refused. Answers that, unless
  /// something else is asked for now.
  @discardableResult
  mutating func receive(_ challenges: [AuthenticationChallenge]) -> Attempt? {
    offers = ChallengeRanking.strongestFirst(challenges)
    guard let attempt else { return nil }
    self.attempt = nil
    for offer in offers where offer.scheme == attempt.method && (attempt.realm ?? offer.realm) == offer.realm {
      let key = Self.key(offer)
      if attempt.counts { failures[key, default: 0] += 1 }
      if let credential = attempt.credential { refused[key] = credential }
      return attempt
    }
    return nil
  }

  /// The request got through. Answers the credentials that were accepted in answer to a challenge.
  mutating func accepted() -> (Credential, AuthenticationChallenge)? {
    defer { attempt = nil }
    guard let attempt, let credential = attempt.credential, let offer = attempt.offer else { return nil }
    return (credential, offer)
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
    attempt = Attempt(method: offer.scheme, realm: offer.realm, credential: credential, offer: offer)
  }

  /// The next request carries credentials that nobody has asked for.
  mutating func anticipate(_ attempt: Attempt) { self.attempt = attempt }

  private static func key(_ offer: AuthenticationChallenge) -> Key { Key(method: offer.scheme, realm: offer.realm) }
}
