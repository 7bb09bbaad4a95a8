import CWslay

/// A WebSocket at work: messages over the stream that its transfer has become.
///
/// It uses the stream as anybody else would, by commands and events: one read and one write under way at a time.
final class WebSocketTask: StreamConsumer {
  private enum State {
    /// Messages go both ways. close or the other side's close frame → closing · lost → ended
    case open
    /// A close frame is queued or sent, or has come. Both are through → ended · lost → ended
    case closing
    /// Nothing is sent or received any more.
    case ended
  }

  private struct Message {
    let bytes: Bytes
    let isText: Bool
  }

  private struct Send {
    let operation: Int
    let message: Message
  }

  private let id: TaskID
  private unowned(unsafe) let core: SessionCore
  private let stream: StreamTask
  private let framing: WebSocketFraming
  private let compression: MessageCompression?
  private let maximum: Int
  private var state = State.open
  /// The other side's close frame has come.
  private var hasPeerClosed = false
  private var receives: [Int] = []
  private var messages: [Message] = []
  private var messageBytes = 0
  private var sends: [Send] = []
  /// The first of `sends` is with the framing.
  private var isSending = false
  private var pings: [(operation: Int, number: UInt64)] = []
  private var pingCount: UInt64 = 0
  private var isReading = false
  private var isWriting = false
  private var problem: TaskError?
  private var isAdvancing = false
  private var isAdvancePending = false

  private static let read = 1
  private static let write = 2
  /// What is kept that nobody has asked for; the other side must wait then.
  private static let backlogLimit = 64 * 1024
  /// And so many messages, which may be empty.
  private static let backlogCount = 256

  /// nil: there is no libwslay, or no memory.
  init?(
    id: TaskID, stream: StreamTask, maximum: Int, compression: WebSocketHandshake.CompressionAgreement?
  ) {
    guard let framing = WebSocketFraming(maximum: maximum, allowsCompression: compression != nil) else { return nil }
    self.id = id
    core = stream.core
    self.stream = stream
    self.framing = framing
    self.maximum = maximum
    self.compression = compression.flatMap { MessageCompression($0) }
  }

  /// The stream is there.
  func begin() { advance() }

  // MARK: Commands

  func receive(_ command: WebSocketCommand) {
    switch command {
    case .send(let operation, let bytes, let isText):
      guard state == .open else { return tell(.done(operation: operation, closedError)) }
      sends.append(Send(operation: operation, message: Message(bytes: bytes, isText: isText)))
    case .receive(let operation): receives.append(operation)
    case .ping(let operation): ping(operation)
    case .withdraw(let operation):
      receives.removeAll { $0 == operation }
      pings.removeAll { $0.operation == operation }
    case .close(let code, let reason): close(code, reason)
    }
    advance()
  }

  private func ping(_ operation: Int) {
    pingCount += 1
    let isQueued = withUnsafeBytes(of: pingCount.bigEndian) { framing.queue(opcode: WSLAY_PING, $0) }
    guard state == .open, isQueued else { return tell(.done(operation: operation, closedError)) }
    pings.append((operation, pingCount))
  }

  private func close(_ code: Int, _ reason: Bytes) {
    guard state == .open else { return }
    state = .closing
    framing.queueClose(code: code, reason: reason.buffer)
    stream.expectEnd()
  }

  // MARK: The stream

  func streamTells(_ event: StreamEvent) {
    switch event {
    case .read(_, .success(let bytes), let atEnd, _):
      isReading = false
      take(framing.receive(bytes.buffer))
      if !framing.isReading, !hasPeerClosed { breakOff() }
      if atEnd, !hasPeerClosed, problem == nil {
        lose(TaskError(.networkConnectionLost, "the connection was closed without a close frame"))
      }
    case .written(_, nil, _): isWriting = false
    case .read(_, .failure(let error), _, _), .written(_, let error?, _):
      isReading = false
      isWriting = false
      lose(error)
      return
    case .readClosed, .writeClosed, .betterRoute, .captured: return
    }
    advance()
  }

  private func take(_ received: [WebSocketFraming.Message]) {
    for one in received {
      switch one {
      case .text(let bytes, let isCompressed): take(bytes, isText: true, isCompressed)
      case .binary(let bytes, let isCompressed): take(bytes, isText: false, isCompressed)
      case .pong(let bytes): pong(bytes)
      case .tooLong: breakOff(1009)
      case .close(let code, let reason, let isCut):
        hasPeerClosed = true
        if state == .open { state = .closing }
        // One byte is half a code.
        if isCut { breakOff() }
        tell(.closed(code: code, reason: reason))
      }
    }
  }

  private func take(_ bytes: Bytes, isText: Bool, _ isCompressed: Bool) {
    guard problem == nil else { return }
    var bytes = bytes
    if isCompressed, let compression {
      switch compression.inflate(bytes, maximum: maximum) {
      case .bytes(let whole): bytes = whole
      case .tooLong: return breakOff(1009)
      case .damaged: return breakOff(1007)
      }
      // libwslay has looked at the others.
      if isText, String(validating: bytes.buffer, as: UTF8.self) == nil { return breakOff(1007) }
    }
    messages.append(Message(bytes: bytes, isText: isText))
    messageBytes += bytes.count
  }

