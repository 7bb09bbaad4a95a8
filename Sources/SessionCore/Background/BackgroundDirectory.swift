import CCurlShim
import Glibc

/// What a background session remembers between the runs of a program: a directory of its own, with a record and perhaps
/// a file for each task. It belongs to the process that holds the lock in it.
///
/// What is in a record is the layer above's matter; here it is bytes with a version and a digest. A damaged record is set
/// aside, one of a later version of the program is left alone, each with a warning.
public final class BackgroundDirectory {
  public let path: String
  /// -1 once it is closed.
  private var lock: Int32
  /// The tasks that have a record.
  private var numbers: Set<Int> = []

  static let fileSuffix = ".download"
  static let checkpointSuffix = ".checkpoint"
  static let keptSuffix = ".resume"
  private static let recordSuffix = ".task"
  private static let lockName = "lock"
  private static let magic = Array("httpscript task ".utf8)
  private static let version: UInt8 = 1

  private init(path: String, lock: Int32) {
    self.path = path
    self.lock = lock
  }

  deinit { close() }

  /// The directory of the session with that identifier: in `container`, or else with the user's other state.
  public static func open(
    identifier: String, container: String?, directories: Directories = .standard
  ) -> Result<BackgroundDirectory, TaskError> {
    guard let parent = container.map({ $0 + "/background.httpscript" }) ?? directories.state.map({ $0 + "/background" })
    else {
      return .failure(
        TaskError(
          .cannotCreateFile, domain: .file, "neither XDG_STATE_HOME nor HOME names a directory for the session's state")
      )
    }
    let path = "\(parent)/\(fileName(identifier))"
    // Whoever closes it last removes it: it may go between making and locking.
    for _ in 0..<16 {
      let problem = Directories.make(path)
      guard problem == 0 else { return .failure(failure(FileErrors.creating(path, problem))) }
      if let lock = FileLock.take("\(path)/\(lockName)", create: true) {
        guard let absolute = realpath(path, nil) else { return .failure(failure(FileErrors.creating(path, errno))) }
        defer { free(absolute) }
        return .success(BackgroundDirectory(path: String(cString: absolute), lock: lock))
      }
      if errno == ENOENT { continue }
      guard errno == EWOULDBLOCK else { return .failure(failure(FileErrors.creating(path, errno))) }
      return .failure(
        TaskError(
          .backgroundSessionInUse, "the background session \"\(identifier)\" is in use by another process"))
    }
    return .failure(failure(FileErrors.creating(path, EBUSY)))
  }

  private static func failure(_ error: TaskError) -> TaskError {
    var error = error
    error.domain = .file
    return error
  }

  /// An identifier as the name of a directory: readable, and no two alike.
  static func fileName(_ identifier: String) -> String {
    var encoded = PercentEncoding.encode(identifier)
    if encoded.hasPrefix(".") { encoded = "%2E" + encoded.dropFirst() }
    guard encoded.isEmpty || encoded.utf8.count > 200 else { return encoded }
    return "%" + Hexadecimal.encode(Hash.sha256.digest(of: Array(identifier.utf8)))
  }

  /// Where a task's file and its checkpoint are, without the ends of their names.
  public func stem(_ number: Int) -> String { "\(path)/\(number)" }

  /// A path that means the same in a process with another working directory.
  public static func absolute(_ path: String) -> String {
    guard !path.hasPrefix("/"), let directory = getcwd(nil, 0) else { return path }
    defer { free(directory) }
    return "\(String(cString: directory))/\(path)"
  }

  /// The path of a task's file.
  public func file(_ number: Int) -> String { stem(number) + Self.fileSuffix }

