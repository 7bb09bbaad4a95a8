/// The content codings of one body, undone in turn. Pulled from its end, so that output is made only as far as there
/// is room for it: a small input that decodes to gigabytes costs no memory.
final class DecoderChain {
  enum Step {
    /// So many bytes were written; 0 when all input has been used up.
    case produced(Int)
    case failure(TaskError)
  }

  private final class Stage {
    let name: String
    let decoder: any StreamDecoder
    /// What is left of earlier input.
    var input = Bytes()
    /// Input that is its giver's still; then nothing is left of earlier one.
    var lent: UnsafeRawBufferPointer?
    var offset = 0

    init(name: String, decoder: any StreamDecoder) {
      self.name = name
      self.decoder = decoder
    }

    var pending: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: (lent ?? input.buffer)[offset...]) }
  }

  /// In the order of undoing.
  private let stages: [Stage]
  private var sawInput = false
  private static let pieceSize = 16 * 1024

  private init(_ stages: [Stage]) { self.stages = stages }

  /// The chain for the values of Content-Encoding, in field order. Nil when there is nothing to undo, or a coding is
  /// unknown: then the bytes are passed as they are.
  static func make(contentEncodings: [String]) -> DecoderChain? {
    var stages: [Stage] = []
    for value in contentEncodings {
      for coding in value.split(separator: ",") {
        let name = coding.filter { $0 != " " && $0 != "\t" }.lowercased()
        if name.isEmpty || name == "identity" { continue }
        guard let decoder = decoder(for: name) else { return nil }
        stages.append(Stage(name: name, decoder: decoder))
      }
    }
    // The last coding was applied last and is undone first. More than a few is an attack.
    return stages.isEmpty || stages.count > 5 ? nil : DecoderChain(stages.reversed())
  }

  /// A whole body with its codings undone; as it is where they are unknown or it is damaged.
  static func decoded(_ body: Bytes, contentEncodings: [String]) -> Bytes {
    guard let chain = make(contentEncodings: contentEncodings) else { return body }
    return body.withBytes { chain.feed($0) { chain.pullAll() } } ?? body
  }

  /// All there is; nil where it is damaged.
  private func pullAll() -> Bytes? {
    let result = Bytes()
    return withUnsafeTemporaryAllocation(byteCount: Self.pieceSize, alignment: 16) { piece in
      while true {
        switch pull(into: piece) {
        case .produced(0): return result
        case .produced(let count):
          guard result.append(UnsafeRawBufferPointer(rebasing: piece[..<count])) else { return nil }
        case .failure: return nil
        }
      }
    }
  }

  private static func decoder(for name: String) -> (any StreamDecoder)? {
    switch name {
    case "gzip", "x-gzip": return ZlibDecoder(.gzip)
    case "deflate": return ZlibDecoder(.deflate)
    case "br": return BrotliDecoder()
    case "zstd": return ZstdDecoder()
    default: return nil
    }
  }

  /// Adds input. It is read where it is while `pulling` runs; what has not been pulled through then is kept.
  func feed<Result>(_ bytes: UnsafeRawBufferPointer, pulling: () -> Result) -> Result {
    guard let first = stages.first, !bytes.isEmpty else { return pulling() }
    sawInput = true
    Self.compact(first)
    guard first.input.count == 0 else {
      first.input.append(bytes)
      return pulling()
    }
    first.lent = bytes
    let result = pulling()
    // In a block of its own size: what is kept may be kept for long.
    if !first.pending.isEmpty { first.input = Bytes(copying: first.pending) }
    first.lent = nil
    first.offset = 0
    return result
  }

  /// Decodes as much as there is room for.
  func pull(into output: UnsafeMutableRawBufferPointer) -> Step { pull(stages.count - 1, into: output) }

  /// The error when the input ended before the coding did; nil when all is well. Only after `pull` gave 0.
  func finish() -> TaskError? {
    guard sawInput, let stage = stages.first(where: { !$0.decoder.isAtEnd }) else { return nil }
    return Self.error(stage, "it ends too early")
  }

  private func pull(_ index: Int, into output: UnsafeMutableRawBufferPointer) -> Step {
    let stage = stages[index]
    while true {
      switch stage.decoder.decode(stage.pending, into: output) {
      case .failure(let text): return .failure(Self.error(stage, text))
      case .progress(let consumed, let produced):
        stage.offset += consumed
        if produced > 0 { return .produced(produced) }
        if consumed > 0, !stage.pending.isEmpty { continue }
      }
      guard index > 0 else { return .produced(0) }
      switch refill(index) {
      case .produced(0): return .produced(0)
      case .produced: continue
      case .failure(let error): return .failure(error)
      }
    }
  }

  private func refill(_ index: Int) -> Step {
    let stage = stages[index]
    Self.compact(stage)
    return withUnsafeTemporaryAllocation(byteCount: Self.pieceSize, alignment: 16) { piece in
      let step = pull(index - 1, into: piece)
      if case .produced(let count) = step {
        stage.input.append(UnsafeRawBufferPointer(rebasing: piece[..<count]))
      }
      return step
    }
  }

  private static func compact(_ stage: Stage) {
    guard stage.offset > 0 else { return }
    stage.input.removeFirst(stage.offset)
    stage.offset = 0
  }

  private static func error(_ stage: Stage, _ text: String) -> TaskError {
    TaskError(.cannotDecodeContentData, "the \(stage.name) content coding is damaged: \(text)")
  }
}
