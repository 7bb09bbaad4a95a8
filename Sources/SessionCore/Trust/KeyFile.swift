import Glibc

/// Files with certificates and keys: small, and read in one go.
enum KeyFile {
  /// A bundle of all public authorities is a fifth of this.
  private static let largest = 1 << 20

  /// - Parameter takesBeginning: of a file that is too large, that much is enough.
  static func read(_ path: String, takesBeginning: Bool = false) -> Result<Bytes, TaskError> {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { return .failure(FileErrors.reading(path, errno)) }
    defer { close(descriptor) }
    let bytes = Bytes()
    var buffer = [UInt8](repeating: 0, count: 16 * 1024)
    while bytes.count <= largest {
      let count = Glibc.read(descriptor, &buffer, buffer.count)
      if count == 0 { return .success(bytes) }
      guard count > 0 else { return .failure(FileErrors.reading(path, errno)) }
      buffer.withUnsafeBytes { _ = bytes.append(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
    }
    return takesBeginning ? .success(bytes) : .failure(FileErrors.reading(path, EFBIG))
  }

  /// Why a directory's files cannot be found; nil where they can.
  static func problem(withDirectory path: String) -> TaskError? {
    access(path, R_OK | X_OK) == 0 ? nil : FileErrors.reading(path, errno)
  }

  static func isDirectory(_ path: String) -> Bool {
    var status = stat()
    return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
  }
}
