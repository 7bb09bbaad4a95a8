import CLateLibraries
import CWslay

/// Frames of a WebSocket's client, by libwslay: bytes in and out, messages in and out. It answers pings and the other
/// side's close frame by itself.
final class WebSocketFraming {
  enum Message {
    case text(Bytes, isCompressed: Bool)
    case binary(Bytes, isCompressed: Bool)
    case pong(Bytes)
    /// 1005: without a code. `isCut`: with half of one.
    case close(code: Int, reason: Bytes, isCut: Bool)
    /// A frame begins that is longer than a message may be.
    case tooLong
  }

  private var context: wslay_event_context_ptr?
  /// What has come and has not been taken apart.
  private var input = ByteQueue()
  /// What is to be sent.
  private(set) var output = Bytes()
  private var received: [Message] = []
  private var lengths: FrameLengths

  /// RSV1, which says that a message is compressed (RFC 7692).
  private static let compressedBit: UInt8 = 1 << 2
  /// No more than this is made of messages before some of it has left.
  private static let outputLimit = 64 * 1024

  /// `maximum`: of a message's length, on the wire. nil: there is no libwslay, or no memory.
  init?(maximum: Int, allowsCompression: Bool) {
    guard late_load("libwslay.so.1") else { return nil }
    lengths = FrameLengths(maximum: UInt64(max(maximum, 0)))
    var callbacks = wslay_event_callbacks()
    callbacks.recv_callback = Self.take
    callbacks.send_callback = Self.give
    callbacks.genmask_callback = Self.makeMask
    callbacks.on_msg_recv_callback = Self.note
    var made: wslay_event_context_ptr?
    guard wslay_event_context_client_init(&made, &callbacks, Unmanaged.passUnretained(self).toOpaque()) == 0 else {
      return nil
    }
    context = made
    wslay_event_config_set_max_recv_msg_length(made, UInt64(max(maximum, 0)))
    if allowsCompression { wslay_event_config_set_allowed_rsv_bits(made, Self.compressedBit) }
  }

  deinit { if let context { wslay_event_context_free(context) } }

  /// The other side broke the rules, or has closed: nothing it sends counts any more.
  var isReading: Bool { context.map { wslay_event_get_read_enabled($0) != 0 } ?? false }

  /// The code of the close frame that was sent; 0 is none.
  var codeSent: Int { context.map { Int(wslay_event_get_status_code_sent($0)) } ?? 0 }

  /// Nothing waits to be sent.
  var isDrained: Bool { output.count == 0 && context.map { wslay_event_get_queued_msg_count($0) == 0 } ?? true }

  /// Takes bytes apart: the messages that are whole now.
  func receive(_ bytes: UnsafeRawBufferPointer) -> [Message] {
    guard let context, input.append(bytes) else { return [] }
    _ = wslay_event_recv(context)
    defer { received = [] }
    // libwslay has its say on a frame's length when the first byte of its content is there, which may never come.
    if isReading {
      lengths.follow(bytes)
      if lengths.isExceeded { received.append(.tooLong) }
    }
    return received
  }

  /// Queues a message or ping. False when it is too late.
  func queue(opcode: wslay_opcode, _ bytes: UnsafeRawBufferPointer, isCompressed: Bool = false) -> Bool {
    guard let context else { return false }
    var message = wslay_event_msg(
      opcode: UInt8(opcode.rawValue), msg: bytes.assumingMemoryBound(to: UInt8.self).baseAddress,
      msg_length: bytes.count)
    return wslay_event_queue_msg_ex(context, &message, isCompressed ? Self.compressedBit : 0) == 0
  }

  /// Queues a close frame, after which nothing is sent.
  func queueClose(code: Int, reason: UnsafeRawBufferPointer) {
    guard let context, let code = UInt16(exactly: code) else { return }
    _ = wslay_event_queue_close(context, code, reason.assumingMemoryBound(to: UInt8.self).baseAddress, reason.count)
  }

  /// What is to be sent now.
  func takeOutput() -> Bytes {
    if let context { _ = wslay_event_send(context) }
    defer { output = Bytes() }
    return output
  }

  // MARK: What libwslay calls

  private static func framing(_ user: UnsafeMutableRawPointer?) -> WebSocketFraming? {
    user.map { Unmanaged<WebSocketFraming>.fromOpaque($0).takeUnretainedValue() }
  }

  private static let take: wslay_event_recv_callback = { context, buffer, length, _, user in
    guard let framing = framing(user), let buffer, framing.input.count > 0 else {
      wslay_event_set_error(context, WSLAY_ERR_WOULDBLOCK.rawValue)
      return -1
    }
    let piece = framing.input.take(min(length, framing.input.count))
    buffer.update(
      from: piece.buffer.assumingMemoryBound(to: UInt8.self).baseAddress ?? UnsafePointer(buffer), count: piece.count)
    return piece.count
  }

  private static let give: wslay_event_send_callback = { context, data, length, _, user in
    guard let framing = framing(user), let data, framing.output.count < outputLimit,
      framing.output.append(UnsafeRawBufferPointer(start: data, count: length))
    else {
      wslay_event_set_error(context, WSLAY_ERR_WOULDBLOCK.rawValue)
      return -1
    }
    return length
  }

  private static let makeMask: wslay_event_genmask_callback = { _, buffer, length, _ in
    guard let buffer else { return -1 }
    for index in 0..<length { buffer[index] = UInt8.random(in: 0...255) }
    return 0
  }

  private static let note: wslay_event_on_msg_recv_callback = { _, argument, user in
    guard let framing = framing(user), let argument = argument?.pointee else { return }
    let bytes = Bytes(copying: UnsafeRawBufferPointer(start: argument.msg, count: argument.msg_length))
    let isCompressed = argument.rsv != 0
    switch wslay_opcode(UInt32(argument.opcode)) {
    case WSLAY_TEXT_FRAME: framing.received.append(.text(bytes, isCompressed: isCompressed))
    case WSLAY_BINARY_FRAME: framing.received.append(.binary(bytes, isCompressed: isCompressed))
    case WSLAY_PONG: framing.received.append(.pong(bytes))
    case WSLAY_CONNECTION_CLOSE:
      let reason = Bytes(copying: UnsafeRawBufferPointer(rebasing: bytes.buffer.dropFirst(2)))
      let code = argument.status_code == 0 ? 1005 : Int(argument.status_code)
      framing.received.append(.close(code: code, reason: reason, isCut: bytes.count == 1))
    default: break
    }
  }
}
