/// What the digest of a file or body must be.
public struct ExpectedDigest: Equatable, Sendable {
  public var algorithm: Hash
  public var value: [UInt8]

  public init(_ algorithm: Hash, _ value: [UInt8]) {
    self.algorithm = algorithm
    self.value = value
  }

  /// Of a text like `sha256:` and the digest in hexadecimal; nil for any other.
  public init?(_ text: String) {
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    guard parts.count == 2, let algorithm = Hash(rawValue: parts[0].lowercased()),
      let value = Hexadecimal.decode(parts[1]), value.count == algorithm.size
    else { return nil }
    self.init(algorithm, value)
  }

  /// What `init(_:)` reads.
  public var text: String { "\(algorithm.rawValue):\(Hexadecimal.encode(value))" }

  /// What the fields of a response say of the whole of what was asked for, also where the response has only a part of it.
  public static func ofRepresentation(inHeaderBlock block: Bytes) -> [(source: String, expected: ExpectedDigest)] {
    DigestFields.ofRepresentation(in: block)
  }
}

/// The fields in which a server says what the digest is: Content-Digest and Repr-Digest (RFC 9530), and the older Digest
/// (RFC 3230). What cannot be read, or has an algorithm that is not known here, says nothing.
enum DigestFields {
  /// What Repr-Digest and Digest say, as far as they are there.
  static func ofRepresentation(in block: Bytes) -> [(source: String, expected: ExpectedDigest)] {
    let fields = [
      ("Repr-Digest", structured(HeaderText.values(of: "repr-digest", in: block))),
      ("Digest", old(HeaderText.values(of: "digest", in: block))),
    ]
    return fields.compactMap { name, expected in expected.map { (name, $0) } }
  }

  /// RFC 9530: `sha-256=:base64:`, several of them separated by commas. The strongest that is understood.
  static func structured(_ values: [String]) -> ExpectedDigest? { strongest(values.flatMap(members), byteSequence) }

  /// RFC 3230: `SHA-256=base64`.
  static func old(_ values: [String]) -> ExpectedDigest? {
    strongest(values.flatMap { $0.split(separator: ",") }) { $0 }
  }

  /// The members of a dictionary (RFC 8941 §3.2). A comma in a parameter's string separates none.
  private static func members(_ value: String) -> [Substring] {
    var isQuoted = false
    var isEscaped = false
    return value.split { character in
      if isEscaped {
        isEscaped = false
      } else if isQuoted, character == "\\" {
        isEscaped = true
      } else if character == "\"" {
        isQuoted.toggle()
      }
      return !isQuoted && character == ","
    }
  }

  /// What stands between the colons. Parameters may follow (RFC 8941 §3.1.2), and mean nothing here.
  private static func byteSequence(_ text: Substring) -> Substring? {
    guard text.first == ":" else { return nil }
    let inner = text.dropFirst()
    guard let end = inner.firstIndex(of: ":") else { return nil }
    let rest = inner[inner.index(after: end)...]
    return rest.isEmpty || rest.first == ";" ? inner[..<end] : nil
  }

  private static func strongest(_ members: [Substring], _ unwrap: (Substring) -> Substring?) -> ExpectedDigest? {
    var found: [ExpectedDigest] = []
    for member in members {
      guard let equals = member.firstIndex(of: "="),
        let algorithm = algorithm(HeaderText.trimmed(String(member[..<equals]))),
        let text = unwrap(HeaderText.trimmed(String(member[member.index(after: equals)...]))[...]),
        let value = decode(text), value.count == algorithm.size
      else { continue }
      found.append(ExpectedDigest(algorithm, value))
    }
    return found.max { $0.algorithm.size < $1.algorithm.size }
  }

  private static func decode(_ text: Substring) -> [UInt8]? {
    var text = String(text)
    return text.withUTF8 { Base64.decode(UnsafeRawBufferPointer($0)) }
  }

  private static func algorithm(_ name: String) -> Hash? {
    switch name.lowercased() {
    case "sha-512": return .sha512
    case "sha-256": return .sha256
    case "sha": return .sha1
    case "md5": return .md5
    default: return nil
    }
  }
}
