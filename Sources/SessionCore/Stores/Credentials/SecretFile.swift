import Glibc

/// Reads a small file with secrets.
enum SecretFile {
  /// What is larger is none.
  private static let limit = 1 << 20

  /// Nil where it cannot be read.
  static func read(_ path: String) -> [UInt8]? {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var bytes: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 16384)
    while bytes.count <= limit {
      let count = Glibc.read(descriptor, &piece, piece.count)
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return count == 0 ? bytes : nil }
      bytes += piece[..<count]
    }
    return nil
  }
}
