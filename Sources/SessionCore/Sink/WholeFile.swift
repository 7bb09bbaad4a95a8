import Glibc

/// A file written in one go, with a download's care: beside its place under a temporary name, synced, renamed.
public enum WholeFile {
  /// - Parameter isPrivate: only the user can read it.
  /// - Returns: nil on success; an existing file is as it was otherwise.
  public static func write(
    _ bytes: UnsafeRawBufferPointer, to path: String, isPrivate: Bool = false
  ) -> TaskError? {
    let sink = FileSink(path: path)
    if let error = sink.open() { return error }
    if isPrivate { sink.makePrivate() }
    if let error = sink.write(bytes) ?? sink.sync() ?? sink.commit() { return error }
    FileSink.syncDirectory(of: path)
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
