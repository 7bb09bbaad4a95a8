/// Where the body of the final response goes: decoded, counted, limited.
struct BodySink {
  enum Outcome {
    case taken
    /// There is no room; the same bytes must be offered again later.
    case full
    case failure(TaskError)
  }

  private enum Kind {
    case memory
    case consumer
    case file
  }

  private var kind: Kind
  /// The file, where the body goes to one.
  private(set) var file: FileSink?
  private let maximum: Int?
  private var decoder: DecoderChain?
  /// What the stored bytes are checked with.
  var checks: BodyChecks?
  /// The whole body, or what the consumer has not been given.
  private(set) var collected = Bytes()
  private var decodedCount = 0
  /// The consumer is busy with a piece.
  private(set) var isConsumerBusy = false
  /// Nobody has waited for it to be done with the piece before.
  private var isPrompt = false
  /// It is waited for.
  private var isLate = false
  /// More was to be had than there is room for.
  private var hasRefused = false

  /// What a consumer is given at once, as long as libcurl does not give more at once. A transfer whose consumer has
  /// stopped keeps that one piece, and what libcurl has been refused.
  private static let pieceSize = 16 * 1024
  /// The same of a body with a coding, whose decoder keeps much itself: for a consumer that takes its pieces at once, and
  /// for one that does not.
  private static let decodedPieceSize = (prompt: 8 * 1024, late: 4 * 1024)
  private static let decodePiece = 16 * 1024

  init(_ destination: Destination, maximum: Int?) {
    self.maximum = maximum
    switch destination {
    case .memory: (kind, file) = (.memory, nil)
    case .consumer: (kind, file) = (.consumer, nil)
    case .file(let path): (kind, file) = (.file, FileSink(path: path))
    case .download: (kind, file) = (.file, nil)
    case .window(let window): (kind, file) = (.file, FileSink(window: window))
    }
  }

  /// Nothing has been received: the body goes to a download's file (`use`).
  mutating func becomeDownload() { kind = .file }

  /// Says which file a download goes to.
  mutating func use(_ file: FileSink) { self.file = file }

  var isMemory: Bool { kind == .memory }
  var isConsumer: Bool { kind == .consumer }

  /// The response is not what the file was meant for (an error page): the file stays as it was, and the body is
  /// collected. Devices and pipes take what comes.
  mutating func refuseFile() {
    if let file, file.needsSync { collect() }
  }

  /// Nothing of the body has been received, and it is not for its consumer or file: it is collected.
  mutating func collect() {
    file?.discard()
    file = nil
    kind = .memory
  }

  /// Prepares for a body of known length (-1: unknown) with these codings.
  mutating func begin(contentEncodings: [String], expectedLength: Int) -> TaskError? {
    decoder = contentEncodings.isEmpty ? nil : DecoderChain.make(contentEncodings: contentEncodings)
    guard decoder == nil, expectedLength > 0 else { return nil }
    if let maximum, expectedLength > maximum { return tooLong(maximum) }
    if isMemory { collected.reserve(min(expectedLength, 1 << 20)) }
    return nil
  }

  mutating func receive(_ bytes: UnsafeRawBufferPointer) -> Outcome {
    if refuses() { return .full }
    guard let decoder else { return store(bytes) }
    return decoder.feed(bytes) { pump(decoder) }
  }

  /// The end of the transfer: the error of a body that is not whole. For a consumer only when all was taken.
  func finish() -> TaskError? { decoder?.finish() }

  // MARK: The consumer

  /// There is enough for the consumer that no more should come.
  private var hasPiece: Bool { collected.count >= pieceSize }

  private var pieceSize: Int {
    guard decoder != nil else { return Self.pieceSize }
    return isPrompt ? Self.decodedPieceSize.prompt : Self.decodedPieceSize.late
  }

  /// Whether there is no room: the consumer is busy, or has not yet been given what is enough for it. Who has been told
  /// so waits for the consumer.
  mutating func refuses() -> Bool {
    guard isConsumer, isConsumerBusy || hasPiece else { return false }
    hasRefused = true
    return true
  }

  /// The same, when so many bytes could be refused: what the consumer has not been given would become too much.
  mutating func refuses(_ count: Int) -> Bool {
    if refuses() { return true }
    guard isConsumer, decoder == nil, collected.count > 0, collected.count + count > Self.pieceSize else {
      return false
    }
    hasRefused = true
    return true
  }

  /// Nothing more is to come before the consumer is done with its piece, or with the one it is about to be given.
  /// False: there is none, or only a small one.
  mutating func holdBack() -> Bool {
    guard isConsumer, isConsumerBusy || collected.count >= pieceSize / 2 else { return false }
    hasRefused = true
    if isConsumerBusy { isLate = true }
    return true
  }

  /// The transfer cannot go on before the consumer is done with a piece.
  var isWaitedFor: Bool { hasRefused && isConsumer && (isConsumerBusy || collected.count > 0) }

  /// The consumer has taken, or is taking, all there is.
  var isDelivered: Bool { collected.count == 0 && !isConsumerBusy }

  /// There is something for the consumer, and it is free.
  var wantsDelivery: Bool { isConsumer && !isConsumerBusy && collected.count > 0 }

  /// The next piece, when there is one and the consumer is free.
  mutating func takePiece() -> Bytes? {
    guard wantsDelivery else { return nil }
    isConsumerBusy = true
    let piece = collected
    collected = Bytes()
    return piece
  }

  /// What the consumer has not been given of a body that is not going to be whole.
  mutating func takeRest() -> Bytes? {
    guard isConsumer, collected.count > 0 else { return nil }
    defer { collected = Bytes() }
    return collected
  }

  /// The consumer is free again; decodes on what was kept back.
  mutating func pieceConsumed() -> Outcome {
    isConsumerBusy = false
    hasRefused = false
    isPrompt = !isLate
    isLate = false
    guard let decoder, !hasPiece else { return .taken }
    let outcome = pump(decoder)
    // What else there is comes after the piece that was still to be had.
    if collected.count >= pieceSize / 2 { hasRefused = true }
    return outcome
  }

  private mutating func pump(_ decoder: DecoderChain) -> Outcome {
    while !isConsumer || !hasPiece {
      let size = isConsumer ? pieceSize - collected.count : Self.decodePiece
      let step = withUnsafeTemporaryAllocation(byteCount: size, alignment: 16) { piece in
        switch decoder.pull(into: piece) {
        case .produced(0): return Outcome.full
        case .produced(let count): return store(UnsafeRawBufferPointer(rebasing: piece[..<count]))
        case .failure(let error): return .failure(error)
        }
      }
      switch step {
      case .taken: continue
      case .full: return .taken
      case .failure: return step
      }
    }
    return .taken
  }

  private mutating func store(_ bytes: UnsafeRawBufferPointer) -> Outcome {
    decodedCount += bytes.count
    if let maximum, decodedCount > maximum { return .failure(tooLong(maximum)) }
    checks?.take(stored: bytes)
    if let file { return file.write(bytes).map { .failure($0) } ?? .taken }
    guard collected.append(bytes) else {
      return .failure(TaskError(.dataLengthExceedsMaximum, "no memory for the response body"))
    }
    return .taken
  }

  private func tooLong(_ maximum: Int) -> TaskError {
    TaskError(.dataLengthExceedsMaximum, "the response body is longer than \(maximum) bytes")
  }
}
