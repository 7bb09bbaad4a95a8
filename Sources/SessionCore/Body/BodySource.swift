import Glibc

/// The bytes of a request body, as libcurl asks for them.
final class BodySource {
  enum Outcome {
    case bytes(Int)
    /// A reader's next piece has to be asked for.
    case wait
    case failure(TaskError)
  }

  private enum Piece {
    case data(Bytes)
    case file(descriptor: Int32, length: Int, path: String)

    var length: Int {
      switch self {
      case .data(let bytes): return bytes.count
      case .file(_, let length, _): return length
      }
    }
  }

  /// -1: unknown.
  let length: Int
  /// Bytes handed to libcurl since the start or the last rewind.
  private(set) var handed = 0
  private let isReader: Bool
  /// A reader, or what a stream's handler gave: once it has been read from, it must be had anew.
  let isOnce: Bool
  private var pieces: [Piece] = []
  private var pieceIndex = 0
  private var pieceOffset = 0
  // Of a reader.
  private var chunk: Bytes?
  private var chunkOffset = 0
  private var readerEnded = false
  private(set) var hasBeenRead = false

  private init(length: Int, isReader: Bool, isOnce: Bool) {
    self.length = length
    self.isReader = isReader
    self.isOnce = isOnce
  }

  deinit {
    for case .file(let descriptor, _, _) in pieces { close(descriptor) }
  }

  /// Opens what must be opened.
  static func open(_ body: RequestBody, isOnce: Bool = false) -> Result<BodySource?, TaskError> {
    switch body {
    case .none, .stream: return .success(nil)
    case .data(let bytes): return open([.data(bytes)], isOnce)
    case .file(let path): return open([.file(path: path)], isOnce)
    case .parts(let parts): return open(parts, isOnce)
    case .reader(let length): return .success(BodySource(length: length ?? -1, isReader: true, isOnce: true))
    }
  }

  private static func open(_ parts: [BodyPart], _ isOnce: Bool) -> Result<BodySource?, TaskError> {
    var pieces: [Piece] = []
    var total = 0
    for part in parts {
      switch piece(part) {
      case .success(let piece):
        pieces.append(piece)
        total += piece.length
      case .failure(let error):
        for case .file(let descriptor, _, _) in pieces { close(descriptor) }
        return .failure(error)
      }
    }
    let source = BodySource(length: total, isReader: false, isOnce: isOnce)
    source.pieces = pieces
    return .success(source)
  }

  private static func piece(_ part: BodyPart) -> Result<Piece, TaskError> {
    switch part {
    case .data(let bytes): return .success(.data(bytes))
    case .file(let path):
      let descriptor = Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
      guard descriptor >= 0 else { return .failure(FileErrors.reading(path, errno)) }
      var status = stat()
      guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT != S_IFDIR else {
        close(descriptor)
        return .failure(FileErrors.reading(path, EISDIR))
      }
      return .success(.file(descriptor: descriptor, length: Int(status.st_size), path: path))
    }
  }

  /// How much of so many bytes there still is, where that is known.
  func remaining(of count: Int) -> Int { length < 0 ? count : min(count, length - handed) }

  /// True when the whole body can be sent from its start (again).
  var canReplay: Bool { !isOnce || !hasBeenRead }

  func rewind() -> Bool {
    guard canReplay else { return false }
    pieceIndex = 0
    pieceOffset = 0
    handed = 0
    return true
  }

  func read(into buffer: UnsafeMutableRawBufferPointer) -> Outcome {
    let outcome = isReader ? readChunk(into: buffer) : readPieces(into: buffer)
    if case .bytes(let count) = outcome { handed += count }
    return outcome
  }

  /// The answer to `.wait`: the next piece, nil at the end.
  func give(_ bytes: Bytes?) {
    hasBeenRead = true
    chunk = bytes
    chunkOffset = 0
    if bytes == nil { readerEnded = true }
  }

  private func readChunk(into buffer: UnsafeMutableRawBufferPointer) -> Outcome {
    guard let chunk, chunkOffset < chunk.count else { return endOrWait() }
    var count = min(buffer.count, chunk.count - chunkOffset)
    if length >= 0 { count = min(count, length - handed) }
    guard count > 0, let base = chunk.base else { return .bytes(0) }
    buffer.baseAddress?.copyMemory(from: base + chunkOffset, byteCount: count)
    chunkOffset += count
    return .bytes(count)
  }

  private func endOrWait() -> Outcome {
    if length >= 0, handed >= length { return .bytes(0) }
    guard readerEnded else { return .wait }
    guard length < 0 || handed == length else {
      let message = "the body's reader ended after \(handed) of \(length) bytes"
      return .failure(TaskError(.requestBodyStreamExhausted, message))
    }
    return .bytes(0)
  }

  private func readPieces(into buffer: UnsafeMutableRawBufferPointer) -> Outcome {
    hasBeenRead = true
    var filled = 0
    while filled < buffer.count, pieceIndex < pieces.count {
      let piece = pieces[pieceIndex]
      let wanted = min(buffer.count - filled, piece.length - pieceOffset)
      if wanted == 0 {
        pieceIndex += 1
        pieceOffset = 0
        continue
      }
      let target = UnsafeMutableRawBufferPointer(rebasing: buffer[filled..<(filled + wanted)])
      switch copy(piece, to: target) {
      case .success(let count):
        filled += count
        pieceOffset += count
      case .failure(let error): return .failure(error)
      }
    }
    return .bytes(filled)
  }

  private func copy(_ piece: Piece, to target: UnsafeMutableRawBufferPointer) -> Result<Int, TaskError> {
    switch piece {
    case .data(let bytes):
      guard let base = bytes.base else { return .success(0) }
      target.baseAddress?.copyMemory(from: base + pieceOffset, byteCount: target.count)
      return .success(target.count)
    case .file(let descriptor, let length, let path):
      let count = pread(descriptor, target.baseAddress, target.count, off_t(pieceOffset))
      if count < 0 { return .failure(FileErrors.reading(path, errno)) }
      guard count > 0 else {
        let message = "\(path) became shorter while it was sent: \(pieceOffset) of \(length) bytes"
        return .failure(TaskError(.requestBodyStreamExhausted, message))
      }
      return .success(count)
    }
  }
}
