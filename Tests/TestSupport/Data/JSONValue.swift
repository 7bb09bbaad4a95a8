import Foundation

/// A JSON document as the fixtures need it: looked into by key and index.
public enum JSONValue: Sendable, Equatable {
  case null
  case bool(Bool)
  case number(Double)
  case string(String)
  case array([JSONValue])
  case object([String: JSONValue])

  /// Parses a document.
  public init(parsing bytes: [UInt8]) throws {
    self = try JSONDecoder().decode(JSONValue.self, from: Data(bytes))
  }

  /// A member of an object; null when there is none.
  public subscript(key: String) -> JSONValue {
    if case .object(let members) = self { members[key] ?? .null } else { .null }
  }

  /// An element of an array; null when there is none.
  public subscript(index: Int) -> JSONValue { array.indices.contains(index) ? array[index] : .null }

  /// The elements of an array; empty for everything else.
  public var array: [JSONValue] { if case .array(let elements) = self { elements } else { [] } }

  /// The members of an object; empty for everything else.
  public var object: [String: JSONValue] { if case .object(let members) = self { members } else { [:] } }

  /// The text of a string.
  public var string: String? { if case .string(let text) = self { text } else { nil } }

  /// A number without a fraction.
  public var integer: Int? { if case .number(let number) = self { Int(exactly: number) } else { nil } }

  /// true for `true` alone.
  public var isTrue: Bool { self == .bool(true) }

  /// true for null and for what is not there.
  public var isNull: Bool { self == .null }

  /// The document as text, keys sorted.
  public var text: String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return (try? encoder.encode(self)).map { String(decoding: $0, as: UTF8.self) } ?? "null"
  }
}

extension JSONValue: Codable {
  /// Decodes whatever stands there.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if container.decodeNil() {
      self = .null
    } else if let value = try? container.decode(Bool.self) {
      self = .bool(value)
    } else if let value = try? container.decode(Double.self) {
      self = .number(value)
    } else if let value = try? container.decode(String.self) {
      self = .string(value)
    } else if let value = try? container.decode([JSONValue].self) {
      self = .array(value)
    } else {
      self = .object(try container.decode([String: JSONValue].self))
    }
  }

  /// Encodes the value itself.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch self {
    case .null: try container.encodeNil()
    case .bool(let value): try container.encode(value)
    case .number(let value):
      if let integer = Int(exactly: value) { try container.encode(integer) } else { try container.encode(value) }
    case .string(let value): try container.encode(value)
    case .array(let value): try container.encode(value)
    case .object(let value): try container.encode(value)
    }
  }
}
