import Glibc

/// The process's directories for the files of download tasks, one in each container.
final class CoreDownloads {
  private var directories: [String: DownloadDirectory] = [:]

  /// The one in a session's container; nil is the system's place for temporary files.
  func directory(in container: String?) -> Result<DownloadDirectory, TaskError> {
    let container = container ?? DownloadDirectory.defaultContainer
    if let known = directories[container] { return .success(known) }
    let made = DownloadDirectory.make(in: container)
    if case .success(let directory) = made { directories[container] = directory }
    return made
  }

  /// A part stays when the process ends. Only its owner may see what is kept: the container may be a directory that all
  /// use.
  func keep(_ part: String, as kept: String) {
    guard part != kept else { return }
    chmod(part, 0o600)
    if rename(part, kept) == 0 { directories.values.forEach { $0.forget(part) } }
  }

  /// Nobody wants the file any more.
  func remove(_ location: String) {
    unlink(location)
    for directory in directories.values { directory.forget(location) }
  }

  /// The end of the process, or of its transfers.
  func removeAll() {
    for directory in directories.values { directory.removeAll() }
    directories.removeAll()
  }
}
