import CCurlShim
import Glibc

/// A file that a body is written to, and which nobody sees under its name before it is whole.
///
/// - Replacing: it is written beside its place under a temporary name, synced, renamed. The temporary name follows from
///   the destination's, so that what a killed process left is found and overwritten by the next one; a lock on it keeps
///   two live processes apart. Devices and pipes are written directly.
/// - Temporary: it is made in the process's own directory, and is the caller's when it is whole.
final class FileSink {
  /// Where it is, or will be.
  private(set) var path: String
  private(set) var temporaryPath: String?
  /// The process's own directory, of a temporary file.
  private let directory: DownloadDirectory?
  private var descriptor: Int32 = -1

  init(path: String) {
    self.path = path
    directory = nil
  }

  init(temporaryIn directory: DownloadDirectory) {
    path = directory.path
    self.directory = directory
  }

  deinit { discard() }

  /// It belongs to no place: whatever the response is, it is what was asked for.
  var isTemporary: Bool { directory != nil }

  static func temporaryPath(for path: String) -> String {
    let slash = path.utf8.lastIndex(of: UInt8(ascii: "/"))
    let start = slash.map { path.utf8.index(after: $0) } ?? path.startIndex
    return "\(path[..<start]).\(path[start...]).httpscript-part"
  }

  /// Opens what will be written to. Nil is success.
  func open() -> TaskError? {
    if let directory { return openTemporary(directory) }
    var status = stat()
    if stat(path, &status) == 0 {
      switch status.st_mode & S_IFMT {
      case S_IFDIR: return FileErrors.creating(path, EISDIR)
      case S_IFREG: break
      default: return openDirectly()
      }
    }
    return openBeside()
  }

  private func openTemporary(_ directory: DownloadDirectory) -> TaskError? {
    path = directory.newPath()
    descriptor = Glibc.open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
    guard descriptor >= 0 else { return FileErrors.creating(path, errno) }
    temporaryPath = path
    return nil
  }

  private func openDirectly() -> TaskError? {
    descriptor = Glibc.open(path, O_WRONLY | O_CLOEXEC)
    return descriptor >= 0 ? nil : FileErrors.creating(path, errno)
  }

  private func openBeside() -> TaskError? {
    let temporary = Self.temporaryPath(for: path)
    guard let file = FileLock.take(temporary, create: true, mode: 0o666) else {
      guard errno != EWOULDBLOCK else {
        return TaskError(.cannotCreateFile, "cannot create \(path): another process is writing it")
      }
      return FileErrors.creating(path, errno)
    }
    guard ftruncate(file, 0) == 0 else {
      let number = errno
      close(file)
      return FileErrors.creating(path, number)
    }
    descriptor = file
    temporaryPath = temporary
    return nil
  }

  /// Nil is success.
  func write(_ bytes: UnsafeRawBufferPointer) -> TaskError? {
    var offset = 0
    while offset < bytes.count {
      let count = Glibc.write(descriptor, bytes.baseAddress.map { $0 + offset }, bytes.count - offset)
      if count >= 0 {
        offset += count
      } else if errno != EINTR {
        return FileErrors.writing(path, errno)
      }
    }
    return nil
  }

  /// Whether there is a name to be changed when it is whole, and something to be synced before.
  var needsSync: Bool { temporaryPath != nil && !isTemporary }

  /// What a helper thread does first: makes the content durable.
  var syncWork: HelperThreads.Work { .sync(descriptor: descriptor) }

  /// Puts the synced file in its place. Nil is success.
  func commit() -> TaskError? {
    guard needsSync, let temporary = temporaryPath else { return nil }
    guard rename(temporary, path) == 0 else { return FileErrors.moving(path, errno) }
    temporaryPath = nil
    return nil
  }

  /// Lets go of a whole temporary file; its path.
  func release() -> String {
    temporaryPath = nil
    closeDescriptor()
    return path
  }

  /// What a helper thread does last: makes the new name durable. Nothing to be done where it fails.
  static func syncDirectory(of path: String) {
    let directory = path.utf8.lastIndex(of: UInt8(ascii: "/")).map { String(path[...$0]) } ?? "."
    let descriptor = Glibc.open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { return }
    fsync(descriptor)
    close(descriptor)
  }

  /// Removes what was written, unless it has been committed or released.
  func discard() {
    if let temporary = temporaryPath {
      unlink(temporary)
      directory?.forget(temporary)
    }
    temporaryPath = nil
    closeDescriptor()
  }

  private func closeDescriptor() {
    if descriptor >= 0 { close(descriptor) }
    descriptor = -1
  }
}