  /// A pong answers the ping it repeats and those before it (RFC 6455 §5.5.3).
  private func pong(_ bytes: Bytes) {
    guard bytes.count == 8 else { return }
    let number = bytes.buffer.reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    while let first = pings.first, first.number <= number, number <= pingCount {
      pings.removeFirst()
      tell(.done(operation: first.operation, nil))
    }
  }

  /// The other side broke the rules: the framing has queued the close frame that says so, or is told to.
  private func breakOff(_ code: Int? = nil) {
    guard problem == nil else { return }
    if let code { framing.queueClose(code: code, reason: UnsafeRawBufferPointer(start: nil, count: 0)) }
    state = .closing
    problem = TaskError(.badServerResponse, "the server broke the rules of WebSocket")
    stream.expectEnd()
  }

  /// What a close frame's code says was wrong.
  private func explain(_ problem: TaskError) -> TaskError {
    switch framing.codeSent {
    case 1007: TaskError(.cannotDecodeRawData, "a text that is not UTF-8, or a damaged message (1007)")
    case 1009: TaskError(.dataLengthExceedsMaximum, "a message of more than \(maximum) bytes (1009)")
    default: problem
    }
  }

  private func lose(_ error: TaskError) {
    guard state != .ended else { return }
    // The other side has said that it is done. Whether it still hears our answer changes nothing.
    if hasPeerClosed, problem == nil { return end() }
    let error = problem.map(explain) ?? error
    state = .ended
    handOver()
    failOperations(error)
    stream.fail(error)
  }

  // MARK: Going on

  /// Does everything that can be done now. What that brings about at once is done here too, not inside of it.
  private func advance() {
    isAdvancePending = true
    guard !isAdvancing else { return }
    isAdvancing = true
    while isAdvancePending {
      isAdvancePending = false
      step()
    }
    isAdvancing = false
  }

  private func step() {
    guard state != .ended else { return failOperations(closedError) }
    deliver()
    write()
    guard !isWriting, framing.isDrained, state == .closing, hasPeerClosed || problem != nil else { return read() }
    end()
  }

  private func deliver() {
    while !receives.isEmpty, !messages.isEmpty {
      let message = messages.removeFirst()
      messageBytes -= message.bytes.count
      tell(.message(operation: receives.removeFirst(), .success(message.bytes), isText: message.isText))
    }
    // What has come before the end is delivered; then there is nothing more to wait for.
    if hasPeerClosed, messages.isEmpty { failReceives(closedError) }
  }

  private func write() {
    while !isWriting, state != .ended {
      let output = framing.takeOutput()
      if output.count > 0 {
        isWriting = true
        stream.receive(.write(operation: Self.write, output, timeout: nil))
        continue
      }
      guard !isSending else {
        isSending = false
        tell(.done(operation: sends.removeFirst().operation, nil))
        continue
      }
      guard state == .open, let next = sends.first else { return }
      isSending = true
      queue(next.message)
    }
  }

  private func queue(_ message: Message) {
    let opcode = message.isText ? WSLAY_TEXT_FRAME : WSLAY_BINARY_FRAME
    let compressed = compression?.deflate(message.bytes)
    _ = framing.queue(opcode: opcode, (compressed ?? message.bytes).buffer, isCompressed: compressed != nil)
  }

  private func read() {
    guard !isReading, !hasPeerClosed, state != .ended else { return }
    guard receives.isEmpty == false || messageBytes < Self.backlogLimit && messages.count < Self.backlogCount else {
      return
    }
    isReading = true
    stream.receive(.read(operation: Self.read, minimum: 1, maximum: StreamTask.pieceSize, timeout: nil))
  }

  /// Both close frames are through.
  private func end() {
    state = .ended
    handOver()
    if let problem {
      let error = explain(problem)
      failOperations(error)
      return stream.fail(error)
    }
    failOperations(closedError)
    stream.receive(.withdraw(operation: Self.read))
    stream.receive(.closeRead)
    stream.receive(.closeWrite)
  }

  /// What nobody has asked for yet is the layer above's to keep.
  private func handOver() {
    for message in messages { tell(.message(operation: 0, .success(message.bytes), isText: message.isText)) }
    messages.removeAll()
  }

  private var closedError: TaskError { TaskError(.networkConnectionLost, "the WebSocket is closed") }

  private func failReceives(_ error: TaskError) {
    for operation in receives { tell(.message(operation: operation, .failure(error), isText: false)) }
    receives.removeAll()
  }

  private func failOperations(_ error: TaskError) {
    failReceives(error)
    for send in sends { tell(.done(operation: send.operation, error)) }
    sends.removeAll()
    for ping in pings { tell(.done(operation: ping.operation, error)) }
    pings.removeAll()
  }

  private func tell(_ event: WebSocketEvent) { core.outbox.append(.webSocket(id, event)) }
}
