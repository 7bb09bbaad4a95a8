import Glibc

/// Files with certificates and keys: small, and read in one go.
enum KeyFile {
  /// A bundle of all public authorities is a fifth of this.
  private static let largest = 1 << 20

  static func read(_ path: String) -> Result<Bytes, TaskError> {
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
    return .failure(FileErrors.reading(path, EFBIG))
  }

  static func isDirectory(_ path: String) -> Bool {
    var status = stat()
    return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
  }
}
