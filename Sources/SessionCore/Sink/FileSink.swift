import CCurlShim
import Glibc

/// A file that appears at its place only when it is whole: written beside it under a temporary name, synced, renamed.
///
/// The temporary name follows from the destination's, so that what a killed process left is found and overwritten by
/// the next one; a lock on it keeps two live processes apart. Devices and pipes are written directly.
final class FileSink {
  let path: String
  private(set) var temporaryPath: String?
  private var descriptor: Int32 = -1

  init(path: String) { self.path = path }

  deinit { discard() }

  static func temporaryPath(for path: String) -> String {
    let slash = path.utf8.lastIndex(of: UInt8(ascii: "/"))
    let start = slash.map { path.utf8.index(after: $0) } ?? path.startIndex
    return "\(path[..<start]).\(path[start...]).httpscript-part"
  }

  /// Opens what will be written to. Nil is success.
  func open() -> TaskError? {
    var status = stat()
    if stat(path, &status) == 0 {
      switch status.st_mode & S_IFMT {
      case S_IFDIR: return FileErrors.creating(path, EISDIR)
      case S_IFREG: break
      default: return openDirectly()
      }
    }
    return openTemporary()
  }

  private func openDirectly() -> TaskError? {
    descriptor = Glibc.open(path, O_WRONLY | O_CLOEXEC)
    return descriptor >= 0 ? nil : FileErrors.creating(path, errno)
  }

  private func openTemporary() -> TaskError? {
    let temporary = Self.temporaryPath(for: path)
    // Another process may rename or remove the file between opening and locking it; then it is another one's.
    for _ in 0..<16 {
      let file = Glibc.open(temporary, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o666)
      guard file >= 0 else { return FileErrors.creating(path, errno) }
      guard flock(file, LOCK_EX | LOCK_NB) == 0 else {
        close(file)
        return TaskError(.cannotCreateFile, "cannot create \(path): another process is writing it")
      }
      if Self.isStillThere(file, temporary) { return take(file, temporary) }
      close(file)
    }
    return FileErrors.creating(path, EBUSY)
  }

  private static func isStillThere(_ file: Int32, _ path: String) -> Bool {
    var opened = stat()
    var named = stat()
    guard fstat(file, &opened) == 0, lstat(path, &named) == 0 else { return false }
    return opened.st_ino == named.st_ino && opened.st_dev == named.st_dev
  }

  private func take(_ file: Int32, _ temporary: String) -> TaskError? {
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

  /// Whether `sync` has something to do.
  var needsSync: Bool { temporaryPath != nil }

  /// What a helper thread does first: makes the content durable.
  var syncWork: HelperThreads.Work { .sync(descriptor: descriptor) }

  /// Puts the synced file in its place. Nil is success.
  func commit() -> TaskError? {
    guard let temporary = temporaryPath else { return nil }
    guard rename(temporary, path) == 0 else { return FileErrors.moving(path, errno) }
    temporaryPath = nil
    return nil
  }

  /// What a helper thread does last: makes the new name durable. Nothing to be done where it fails.
  static func syncDirectory(of path: String) {
    let directory = path.utf8.lastIndex(of: UInt8(ascii: "/")).map { String(path[...$0]) } ?? "."
    let descriptor = Glibc.open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { return }
    fsync(descriptor)
    close(descriptor)
  }

  /// Removes what was written, unless it has been committed.
  func discard() {
    if let temporary = temporaryPath { unlink(temporary) }
    temporaryPath = nil
    if descriptor >= 0 { close(descriptor) }
    descriptor = -1
  }
}
