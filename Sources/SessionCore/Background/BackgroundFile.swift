import Glibc

/// Where a background session's download task has its file: in the session's directory, where it outlives the process.
/// What becomes of it once the task has ended is the layer above's matter.
public final class BackgroundFile: DownloadPlace {
  /// The file.
  let path: String
  /// Resume data that says how much of it is good, brought up to date as it grows.
  let checkpointPath: String

  /// - Parameter stem: the path of both without what tells them apart (`BackgroundDirectory.stem`).
  public init(stem: String) {
    path = stem + BackgroundDirectory.fileSuffix
    checkpointPath = stem + BackgroundDirectory.checkpointSuffix
  }

  var keepsFiles: Bool { true }
  func newPath() -> String { path }
  func owns(_ file: String) -> Bool { file == path }
  func forget(_ file: String) {}

  /// Beside it: the directory is swept of what nobody knows, but for such names.
  func newKeptPath() -> String {
    let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) ?? path.startIndex
    return "\(path[..<slash])/part-\(DownloadDirectory.randomName())\(BackgroundDirectory.keptSuffix)"
  }
}

/// Notes while a download of a background session grows how much of its file is good, so that a process that is killed
/// leaves something to go on with.
///
/// A note is resume data with the digest of what had been written by then. It is not synced: should the machine go
/// down, the digest tells whether the file is still what the note says.
final class Checkpoints {
  let file: BackgroundFile
  /// What has been written has passed through it.
  private var digester: Digester?
  private var notedLength = 0
  private var notedTime = 0.0

  /// Notes come after so many bytes, or so many seconds with at least one.
  private static let bytes = 1024 * 1024
  private static let seconds = 0.5

  init(_ file: BackgroundFile) { self.file = file }

  /// The file begins anew.
  func reset() {
    digester = Digester(.sha256)
    notedLength = 0
    unlink(file.checkpointPath)
  }

  /// The file has so many bytes, which were read into the digester.
  func goOn(with digester: Digester, length: Int) {
    self.digester = digester
    notedLength = length
  }

  func take(_ bytes: UnsafeRawBufferPointer) { digester?.update(bytes) }

  /// It is time for a note.
  func isDue(length: Int, now: Double) -> Bool {
    length - notedLength >= Self.bytes || length > notedLength && now - notedTime >= Self.seconds
  }

  /// The digest of what has been written; nil where there is none to be had.
  var digest: [UInt8]? { digester?.value }

  /// Where it cannot be written the note before stands, which is true as well.
  func note(_ data: ResumeData, now: Double) {
    notedTime = now
    guard BackgroundDirectory.replace(file.checkpointPath, with: data.encoded) == nil else { return }
    notedLength = data.length
  }
}

extension Transfer {
  /// Notes how far the file has come, if it is time to.
  func noteProgress(_ checkpoints: Checkpoints, isLast: Bool = false) {
    guard let download, let file = sink.file, download.isResumable, let validator = download.validator,
      isLast || checkpoints.isDue(length: download.length, now: core.now), let digest = checkpoints.digest
    else { return }
    let data = ResumeData(
      url: options.request.url, headers: options.request.headers, path: file.path, length: download.length,
      digest: digest, validator: validator, total: download.total)
    checkpoints.note(data, now: core.now)
  }
}
