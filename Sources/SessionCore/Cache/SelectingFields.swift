/// The part of a request by which one of several stored responses is selected (RFC 9111 §4.1): for each field that
/// Vary names, what the request said. Only digests are kept, since such a field may be a secret (Cookie, Authorization).
struct SelectingFields: Equatable, Sendable {
  struct Field: Equatable, Sendable {
    /// In lower case.
    var name: String
    var digest: [UInt8]
  }

  var fields: [Field] = []

  /// A response that varies with everything: no request selects it.
  struct MatchesNothing: Error {}

  init() {}

  init(response: MessageFields, directives: CacheDirectives, request: CacheRequest) throws(MatchesNothing) {
    var names = response.tokens("vary")
    if names.contains("*") { throw MatchesNothing() }
    // Another user's response is no answer, nor is what anybody gets one for a user, whether the server says so or not.
    if !directives.has("public") { names.append("authorization") }
    for name in names where !fields.contains(where: { $0.name == name }) {
      guard let digest = Self.digest(name, request) else { throw MatchesNothing() }
      fields.append(Field(name: name, digest: digest))
    }
  }

  /// The request is one that this response answers.
  func match(_ request: CacheRequest) -> Bool {
    fields.allSatisfy { $0.digest == Self.digest($0.name, request) }
  }

  /// Empty for a field that is absent; nil, which is like no other, where it cannot be had. The key goes into it, so that
  /// digests of two URLs cannot be compared.
  private static func digest(_ name: String, _ request: CacheRequest) -> [UInt8]? {
    guard let value = value(name, request) else { return [] }
    let text = Array("\(request.key)\0\(name)\0".utf8) + value
    return text.withUnsafeBytes { Hash.sha256.digest($0) }.map { Array($0.prefix(16)) }
  }

  /// What the request says in a field; nil where it has none.
  private static func value(_ name: String, _ request: CacheRequest) -> [UInt8]? {
    switch name {
    case "authorization": request.identity?.bytes
    case "cookie": request.cookies()
    default: normalised(name, request.fields.all(name)).map { Array($0.utf8) }
    }
  }

  /// Several lines are one list; white space around commas says nothing; languages and codings are names without case
  /// whose order says nothing. Nil: the field is absent.
  static func normalised(_ name: String, _ values: [String]) -> String? {
    guard !values.isEmpty else { return nil }
    var members = values.flatMap { $0.split(separator: ",") }.map(MessageFields.trimmed).filter { !$0.isEmpty }
    if name == "accept-language" || name == "accept-encoding" {
      members = members.map { $0.lowercased().filter { $0 != " " } }.sorted()
    }
    return members.joined(separator: ", ")
  }

  // MARK: On disk

  /// Names and digests, each digest in hexadecimal.
  var text: String { fields.map { "\($0.name)=\(Hexadecimal.encode($0.digest))" }.joined(separator: "\n") }

  init?(text: String) {
    for line in text.split(separator: "\n") {
      guard let equals = line.firstIndex(of: "="),
        let digest = Hexadecimal.decode(line[line.index(after: equals)...])
      else { return nil }
      fields.append(Field(name: String(line[..<equals]), digest: digest))
    }
  }
}
