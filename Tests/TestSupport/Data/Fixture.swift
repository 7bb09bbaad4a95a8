import Foundation

/// Files under Tests/Fixtures.
public enum Fixture {
  /// Tests/Fixtures.
  public static let directory = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    .appendingPathComponent("Fixtures").path

  /// The root of the package.
  public static let package = URL(fileURLWithPath: directory)
    .deletingLastPathComponent().deletingLastPathComponent().path

  /// The bytes of a fixture.
  public static func bytes(_ name: String) throws -> [UInt8] {
    Array(try Data(contentsOf: URL(fileURLWithPath: directory + "/" + name)))
  }

  /// A JSON document anywhere.
  public static func json(at path: String) throws -> JSONValue {
    try JSONValue(parsing: Array(try Data(contentsOf: URL(fileURLWithPath: path))))
  }

  /// A variable of the tests' own environment; nil where it is not set, or empty.
  public static func environment(_ name: String) -> String? {
    ProcessInfo.processInfo.environment[name].flatMap { $0.isEmpty ? nil : $0 }
  }

  /// A fixture that is a JSON document.
  public static func json(_ name: String) throws -> JSONValue { try JSONValue(parsing: bytes(name)) }
}

/// A Lua string literal for any bytes.
public func luaLiteral(_ bytes: some Sequence<UInt8>) -> String {
  "\""
    + bytes.map { byte in
      switch byte {
      case 0x20...0x7e where byte != 0x22 && byte != 0x5c: String(Unicode.Scalar(byte))
      default: "\\x" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
      }
    }.joined() + "\""
}

/// A Lua string literal for text, as UTF-8.
public func luaLiteral(_ text: String) -> String { luaLiteral(Array(text.utf8)) }
