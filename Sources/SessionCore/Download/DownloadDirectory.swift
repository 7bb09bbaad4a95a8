import CCurlShim
import Glibc

/// Where the files of download tasks are while they belong to nobody else: a directory of this process inside the
/// session's container, which goes with the process.
///
/// A locked file in it says that the process lives. What a killed process left is found by its lock being free, and
/// removed when the next one begins to download into the same container.
final class DownloadDirectory: DownloadPlace {
  /// The container, absolute.
  let container: String
  /// The directory itself.
  let path: String
  /// -1 once it is gone.
  private var lock: Int32
  private var fileCount = 0
  /// Names in it that may still be there.
  private var files: Set<String> = []

  private static let prefix = "httpscript-"
  private static let lockName = "lock"

  private init(container: String, path: String, lock: Int32) {
    self.container = container
    self.path = path
    self.lock = lock
  }

  deinit { removeAll() }

  /// The container of sessions that name none: what `TMPDIR` says, or where large files may be.
  static var defaultContainer: String {
    if let variable = getenv("TMPDIR"), variable.pointee != 0 { return String(cString: variable) }
    return access("/var/tmp", W_OK) == 0 ? "/var/tmp" : "/tmp"
  }

  static func make(in container: String) -> Result<DownloadDirectory, TaskError> {
    guard let resolved = realpath(container, nil) else { return .failure(FileErrors.creating(container, errno)) }
    let absolute = String(cString: resolved)
    free(resolved)
    sweep(absolute)
    // Another process may take the directory for a leftover before it is locked.
    for _ in 0..<16 {
      let path = "\(absolute)/\(prefix)\(randomName())"
      guard mkdir(path, 0o700) == 0 else {
        if errno == EEXIST { continue }
        return .failure(FileErrors.creating(path, errno))
      }
      if let lock = FileLock.take("\(path)/\(lockName)", create: true) {
        return .success(DownloadDirectory(container: absolute, path: path, lock: lock))
      }
    }
    return .failure(FileErrors.creating(absolute, EBUSY))
  }

  /// A name that nothing else has.
  static func randomName() -> String {
    String(UInt64.random(in: 0...UInt64.max), radix: 36)
  }

  /// A new path inside.
  func newPath() -> String {
    fileCount += 1
    let name = "\(fileCount).download"
    files.insert(name)
    return "\(path)/\(name)"
  }

  /// A path for a file that resume data refers to: in the container, since it must outlive the process.
  func newKeptPath() -> String { "\(container)/\(Self.prefix)\(Self.randomName()).resume" }

  var keepsFiles: Bool { false }
  func owns(_ file: String) -> Bool { false }

  /// The file of this path is gone, or somebody else's.
  func forget(_ file: String) {
    guard file.utf8.starts(with: path.utf8) else { return }
    files.remove(String(file.dropFirst(path.count + 1)))
  }

  /// Removes what is in it, and itself.
  func removeAll() {
    guard lock >= 0 else { return }
    for name in files { unlink("\(path)/\(name)") }
    files.removeAll()
    unlink("\(path)/\(Self.lockName)")
    rmdir(path)
    close(lock)
    lock = -1
  }

  /// Removes the directories of processes that are no more.
  private static func sweep(_ container: String) {
    for name in names(in: container) where name.hasPrefix(prefix) {
      let directory = "\(container)/\(name)"
      if let lock = FileLock.take("\(directory)/\(lockName)", create: false) {
        for file in names(in: directory) { unlink("\(directory)/\(file)") }
        rmdir(directory)
        close(lock)
      } else if errno == ENOENT {
        // Its owner was killed before it had made the lock, or is about to make it, and will see that it is gone.
        rmdir(directory)
      }
    }
  }

  static func names(in directory: String) -> [String] {
    guard let stream = opendir(directory) else { return [] }
    defer { closedir(stream) }
    var names: [String] = []
    while let entry = readdir(stream) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      if name != ".", name != ".." { names.append(name) }
    }
    return names
  }
}

/// Where a download task's file is until somebody takes it.
protocol DownloadPlace: AnyObject {
  /// A path for a file.
  func newPath() -> String
  /// A path for a file that resume data refers to.
  func newKeptPath() -> String
  /// The file stays when the task fails, and when the process ends.
  var keepsFiles: Bool { get }
  /// The file of this path is a task's own, and not one that resume data refers to.
  func owns(_ file: String) -> Bool
  /// The file of this path is gone, or somebody else's.
  func forget(_ file: String)
}

/// Locks on files that tell live processes apart.
enum FileLock {
  /// Opens a file and locks it. Nil, with errno, when it cannot be had: EWOULDBLOCK says that another process has it.
  static func take(_ path: String, create: Bool, mode: mode_t = 0o600) -> Int32? {
    // Another process may remove the file between opening and locking it; then the lock is worth nothing.
    for _ in 0..<16 {
      let flags = O_RDWR | O_NOFOLLOW | O_CLOEXEC | (create ? O_CREAT : 0)
      let descriptor = Glibc.open(path, flags, mode)
      guard descriptor >= 0 else { return nil }
      guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
        let number = errno
        close(descriptor)
        errno = number
        return nil
      }
      if isStillThere(descriptor, path) { return descriptor }
      close(descriptor)
    }
    errno = EBUSY
    return nil
  }

  private static func isStillThere(_ descriptor: Int32, _ path: String) -> Bool {
    var opened = stat()
    var named = stat()
    guard fstat(descriptor, &opened) == 0, lstat(path, &named) == 0 else { return false }
    return opened.st_ino == named.st_ino && opened.st_dev == named.st_dev
  }
}
