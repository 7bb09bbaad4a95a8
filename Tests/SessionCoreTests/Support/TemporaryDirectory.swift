import Glibc

/// A directory that goes with the test.
final class TemporaryDirectory {
  let path: String

  init() throws {
    var template = Array("/tmp/sessioncore-XXXXXX\0".utf8).map { CChar(bitPattern: $0) }
    guard mkdtemp(&template) != nil else { throw SocketFailure(number: errno) }
    path = template.withUnsafeBufferPointer {
      String(decoding: $0.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
  }

  deinit {
    for name in names where unlink("\(path)/\(name)") != 0 { rmdir("\(path)/\(name)") }
    rmdir(path)
  }

  func write(_ name: String, _ text: String) -> String {
    let whole = "\(path)/\(name)"
    let descriptor = open(whole, O_WRONLY | O_CREAT | O_TRUNC, 0o644)
    _ = Array(text.utf8).withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
    close(descriptor)
    return whole
  }

  func read(_ name: String) -> String? {
    let descriptor = open("\(path)/\(name)", O_RDONLY)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var bytes: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 65536)
    while case let count = Glibc.read(descriptor, &piece, piece.count), count > 0 { bytes += piece.prefix(count) }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// What is in it, sorted.
  var names: [String] {
    guard let directory = opendir(path) else { return [] }
    defer { closedir(directory) }
    var result: [String] = []
    while let entry = readdir(directory) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      if name != ".", name != ".." { result.append(name) }
    }
    return result.sorted()
  }
}
