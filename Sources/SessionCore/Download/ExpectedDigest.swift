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
}

/// The fields in which a server says what the digest is: Content-Digest and Repr-Digest (RFC 9530), and the older Digest
/// (RFC 3230). What cannot be read, or has an algorithm that is not known here, says nothing.
enum DigestFields {
  /// RFC 9530: `sha-256=:base64:`, several of them separated by commas. The strongest that is understood.
  static func structured(_ values: [String]) -> ExpectedDigest? {
    strongest(values) { text in
      guard text.utf8.count >= 2, text.hasPrefix(":"), text.hasSuffix(":") else { return nil }
      return text.dropFirst().dropLast()
    }
  }

  /// RFC 3230: `SHA-256=base64`.
  static func old(_ values: [String]) -> ExpectedDigest? { strongest(values) { $0 } }

  private static func strongest(_ values: [String], _ unwrap: (Substring) -> Substring?) -> ExpectedDigest? {
    var found: [ExpectedDigest] = []
    for member in values.flatMap({ $0.split(separator: ",") }) {
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
