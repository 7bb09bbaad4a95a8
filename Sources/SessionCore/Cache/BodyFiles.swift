import Glibc

/// The bodies of a disk store: files with names of their own, each written whole under another name before it gets it.
/// No file is ever changed, so a reader that has opened one is not disturbed by those that come after.
struct BodyFiles {
  /// Without a final slash.
  let directory: String

  /// Files that no row names and that are older than this were left by a process that was killed.
  private static let orphanAge = 600

  private static func folder(_ name: String) -> String { String(name.prefix(2)) }

  func path(_ name: String) -> String { "\(directory)/\(Self.folder(name))/\(name)" }

  /// A file that is being written. Nil where it cannot be made.
  func create() -> BodyWriter? {
    let name = Hexadecimal.encode((0..<16).map { _ in UInt8.random(in: .min ... .max) })
    let temporary = "\(directory)/\(Self.folder(name))/.\(name)"
    let flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW
    var descriptor = Glibc.open(temporary, flags, 0o600)
    if descriptor < 0, errno == ENOENT, Directories.make("\(directory)/\(Self.folder(name))") == 0 {
      descriptor = Glibc.open(temporary, flags, 0o600)
    }
    guard descriptor >= 0 else { return nil }
    return BodyWriter(name: name, descriptor: descriptor, temporary: temporary, final: path(name))
  }

  func remove(_ name: String) { unlink(path(name)) }

  /// Opens a body and looks whether it is the one that was stored; nil where it is not.
  func open(_ name: String, length: Int, digest: [UInt8], limitInMemory: Int) -> CachedBody? {
    let descriptor = Glibc.open(path(name), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
    guard descriptor >= 0 else { return nil }
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_size == length else {
      close(descriptor)
      return nil
    }
    if length > limitInMemory {
      let file = BodyFile(descriptor: descriptor, length: length)
      return file.digest() == digest ? .file(file) : nil
    }
    defer { close(descriptor) }
    guard let bytes = Self.read(descriptor, length), bytes.withBytes(Hash.sha256.digest) == digest else { return nil }
    return .memory(bytes)
  }

  private static func read(_ descriptor: Int32, _ length: Int) -> Bytes? {
    let bytes = Bytes(capacity: length)
    let piece = UnsafeMutableRawBufferPointer.allocate(byteCount: min(max(length, 1), 1 << 18), alignment: 16)
    defer { piece.deallocate() }
    while bytes.count < length {
      let count = Glibc.read(descriptor, piece.baseAddress, min(piece.count, length - bytes.count))
      if count < 0, errno == EINTR { continue }
      guard count > 0, bytes.append(UnsafeRawBufferPointer(rebasing: piece[..<count])) else { return nil }
    }
    return bytes
  }

  /// Removes what no row names.
  func sweep(keeping names: Set<String>) {
    let now = time(nil)
    for folder in Self.list(directory) where folder.utf8.count == 2 {
      for file in Self.list("\(directory)/\(folder)") where !names.contains(file) {
        let path = "\(directory)/\(folder)/\(file)"
        var status = stat()
        guard lstat(path, &status) == 0, now - status.st_mtim.tv_sec > Self.orphanAge else { continue }
        unlink(path)
      }
    }
  }

  private static func list(_ path: String) -> [String] {
    guard let directory = opendir(path) else { return [] }
    defer { closedir(directory) }
    var names: [String] = []
    while let entry = readdir(directory) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
        pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      if name != ".", name != ".." { names.append(name) }
    }
    return names
  }
}

/// A body on its way to disk.
final class BodyWriter {
  let name: String
  private var descriptor: Int32
  private let temporary: String
  private let final: String
  private(set) var isCommitted = false

  fileprivate init(name: String, descriptor: Int32, temporary: String, final: String) {
    self.name = name
    self.descriptor = descriptor
    self.temporary = temporary
    self.final = final
  }

  deinit {
    if descriptor >= 0 { close(descriptor) }
    if !isCommitted { unlink(temporary) }
  }

  /// False: the disk is full, or will not have it.
  func write(_ bytes: UnsafeRawBufferPointer) -> Bool {
    var offset = 0
    while offset < bytes.count {
      let count = Glibc.write(descriptor, bytes.baseAddress.map { $0 + offset }, bytes.count - offset)
      if count >= 0 {
        offset += count
      } else if errno != EINTR {
        return false
      }
    }
    return true
  }

  /// What has been written; nil where it cannot be read.
  func contents(_ length: Int) -> Bytes? {
    let reader = open(isCommitted ? final : temporary, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
    guard reader >= 0 else { return nil }
    return CachedBody.file(BodyFile(descriptor: reader, length: length)).bytes(0..<length)
  }

  /// Gives it its name.
  func commit() -> Bool {
    let isClosed = close(descriptor) == 0
    descriptor = -1
    isCommitted = isClosed && rename(temporary, final) == 0
    return isCommitted
  }
}

/// A stored body that has been looked at and is what was stored.
enum CachedBody {
  case memory(Bytes)
  case file(BodyFile)

  var length: Int {
    switch self {
    case .memory(let bytes): bytes.count
    case .file(let file): file.length
    }
  }

  /// The whole of it in memory; nil where it cannot be read.
  func bytes(_ range: Range<Int>) -> Bytes? {
    switch self {
    case .memory(let bytes): return bytes.withBytes { Bytes(copying: UnsafeRawBufferPointer(rebasing: $0[range])) }
    case .file(let file):
      let result = Bytes(capacity: range.count)
      var offset = range.lowerBound
      while offset < range.upperBound {
        guard let piece = file.read(at: offset, range.upperBound - offset), piece.withBytes(result.append) else {
          return nil
        }
        offset += piece.count
      }
      return result
    }
  }
}

/// An open file of a stored body.
final class BodyFile {
  let length: Int
  private let descriptor: Int32

  private static let pieceSize = 64 * 1024

  init(descriptor: Int32, length: Int) {
    self.descriptor = descriptor
    self.length = length
  }

  deinit { close(descriptor) }

  /// Some bytes from that place on, no more than asked for; nil where they cannot be read.
  func read(at offset: Int, _ wanted: Int) -> Bytes? {
    withUnsafeTemporaryAllocation(byteCount: min(wanted, Self.pieceSize), alignment: 16) { piece in
      while true {
        let count = pread(descriptor, piece.baseAddress, piece.count, offset)
        if count < 0, errno == EINTR { continue }
        return count > 0 ? Bytes(copying: UnsafeRawBufferPointer(rebasing: piece[..<count])) : nil
      }
    }
  }

  func digest() -> [UInt8]? {
    guard let digester = Digester(.sha256) else { return nil }
    var offset = 0
    while offset < length {
      guard let piece = read(at: offset, length - offset) else { return nil }
      piece.withBytes(digester.update)
      offset += piece.count
    }
    return digester.value
  }
}
