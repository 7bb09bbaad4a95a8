/// Text whose encoding nobody has named: realms, users, passwords and tokens (RFC 7617 §2). The bytes are kept as they
/// came, and go on the wire so.
public struct Octets: Hashable, Sendable, ExpressibleByStringLiteral {
  public let bytes: [UInt8]

  public init(bytes: some Sequence<UInt8>) { self.bytes = Array(bytes) }
  public init(_ text: String) { bytes = Array(text.utf8) }
  public init(stringLiteral text: String) { self.init(text) }

  public var isEmpty: Bool { bytes.isEmpty }

  /// nil where they are not UTF-8.
  public var text: String? { String(validating: bytes, as: UTF8.self) }
}
