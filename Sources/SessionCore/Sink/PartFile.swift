import CCurlShim
import Glibc

/// A file that several transfers fill, in any order and perhaps over several runs, and that appears at its place when it
/// is whole. Unlike a `FileSink`'s, what is there stays when the run ends; a journal beside it, which is the layer above's
/// to write, says which of it is good.
///
/// It has the temporary name of a `FileSink` of the same place, and the same lock on it: the two know of each other.
public final class PartFile {
  /// Where it will be.
  public let path: String
  /// Where it is.
  public let temporaryPath: String
  private var descriptor: Int32
  private var digester: Digester?
  private var digested = 0

  private init(path: String, temporaryPath: String, descriptor: Int32) {
    self.path = path
    self.temporaryPath = temporaryPath
    self.descriptor = descriptor
  }

  deinit { close() }

  /// The journal of the file at this place.
  public static func journalPath(for path: String) -> String {
    FilePlace.temporaryPath(for: FilePlace.resolved(path), suffix: ".httpscript-journal")
  }

  /// Opens what an earlier run left, or makes it.
  public static func open(_ path: String) -> Result<PartFile, TaskError> {
    let path = FilePlace.resolved(path)
    var status = stat()
    if stat(path, &status) == 0, status.st_mode & S_IFMT != S_IFREG {
      return .failure(FileErrors.creating(path, status.st_mode & S_IFMT == S_IFDIR ? EISDIR : EINVAL))
    }
    let temporary = FileSink.temporaryPath(for: path)
    guard let descriptor = FileLock.take(temporary, create: true, mode: 0o666) else {
      return .failure(FileSink.lockError(path))
    }
    return .success(PartFile(path: path, temporaryPath: temporary, descriptor: descriptor))
  }

  /// Whether what is there is a device or a pipe: it takes bytes in their order only, and none back.
  public static func isStream(_ path: String) -> Bool {
    var status = stat()
    guard stat(path, &status) == 0 else { return false }
    return status.st_mode & S_IFMT != S_IFREG && status.st_mode & S_IFMT != S_IFDIR
  }

  public var length: Int {
    var status = stat()
    return fstat(descriptor, &status) == 0 ? Int(status.st_size) : 0
  }

  /// Gives it its length, with room on the disk where the file system can promise that. Nil is success.
  public func allocate(_ length: Int) -> TaskError? {
    guard ftruncate(descriptor, off_t(length)) == 0 else { return FileErrors.writing(path, errno) }
    if length > 0, hs_allocate(descriptor, Int64(length)) == ENOSPC {
      return FileErrors.writing(path, ENOSPC)
    }
    return nil
  }

  /// The digest of so many bytes from there, in hexadecimal; nil where they cannot be read.
  public func digest(_ algorithm: Hash, offset: Int, count: Int) -> String? {
    guard let digester = Digester(algorithm), read(offset: offset, count: count, into: digester) else { return nil }
    return Hexadecimal.encode(digester.value)
  }

  /// Reads on in the whole file, as far as `step` goes: nil as long as there is more, then its digest in hexadecimal
  /// (empty where it cannot be read).
  public func digestWhole(_ algorithm: Hash, step: Int) -> String? {
    if digester?.algorithm != algorithm {
      digester = Digester(algorithm)
      digested = 0
    }
    let length = length
    let count = min(step, length - digested)
    guard let digester, read(offset: digested, count: count, into: digester) else { return "" }
    digested += count
    guard digested >= length else { return nil }
    self.digester = nil
    return Hexadecimal.encode(digester.value)
  }

  private func read(offset: Int, count: Int, into digester: Digester) -> Bool {
    guard offset >= 0, count >= 0 else { return false }
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 256 * 1024, alignment: 64)
    defer { buffer.deallocate() }
    var done = 0
    while done < count {
      let got = pread(descriptor, buffer.baseAddress, min(buffer.count, count - done), off_t(offset + done))
      if got < 0, errno == EINTR { continue }
      guard got > 0 else { return false }
      digester.update(UnsafeRawBufferPointer(rebasing: buffer[..<got]))
      done += got
    }
    return true
  }

  /// Puts it in its place. Nil is success.
  public func commit() -> TaskError? {
    guard descriptor >= 0 else { return FileErrors.moving(path, EBADF) }
    guard fsync(descriptor) == 0 else { return FileErrors.writing(path, errno) }
    guard rename(temporaryPath, path) == 0 else { return FileErrors.moving(path, errno) }
    FileSink.syncDirectory(of: path)
    close()
    return nil
  }

  /// It is of no use: removes it and its journal.
  public func discard() {
    guard descriptor >= 0 else { return }
    unlink(Self.journalPath(for: path))
    unlink(temporaryPath)
    close()
  }

  /// Leaves it for a later run.
  public func close() {
    if descriptor >= 0 { Glibc.close(descriptor) }
    descriptor = -1
  }
}
