/// What a later process needs to go on with a download (`NSURLSessionDownloadTaskResumeData`): a versioned value that
/// knows when it has been damaged. No secret is in it.
public struct ResumeData: Equatable, Sendable {
  public enum Problem: Error, Equatable {
    /// Not what `encoded` gave, or changed since.
    case damaged
    /// Made by a version of the program that is newer than this one.
    case unknownVersion

    public var message: String {
      switch self {
      case .damaged: return "the resume data is damaged"
      case .unknownVersion: return "the resume data is of a later version of httpscript"
      }
    }
  }

  public var url: String
  /// The request's fields, without those that carry secrets.
  public var headers: [HeaderField]
  /// Where the bytes are.
  var path: String
  /// How many of them are good, and their SHA-256.
  var length: Int
  var digest: [UInt8]
  var validator: Validator
  /// The whole file's length, where it is known.
  var total: Int?

  var plan: ResumePlan { ResumePlan(validator: validator, total: total, have: length) }

  init(
    url: String, headers: [HeaderField], path: String, length: Int, digest: [UInt8], validator: Validator, total: Int?
  ) {
    self.url = Self.withoutUserInformation(url)
    self.headers = headers.filter { !Self.isSecret($0.name) }
    self.path = path
    self.length = length
    self.digest = digest
    self.validator = validator
    self.total = total
  }

  /// Fields whose values are, or may be, secrets.
  static func isSecret(_ name: String) -> Bool {
    let name = name.lowercased()
    let signs: [StaticString] = ["auth", "cookie", "token", "secret", "password", "key", "signature", "credential"]
    return signs.contains { name.holds($0) }
  }

  private static func withoutUserInformation(_ url: String) -> String {
    guard case .success(var parts) = URLParts.parse(url), parts.user != nil || parts.password != nil else { return url }
    parts.user = nil
    parts.password = nil
    return (try? parts.text.get()) ?? url
  }

  // MARK: As bytes

  private static let magic = Array("httpscript resume ".utf8)
  private static let version: UInt8 = 1

  /// The magic words, the version, the fields, and a SHA-256 of all that.
  public var encoded: [UInt8] {
    var writer = ByteWriter(bytes: Self.magic + [Self.version])
    writer.append(url)
    writer.append(headers.count)
    for field in headers {
      writer.append(field.name)
      writer.append(field.value)
    }
    writer.append(path)
    writer.append(length)
    writer.append(digest)
    writer.append(validator.kindAndText)
    writer.append(total ?? -1)
    return writer.bytes + Hash.sha256.digest(of: writer.bytes)
  }

  public init(decoding bytes: [UInt8]) throws(Problem) {
    let digestSize = Hash.sha256.size
    guard bytes.count > Self.magic.count + digestSize, bytes.starts(with: Self.magic) else { throw .damaged }
    let content = Array(bytes.dropLast(digestSize))
    guard Hash.sha256.digest(of: content) == Array(bytes.suffix(digestSize)) else { throw .damaged }
    guard bytes[Self.magic.count] == Self.version else { throw .unknownVersion }
    var reader = ByteReader(content[(Self.magic.count + 1)...])
    guard let read = Self.read(&reader), reader.isAtEnd else { throw .damaged }
    self = read
  }

  private static func read(_ reader: inout ByteReader) -> ResumeData? {
    guard let url = reader.text(), let count = reader.number(), count >= 0 else { return nil }
    var headers: [HeaderField] = []
    for _ in 0..<count {
      guard let name = reader.text(), let value = reader.bytes() else { return nil }
      headers.append(HeaderField(name, bytes: value))
    }
    guard let path = reader.text(), let length = reader.number(), length > 0, let digest = reader.bytes(),
      let validator = reader.text().flatMap(Validator.init(text:)), let total = reader.number()
    else { return nil }
    return ResumeData(
      url: url, headers: headers, path: path, length: length, digest: digest, validator: validator,
      total: total < 0 ? nil : total)
  }
}

/// Numbers of eight bytes, and byte strings after their length.
struct ByteWriter {
  private(set) var bytes: [UInt8]

  mutating func append(_ number: Int) {
    withUnsafeBytes(of: Int64(number).littleEndian) { bytes.append(contentsOf: $0) }
  }

  mutating func append(_ text: [UInt8]) {
    append(text.count)
    bytes += text
  }

  mutating func append(_ text: String) { append(Array(text.utf8)) }
}

/// Reads what `ByteWriter` wrote; nil where it cannot have.
struct ByteReader {
  private var rest: ArraySlice<UInt8>

  init(_ bytes: ArraySlice<UInt8>) { rest = bytes }

  var isAtEnd: Bool { rest.isEmpty }

  mutating func number() -> Int? {
    guard rest.count >= 8 else { return nil }
    var value: UInt64 = 0
    for (index, byte) in rest.prefix(8).enumerated() { value |= UInt64(byte) << (8 * UInt64(index)) }
    rest = rest.dropFirst(8)
    return Int(Int64(bitPattern: value))
  }

  mutating func bytes() -> [UInt8]? {
    guard let count = number(), count >= 0, count <= rest.count else { return nil }
    defer { rest = rest.dropFirst(count) }
    return Array(rest.prefix(count))
  }

  mutating func text() -> String? { bytes().map { String(decoding: $0, as: UTF8.self) } }
}