  /// How long it is; nil when it is not there.
  public func fileLength(_ number: Int) -> Int? {
    var status = stat()
    guard lstat(file(number), &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
    return Int(status.st_size)
  }

  /// The last note on how far a task's file has come: resume data.
  public func checkpoint(_ number: Int) -> [UInt8]? { Self.read(stem(number) + Self.checkpointSuffix) }

  /// The highest number that a task of the session has, or has left anything of.
  public var highestNumber: Int {
    DownloadDirectory.names(in: path).compactMap { Int($0.prefix { $0 != "." }) }.max() ?? 0
  }

  // MARK: Records

  /// The records there are, by the numbers of their tasks. Sweeps what belongs to none.
  public func records() -> [(number: Int, bytes: [UInt8])] {
    var found: [(number: Int, bytes: [UInt8])] = []
    var known: Set<Int> = []
    let names = DownloadDirectory.names(in: path)
    for name in names {
      guard let number = Self.number(of: name, Self.recordSuffix) else { continue }
      switch read(number) {
      case .record(let bytes):
        found.append((number, bytes))
        known.insert(number)
      case .later: known.insert(number)
      case .damaged: break
      }
    }
    numbers = known
    sweep(names)
    return found.sorted { $0.number < $1.number }
  }

  private enum Reading {
    case record([UInt8])
    case damaged
    case later
  }

  private func read(_ number: Int) -> Reading {
    let file = stem(number) + Self.recordSuffix
    let digestSize = Hash.sha256.size
    if let bytes = Self.read(file), bytes.count > Self.magic.count + digestSize, bytes.starts(with: Self.magic) {
      let content = Array(bytes.dropLast(digestSize))
      if Hash.sha256.digest(of: content) == Array(bytes.suffix(digestSize)) {
        if bytes[Self.magic.count] == Self.version { return .record(Array(content[(Self.magic.count + 1)...])) }
        Warnings.tell(file, "background session: \(file) is of a later version of httpscript, and is left alone")
        return .later
      }
    }
    setAside(number)
    return .damaged
  }

  /// Keeps a record that cannot be used out of the way.
  public func setAside(_ number: Int) {
    let file = stem(number) + Self.recordSuffix
    let other = file + ".damaged"
    numbers.remove(number)
    let isAway = rename(file, other) == 0
    Warnings.tell(
      file, "background session: \(file) is damaged\(isAway ? ", and has been set aside as \(other)" : "")")
  }

  /// Nil is success. It is there for a later process whatever becomes of this one.
  public func write(_ number: Int, _ record: UnsafeRawBufferPointer) -> TaskError? {
    let content = Self.magic + [Self.version] + Array(record)
    let problem = Self.replace(
      stem(number) + Self.recordSuffix, with: content + Hash.sha256.digest(of: content))
    if problem == nil { numbers.insert(number) }
    return problem
  }

  /// The task is over: its record goes, and with it, unless it is still wanted in this process, its file.
  public func remove(_ number: Int, keepingFile: Bool) {
    guard lock >= 0 else { return }
    unlink(stem(number) + Self.recordSuffix)
    unlink(stem(number) + Self.checkpointSuffix)
    if !keepingFile { unlink(file(number)) }
    numbers.remove(number)
  }

  /// Nothing more is to be done here in this process. A directory without tasks goes.
  public func close() {
    guard lock >= 0 else { return }
    sweep(DownloadDirectory.names(in: path))
    let rest = DownloadDirectory.names(in: path)
    if rest == [Self.lockName] {
      unlink("\(path)/\(Self.lockName)")
      rmdir(path)
    }
    // A child of the process that has not yet become another program would go on holding it.
    flock(lock, LOCK_UN)
    Glibc.close(lock)
    lock = -1
  }

  // MARK: Files

  /// Removes the files of tasks that have no record, and what was being written when a process was killed.
  private func sweep(_ names: [String]) {
    for name in names {
      let number = Self.number(of: name, Self.fileSuffix) ?? Self.number(of: name, Self.checkpointSuffix)
      let isOrphan = number.map { !numbers.contains($0) } ?? false
      if isOrphan || name.hasSuffix(Self.temporarySuffix) { unlink("\(path)/\(name)") }
    }
  }

  private static let temporarySuffix = ".new"

  private static func number(of name: String, _ suffix: String) -> Int? {
    guard name.hasSuffix(suffix) else { return nil }
    return Int(name.dropLast(suffix.count))
  }

  /// A small file, or nil.
  private static func read(_ path: String) -> [UInt8]? {
    let descriptor = Glibc.open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { Glibc.close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
    var bytes = [UInt8](repeating: 0, count: Int(status.st_size))
    var done = 0
    while done < bytes.count {
      let count = bytes.withUnsafeMutableBytes { buffer in
        Glibc.read(descriptor, buffer.baseAddress.map { $0 + done }, buffer.count - done)
      }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return nil }
      done += count
    }
    return bytes
  }

  /// Puts a small file in the place of another in one step; only the user can read it. Nil is success.
  static func replace(_ path: String, with bytes: [UInt8]) -> TaskError? {
    let temporary = path + temporarySuffix
    let descriptor = Glibc.open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { return failure(FileErrors.creating(path, errno)) }
    var done = 0
    var problem: Int32 = 0
    while done < bytes.count, problem == 0 {
      let count = bytes.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress.map { $0 + done }, $0.count - done) }
      if count >= 0 { done += count } else if errno != EINTR { problem = errno }
    }
    Glibc.close(descriptor)
    if problem == 0, rename(temporary, path) != 0 { problem = errno }
    guard problem != 0 else { return nil }
    unlink(temporary)
    return failure(FileErrors.writing(path, problem))
  }
}
