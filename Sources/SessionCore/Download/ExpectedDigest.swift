/// What the digest of a file or body must be.
public struct ExpectedDigest: Equatable, Sendable {
  public var algorithm: DigestAlgorithm
  public var value: [UInt8]

  public init(_ algorithm: DigestAlgorithm, _ value: [UInt8]) {
    self.algorithm = algorithm
    self.value = value
  }

  /// Of a text like `sha256:` and the digest in hexadecimal; nil for any other.
  public init?(_ text: String) {
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    guard parts.count == 2, let algorithm = DigestAlgorithm(rawValue: parts[0].lowercased()),
      let value = Self.bytes(ofHexadecimal: parts[1]), value.count == algorithm.size
    else { return nil }
    self.init(algorithm, value)
  }

  private static func bytes(ofHexadecimal text: Substring) -> [UInt8]? {
    let digits = text.utf8.map { byte -> UInt8? in
      switch byte {
      case 0x30...0x39: return byte - 0x30
      case 0x41...0x46, 0x61...0x66: return (byte | 0x20) - 0x57
      default: return nil
      }
    }
    guard digits.count % 2 == 0 else { return nil }
    var bytes: [UInt8] = []
    for index in stride(from: 0, to: digits.count, by: 2) {
      guard let high = digits[index], let low = digits[index + 1] else { return nil }
      bytes.append(high << 4 | low)
    }
    return bytes
  }

  static func hexadecimal(_ bytes: [UInt8]) -> String {
    bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
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

  private static func algorithm(_ name: String) -> DigestAlgorithm? {
    switch name.lowercased() {
    case "sha-512": return .sha512
    case "sha-256": return .sha256
    case "sha": return .sha1
    case "md5": return .md5
    default: return nil
    }
  }
}
