import CCurlShim
import Glibc

/// A file that a body is written to, and which nobody sees under its name before it is whole.
///
/// - Replacing: it is written beside its place under a temporary name, synced, renamed. The temporary name follows from
///   the destination's, so that what a killed process left is found and overwritten by the next one; a lock on it keeps
///   two live processes apart. Devices and pipes are written directly.
/// - Temporary: it is made in the process's own directory, and is the caller's when it is whole.
/// - Window: a part of a `PartFile`, which the caller holds; it is synced, and otherwise the caller's matter.
/// - Resuming: a temporary one that an earlier task left, and that resume data refers to: it goes only when it is whole.
/// - Background: a temporary one that is left where it is, whatever becomes of the task.
final class FileSink {
  /// Where it is, or will be.
  private(set) var path: String
  private(set) var temporaryPath: String?
  /// Where a temporary file is.
  private let directory: DownloadPlace?
  /// It is there already.
  private let isResumed: Bool
  /// Resume data refers to it, whatever becomes of this task.
  private let isKept: Bool
  /// Where the part of a file begins.
  private let windowOffset: Int?
  private var descriptor: Int32 = -1

  init(path: String) {
    self.path = FilePlace.resolved(path)
    directory = nil
    isResumed = false
    isKept = false
    windowOffset = nil
  }

  init(window: PartWindow) {
    path = window.path
    directory = nil
    isResumed = false
    isKept = false
    windowOffset = window.offset
  }

  init(temporaryIn directory: DownloadPlace) {
    path = ""
    self.directory = directory
    isResumed = false
    isKept = false
    windowOffset = nil
  }

  init(resuming path: String, in directory: DownloadPlace) {
    self.path = path
    self.directory = directory
    isResumed = true
    isKept = !directory.owns(path)
    windowOffset = nil
  }

  deinit { discard() }

  /// It belongs to no place: whatever the response is, it is what was asked for.
  var isTemporary: Bool { directory != nil }

  /// It is a part of a file.
  var isWindow: Bool { windowOffset != nil }

  static let partSuffix = ".httpscript-part"

  /// Why there is no lock on the temporary file of this place.
  static func lockError(_ path: String) -> TaskError {
    guard errno != EWOULDBLOCK else {
      return TaskError(.cannotCreateFile, "cannot create \(path): another task or process is writing it")
    }
    return FileErrors.creating(path, errno)
  }

  static func temporaryPath(for place: String) -> String {
    FilePlace.temporaryPath(for: place, suffix: partSuffix)
  }

  /// Opens what will be written to. Nil is success.
  func open() -> TaskError? {
    if let windowOffset { return openWindow(windowOffset) }
    if isResumed { return openKept() }
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

  private func openTemporary(_ directory: DownloadPlace) -> TaskError? {
    path = directory.newPath()
    let care = directory.keepsFiles ? O_TRUNC | O_NOFOLLOW : O_EXCL
    descriptor = Glibc.open(path, O_RDWR | O_CREAT | care | O_CLOEXEC, 0o666)
    guard descriptor >= 0 else { return FileErrors.creating(path, errno) }
    if !directory.keepsFiles { temporaryPath = path }
    return nil
  }

  private func openWindow(_ offset: Int) -> TaskError? {
    descriptor = Glibc.open(path, O_WRONLY | O_NOFOLLOW | O_CLOEXEC)
    guard descriptor >= 0 else { return FileErrors.creating(path, errno) }
    return lseek(descriptor, off_t(offset), SEEK_SET) >= 0 ? nil : FileErrors.writing(path, errno)
  }

  private func openKept() -> TaskError? {
    guard let file = FileLock.take(path, create: false) else { return FileErrors.reading(path, errno) }
    var status = stat()
    guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      close(file)
      return FileErrors.reading(path, EINVAL)
    }
    descriptor = file
    return nil
  }

  private func openDirectly() -> TaskError? {
    descriptor = Glibc.open(path, O_WRONLY | O_CLOEXEC)
    return descriptor >= 0 ? nil : FileErrors.creating(path, errno)
  }

  private func openBeside() -> TaskError? {
    let temporary = Self.temporaryPath(for: path)
    guard let file = FileLock.take(temporary, create: true, mode: 0o666) else { return Self.lockError(path) }
    unlink(PartFile.journalPath(for: path))
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

  // MARK: Temporary files

  /// How much there is now; 0 where that cannot be told.
  var length: Int {
    var status = stat()
    return fstat(descriptor, &status) == 0 ? Int(status.st_size) : 0
  }

  /// Cuts it to a length and goes on writing there. Nil is success.
  func truncate(to length: Int) -> TaskError? {
    guard ftruncate(descriptor, off_t(length)) == 0, lseek(descriptor, off_t(length), SEEK_SET) >= 0 else {
      return FileErrors.writing(path, errno)
    }
    return nil
  }

  /// What has a helper thread read its beginning.
  func readingWork(length: Int, into digesters: [Digester]) -> HelperThreads.Work {
    .read(descriptor: descriptor, length: length, into: digesters)
  }

  /// Where it is to be when resume data refers to it.
  var keptPath: String? { isKept ? path : directory?.newKeptPath() }

  /// Lets go of a whole one. Its path, where it goes with the process.
  func release() -> String {
    if isKept, let directory {
      let place = directory.newPath()
      if rename(path, place) == 0 { path = place } else { directory.forget(place) }
      let mask = umask(0)
      umask(mask)
      fchmod(descriptor, 0o666 & ~mask)
    }
    return leave()
  }

  /// Lets go of one that is not whole, and leaves it where it is. Its path.
  func leave() -> String {
    temporaryPath = nil
    closeDescriptor()
    return path
  }

  // MARK: Files with a place

  /// Whether there is a name to be changed when it is whole, and something to be synced before.
  var needsSync: Bool { isWindow || temporaryPath != nil && !isTemporary }

  /// Whether it is to be made durable when it is whole.
  var needsSettling: Bool { needsSync || directory?.keepsFiles == true }

  /// What a helper thread does first: makes the content durable.
  var syncWork: HelperThreads.Work { .sync(descriptor: descriptor) }

  /// Puts the synced file in its place. Nil is success.
  func commit() -> TaskError? {
    guard needsSync, let temporary = temporaryPath else { return nil }
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
