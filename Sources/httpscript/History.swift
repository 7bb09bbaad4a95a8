import Glibc
import SessionCore

/// The lines of former dialogues: a text file, one line each, for the user's eyes only.
///
/// A line that begins with a space is not kept, as shells do it: the way to type a password.
final class History {
  /// How many lines are kept.
  static let limit = 1000
  private let path: String?
  private var last: [UInt8]?

  /// - Parameter environment: looks a variable up. The file is among what is remembered between runs (`Directories`);
  ///   where there is no place for that, nothing is kept.
  init(environment: (String) -> String?) {
    path = Directories(environment: environment).state.map { $0 + "/history" }
  }

  /// The kept lines, oldest first. A file that has grown to twice the limit is cut down to it.
  func load() -> [[UInt8]] {
    guard let path, let bytes = Self.read(path) else { return [] }
    let lines = bytes.split(separator: UInt8(ascii: "\n"))
    let kept = lines.suffix(Self.limit).map { Array($0) }
    if lines.count >= Self.limit * 2 { Self.replace(path, with: kept) }
    last = kept.last
    return kept
  }

  /// Keeps a line, in the file too where that is possible.
  /// - Returns: false when it is not one to keep: empty, the same as the last one, or beginning with a space.
  func add(_ line: [UInt8]) -> Bool {
    guard let first = line.first, first != UInt8(ascii: " "), line != last else { return false }
    last = line
    if let path {
      // A failure shows when the file is opened.
      _ = Directories.make(String(path[..<(path.lastIndex(of: "/") ?? path.endIndex)]))
      Self.write([line], to: path, O_APPEND)
    }
    return true
  }

  private static func read(_ path: String) -> [UInt8]? {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var bytes: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 65536)
    while true {
      let count = Glibc.read(descriptor, &piece, piece.count)
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return bytes }
      bytes += piece[..<count]
    }
  }

  /// By a rename, so that a dialogue that ends in between leaves one or the other.
  private static func replace(_ path: String, with lines: [[UInt8]]) {
    let draft = path + ".new"
    if write(lines, to: draft, O_TRUNC) { rename(draft, path) } else { unlink(draft) }
  }

  @discardableResult
  private static func write(_ lines: [[UInt8]], to path: String, _ how: Int32) -> Bool {
    let descriptor = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | how, 0o600)
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    fchmod(descriptor, 0o600)
    let text = Array(lines.map { $0 + [UInt8(ascii: "\n")] }.joined())
    // One write, so that lines of two dialogues do not mix.
    return Glibc.write(descriptor, text, text.count) == text.count
  }
}
