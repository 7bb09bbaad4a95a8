import Foundation

/// A directory that goes, with all that is in it, when the last reference does.
public final class TemporaryDirectory: Sendable {
  /// Absolute path without a final slash.
  public let path: String

  /// Makes a new empty directory that everybody may enter, for servers that drop privileges.
  public init() throws {
    path = FileManager.default.temporaryDirectory.path + "/httpscript-test-" + UUID().uuidString
    try FileManager.default.createDirectory(
      atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o755])
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  /// Writes a file, making the directories above it.
  ///
  /// - Returns: its absolute path.
  @discardableResult
  public func write(_ name: String, _ bytes: [UInt8]) throws -> String {
    let file = URL(fileURLWithPath: path).appendingPathComponent(name)
    try FileManager.default.createDirectory(
      at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data(bytes).write(to: file)
    return file.path
  }

  /// Writes a file of text.
  @discardableResult
  public func write(_ name: String, _ text: String) throws -> String { try write(name, Array(text.utf8)) }

  /// The bytes of a file, nil when there is none.
  public func read(_ name: String) -> [UInt8]? {
    (try? Data(contentsOf: URL(fileURLWithPath: path + "/" + name))).map(Array.init)
  }

  /// The names in the directory, sorted.
  public var names: [String] {
    ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []).sorted()
  }
}
