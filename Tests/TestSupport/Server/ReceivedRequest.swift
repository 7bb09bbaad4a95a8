/// A request as it came over the wire.
public struct ReceivedRequest: Sendable {
  /// Which connection of the server carried it, counted from 0.
  public let connection: Int
  /// Request line and fields, with the empty line that ends them, byte by byte.
  public let head: [UInt8]
  /// The body after removal of chunking.
  public internal(set) var body: [UInt8] = []
  /// The body as it came over the wire, chunk framing included.
  public internal(set) var rawBody: [UInt8] = []

  /// First word of the request line.
  public let method: String
  /// Second word of the request line, as sent.
  public let target: String
  /// Third word of the request line.
  public let version: String
  /// Fields in wire order.
  public let fields: [(name: String, value: String)]

  init(head: [UInt8], connection: Int) {
    self.head = head
    self.connection = connection
    var lines = latin1(head).components(separatedBy: "\r\n")
    let words = lines.removeFirst().split(separator: " ", maxSplits: 2, omittingEmptySubsequences: false)
    method = words.isEmpty ? "" : String(words[0])
    target = words.count > 1 ? String(words[1]) : ""
    version = words.count > 2 ? String(words[2]) : ""
    fields = lines.compactMap(ReceivedRequest.field)
  }

  private static func field(_ line: String) -> (name: String, value: String)? {
    guard let colon = line.firstIndex(of: ":") else { return nil }
    let value = line[line.index(after: colon)...].drop { $0 == " " || $0 == "\t" }
    return (String(line[..<colon]), String(value))
  }

  /// The first value of a field, its name compared without case.
  public subscript(name: String) -> String? {
    fields.first { $0.name.lowercased() == name.lowercased() }?.value
  }

  /// Every value of a field, in wire order.
  public func all(_ name: String) -> [String] {
    fields.filter { $0.name.lowercased() == name.lowercased() }.map(\.value)
  }

  /// The target without its query.
  public var path: String { String(target.prefix { $0 != "?" }) }

  /// Method and target, the shortest way to say which request this was.
  public var line: String { "\(method) \(target)" }

  /// The body as text.
  public var bodyText: String { String(decoding: body, as: UTF8.self) }

  /// Head and body as they came over the wire.
  public var wire: [UInt8] { head + rawBody }
}

/// Bytes as text of the same length: one character per byte.
public func latin1(_ bytes: some Sequence<UInt8>) -> String {
  var text = ""
  text.unicodeScalars.append(contentsOf: bytes.lazy.map { Unicode.Scalar($0) })
  return text
}

/// Text made by `latin1` back as bytes; characters beyond U+00FF become their UTF-8 bytes.
public func latin1Bytes(_ text: String) -> [UInt8] {
  text.unicodeScalars.flatMap { scalar in
    scalar.value < 256 ? [UInt8(scalar.value)] : Array(String(scalar).utf8)
  }
}
