/// Collects a body that is to be stored while it is delivered: in memory at first, in its file when it grows.
final class BodyRecorder {
  private var limit: Int
  /// Nil where it stays in memory.
  private var files: BodyFiles?
  private var bytes = Bytes()
  private var length = 0
  private var writer: BodyWriter?
  private let digester = Digester(.sha256)

  /// What is kept in memory for want of a disk.
  private static let memoryLimit = 4 << 20

  init(limit: Int, files: BodyFiles?) {
    self.limit = limit
    self.files = files
  }

  /// False: it is too large, or the disk will not have it; then nothing is stored.
  func append(_ piece: UnsafeRawBufferPointer) -> Bool {
    length += piece.count
    guard length <= limit else { return false }
    if let writer {
      digester?.update(piece)
      return writer.write(piece)
    }
    guard bytes.append(piece) else { return false }
    if files != nil, bytes.count >= ResponseCache.spillSize { return spill() }
    return true
  }

  /// Goes on in a file.
  private func spill() -> Bool {
    guard let made = files?.create() else {
      (files, limit) = (nil, min(limit, Self.memoryLimit))
      return bytes.count <= Self.memoryLimit
    }
    writer = made
    if let digester { bytes.withBytes(digester.update) }
    let isWritten = bytes.withBytes(made.write)
    bytes = Bytes()
    return isWritten
  }

  var count: Int { length }

  /// Where the body is, now that it is whole. Once; nil where it could not be kept.
  func place() -> StoredResponse.Place? {
    guard let writer else { return .memory(bytes) }
    guard let digester, writer.commit() else { return nil }
    return .file(name: writer.name, digest: digester.value)
  }

  /// The whole body in memory, to be looked at; nil where it cannot be read.
  func contents() -> Bytes? { writer == nil ? bytes : writer?.contents(length) }
}
