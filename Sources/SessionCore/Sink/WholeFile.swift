import Glibc

/// Files written or moved in one go, with a download's care: beside their place under a temporary name, synced, renamed.
public enum WholeFile {
  /// - Parameter isPrivate: only the user can read it.
  /// - Returns: nil on success; an existing file is as it was otherwise.
  public static func write(
    _ bytes: UnsafeRawBufferPointer, to path: String, isPrivate: Bool = false
  ) -> TaskError? {
    let sink = FileSink(path: path)
    if let error = sink.open() { return error }
    if isPrivate { sink.makePrivate() }
    return finish(sink, sink.write(bytes))
  }

  /// Moves a finished download to its place, to another file system too.
  ///
  /// - Returns: nil on success; otherwise both files are as they were.
  public static func move(_ source: String, to path: String) -> TaskError? {
    let descriptor = Glibc.open(source, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return FileErrors.reading(source, errno) }
    defer { close(descriptor) }
    guard fsync(descriptor) == 0 else { return FileErrors.writing(source, errno) }
    if !isSpecial(path), rename(source, path) == 0 {
      FileSink.syncDirectory(of: path)
      return nil
    }
    if let error = copy(descriptor, source, to: path) { return error }
    unlink(source)
    return nil
  }

  /// A directory, device or pipe cannot be replaced by a file.
  private static func isSpecial(_ path: String) -> Bool {
    var status = stat()
    return stat(path, &status) == 0 && status.st_mode & S_IFMT != S_IFREG
  }

  private static func copy(_ descriptor: Int32, _ source: String, to path: String) -> TaskError? {
    let sink = FileSink(path: path)
    if let error = sink.open() { return error }
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 256 * 1024, alignment: 16)
    defer { buffer.deallocate() }
    while true {
      let count = read(descriptor, buffer.baseAddress, buffer.count)
      if count == 0 { return finish(sink, nil) }
      if count < 0 {
        if errno == EINTR { continue }
        return FileErrors.reading(source, errno)
      }
      if let error = sink.write(UnsafeRawBufferPointer(rebasing: buffer[..<count])) { return error }
    }
  }

  private static func finish(_ sink: FileSink, _ failure: TaskError?) -> TaskError? {
    if let error = failure ?? sink.sync() ?? sink.commit() { return error }
    FileSink.syncDirectory(of: sink.path)
    return nil
  }
}

extension FileSink {
  /// Before anything is written.
  fileprivate func makePrivate() {
    if needsSync, case .sync(let descriptor) = syncWork { fchmod(descriptor, 0o600) }
  }

  /// Makes the content durable, on this thread. Nil is success.
  fileprivate func sync() -> TaskError? {
    guard needsSync, case .sync(let descriptor) = syncWork else { return nil }
    return fsync(descriptor) == 0 ? nil : FileErrors.writing(path, errno)
  }
}
