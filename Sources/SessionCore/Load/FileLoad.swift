import Glibc

/// The load of a `file:` URL: a file of this machine, read piece by piece.
final class FileLoad: LocalLoad {
  let fetchType = TransactionMetrics.FetchType.unknown
  let isJudged = false
  private let path: [CChar]
  private let shownPath: String
  private let wantsBody: Bool
  private var descriptor: Int32 = -1
  private let piece = Bytes(capacity: FileLoad.pieceSize)

  private static let pieceSize = 64 * 1024

  private init(path: [UInt8], wantsBody: Bool) {
    self.path = path.map { CChar(bitPattern: $0) } + [0]
    shownPath = String(decoding: path, as: UTF8.self)
    self.wantsBody = wantsBody
  }

  deinit { if descriptor >= 0 { close(descriptor) } }

  /// The load of a request for a `file:` URL, or why it cannot be one.
  static func make(_ request: Request) -> Result<FileLoad, TaskError> {
    guard request.method == "GET" || request.method == "HEAD" else {
      return .failure(TaskError(.unsupportedURL, "a file: URL can be read (GET, HEAD), not written to"))
    }
    guard case .success(let parts) = URLParts.parse(request.url) else {
      return .failure(TaskError(.badURL, "not a file: URL of this machine", aboutURL: request.url))
    }
    let path = Array(parts.path.utf8).withUnsafeBytes { PercentEncoding.decode($0) }
    guard !path.contains(0) else { return .failure(TaskError(.badURL, "a path with NUL", aboutURL: request.url)) }
    return .success(FileLoad(path: path, wantsBody: request.method == "GET"))
  }

  func next() -> LocalStep {
    guard descriptor >= 0 else { return open() }
    guard wantsBody, let base = piece.base else { return .finished }
    let count = read(descriptor, base, Self.pieceSize)
    if count < 0 { return errno == EINTR ? .wait : .failed(FileErrors.reading(shownPath, errno)) }
    guard count > 0 else { return .finished }
    return .data(Bytes(copying: UnsafeRawBufferPointer(start: base, count: count)), 0..<count)
  }

  /// A pipe or device could block the loop, and is refused.
  private func open() -> LocalStep {
    descriptor = Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { return .failed(FileErrors.reading(shownPath, errno)) }
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { return .failed(FileErrors.reading(shownPath, errno)) }
    guard status.st_mode & S_IFMT != S_IFDIR else { return .failed(FileErrors.reading(shownPath, EISDIR)) }
    guard status.st_mode & S_IFMT == S_IFREG else {
      return .failed(TaskError(.unsupportedURL, domain: .file, "cannot read \(shownPath): not a regular file"))
    }
    let modified = Double(status.st_mtim.tv_sec)
    return .response(
      LocalHead(headers: [
        HeaderField("Content-Length", String(status.st_size)),
        HeaderField("Last-Modified", HTTPDate.format(modified)),
      ]))
  }
}
