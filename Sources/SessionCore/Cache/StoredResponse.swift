/// A response as it is stored: everything but the bytes of its body.
struct StoredResponse: Equatable {
  /// Names it within its store.
  var id = 0
  /// `CacheKey` of the request it answers.
  var key: String
  var status: Int { didSet { meaning = Meaning() } }
  var reason: String
  var httpVersion: String
  /// Without the fields that belong to the connection.
  var fields: MessageFields { didSet { meaning = Meaning() } }
  var selecting = SelectingFields()
  var requestedAt: Double { didSet { meaning = Meaning() } }
  var receivedAt: Double { didSet { meaning = Meaning() } }
  /// Bytes of the body, as they came over the wire.
  var length: Int
  var place = Place.nowhere
  /// Of a 206: which part of the whole the body is.
  var part: Part?
  /// When it was stored (Unix seconds).
  var storedAt = 0.0
  /// What a script has put beside it (JSON).
  var userInfo: [UInt8] = []
  var storage = CachedResponse.Storage.allowed
  private var meaning = Meaning()

  /// Where the body is.
  enum Place: Equatable {
    case nowhere
    case memory(Bytes)
    case file(name: String, digest: [UInt8])

    static func == (a: Place, b: Place) -> Bool {
      switch (a, b) {
      case (.nowhere, .nowhere): true
      case (.memory(let one), .memory(let other)): one === other
      case (.file(let one, _), .file(let other, _)): one == other
      default: false
      }
    }
  }

  struct Part: Equatable {
    var first: Int
    /// The length of the whole.
    var total: Int
  }

  init(
    id: Int = 0, key: String, status: Int, reason: String, httpVersion: String, fields: MessageFields,
    selecting: SelectingFields = SelectingFields(), requestedAt: Double, receivedAt: Double, length: Int,
    place: Place = .nowhere
  ) {
    self.id = id
    self.key = key
    self.status = status
    self.reason = reason
    self.httpVersion = httpVersion
    self.fields = fields
    self.selecting = selecting
    self.requestedAt = requestedAt
    self.receivedAt = receivedAt
    self.length = length
    self.place = place
  }

  var directives: CacheDirectives { meaning.directives(fields) }

  var freshness: Freshness { meaning.freshness(self) }

  var isComplete: Bool { part == nil }

  /// When the server made it.
  var date: Double { freshness.date }

  var etag: [UInt8]? { fields.bytes("etag") }
  var lastModified: [UInt8]? { fields.bytes("last-modified") }
  var hasValidator: Bool { etag != nil || lastModified != nil }

  /// Two responses with this are one representation byte for byte (RFC 9110 §8.8.1).
  var strongETag: [UInt8]? { etag.flatMap { Self.isStrong($0) ? $0 : nil } }

  /// What the fields mean, worked out once for all copies: a decision needs it several times, and it is most of what
  /// one costs.
  private final class Meaning: Equatable {
    private var directives: CacheDirectives?
    private var freshness: Freshness?

    /// It follows from the rest.
    static func == (a: Meaning, b: Meaning) -> Bool { true }

    func directives(_ fields: MessageFields) -> CacheDirectives {
      if let directives { return directives }
      let made = CacheDirectives(fields.all("cache-control"))
      directives = made
      return made
    }

    func freshness(_ response: StoredResponse) -> Freshness {
      if let freshness { return freshness }
      let made = Freshness(
        status: response.status, fields: response.fields, directives: directives(response.fields),
        requestedAt: response.requestedAt, receivedAt: response.receivedAt)
      freshness = made
      return made
    }
  }

  static func isStrong(_ etag: [UInt8]) -> Bool { etag.first == UInt8(ascii: "\"") }

  /// The bytes of the body that are stored, by their place in the whole.
  var bounds: Range<Int> {
    let first = part?.first ?? 0
    return first..<(first + length)
  }

  /// The fields as they are given out: with the age it has.
  func served(at now: Double) -> MessageFields {
    var result = fields
    result.set("Age", String(Int(min(freshness.age(at: now), CacheDirectives.largest))))
    return result
  }
}
