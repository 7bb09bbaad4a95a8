import Glibc
import SessionCore

/// A script's text, read whole.
struct SourceText {
  struct ReadError: Error {
    let message: String
  }

  let bytes: Bytes

  init(_ text: String) { bytes = Bytes(text) }

  private init(bytes: Bytes) { self.bytes = bytes }

  static func file(_ path: String) -> Result<SourceText, ReadError> {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return .failure(failure("open", path)) }
    defer { close(descriptor) }
    return read(descriptor, name: path)
  }

  static func standardInput() -> Result<SourceText, ReadError> { read(STDIN_FILENO, name: "standard input") }

  private static func read(_ descriptor: Int32, name: String) -> Result<SourceText, ReadError> {
    let bytes = Bytes(capacity: 16384)
    let piece = UnsafeMutableRawBufferPointer.allocate(byteCount: 65536, alignment: 16)
    defer { piece.deallocate() }
    while true {
      let count = Glibc.read(descriptor, piece.baseAddress, piece.count)
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { return .failure(failure("read", name)) }
      if count == 0 { return .success(SourceText(bytes: withoutShebang(bytes))) }
      bytes.append(UnsafeRawBufferPointer(rebasing: piece[..<count]))
    }
  }

  /// A first line that begins with # is for the shell; its line end stays, so that line numbers are right. There may be
  /// a byte order mark before it.
  private static func withoutShebang(_ bytes: Bytes) -> Bytes {
    let buffer = bytes.buffer
    let start = buffer.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
    guard start < buffer.count, buffer[start] == UInt8(ascii: "#") else { return bytes }
    let end = buffer[start...].firstIndex(of: UInt8(ascii: "\n")) ?? buffer.count
    return Bytes(copying: UnsafeRawBufferPointer(rebasing: buffer[end...]))
  }

  private static func failure(_ action: String, _ name: String) -> ReadError {
    ReadError(message: "cannot \(action) \(name): \(String(cString: strerror(errno)))")
  }
}
