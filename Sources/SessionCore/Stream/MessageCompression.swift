import CZlib

/// permessage-deflate (RFC 7692): each message through zlib, with what came before it as context unless it was agreed
/// to forget that.
final class MessageCompression {
  enum Outcome {
    case bytes(Bytes)
    case tooLong
    case damaged
  }

  private let agreement: WebSocketHandshake.CompressionAgreement
  private var inflater = z_stream()
  private var deflater = z_stream()
  private let mayDeflate: Bool
  /// What each message ends with, and which is left out on the wire.
  private static let tail: [UInt8] = [0, 0, 0xFF, 0xFF]
  /// Shorter ones do not become smaller.
  private static let leastLength = 64

  init?(_ agreement: WebSocketHandshake.CompressionAgreement) {
    self.agreement = agreement
    let size = Int32(MemoryLayout<z_stream>.size)
    guard inflateInit2_(&inflater, -15, ZLIB_VERSION, size) == Z_OK else { return nil }
    // zlib has no raw window of 256 bytes; then nothing is compressed, which is always allowed.
    mayDeflate =
      agreement.clientWindow > 8
      && deflateInit2_(
        &deflater, Z_DEFAULT_COMPRESSION, Z_DEFLATED, -Int32(agreement.clientWindow), 8, Z_DEFAULT_STRATEGY,
        ZLIB_VERSION, size) == Z_OK
  }

  deinit {
    inflateEnd(&inflater)
    if mayDeflate { deflateEnd(&deflater) }
  }

  /// A message as it was before it was compressed, of no more than so many bytes.
  func inflate(_ message: Bytes, maximum: Int) -> Outcome {
    Self.tail.withUnsafeBytes { _ = message.append($0) }
    let result = Bytes()
    inflater.next_in = message.base?.assumingMemoryBound(to: UInt8.self)
    inflater.avail_in = UInt32(message.count)
    let outcome = withUnsafeTemporaryAllocation(byteCount: 32 * 1024, alignment: 16) { piece in
      while true {
        inflater.next_out = piece.baseAddress?.assumingMemoryBound(to: UInt8.self)
        inflater.avail_out = UInt32(piece.count)
        let code = CZlib.inflate(&inflater, Z_SYNC_FLUSH)
        guard code == Z_OK || code == Z_BUF_ERROR || code == Z_STREAM_END else { return Outcome.damaged }
        let count = piece.count - Int(inflater.avail_out)
        result.append(UnsafeRawBufferPointer(rebasing: piece[..<count]))
        if result.count > maximum { return .tooLong }
        // A final block ends the stream; what follows begins another.
        if code == Z_STREAM_END { inflateReset(&inflater) }
        if inflater.avail_in == 0, inflater.avail_out > 0 { return .bytes(result) }
        if code == Z_BUF_ERROR { return .damaged }
      }
    }
    if agreement.serverForgets { inflateReset(&inflater) }
    return outcome
  }

  /// The message compressed, or nil where it goes as it is.
  func deflate(_ message: Bytes) -> Bytes? {
    guard mayDeflate, message.count >= Self.leastLength, message.count <= Int(UInt32.max) / 2 else { return nil }
    let result = Bytes(capacity: message.count / 2)
    deflater.next_in = message.base?.assumingMemoryBound(to: UInt8.self)
    deflater.avail_in = UInt32(message.count)
    withUnsafeTemporaryAllocation(byteCount: 32 * 1024, alignment: 16) { piece in
      repeat {
        deflater.next_out = piece.baseAddress?.assumingMemoryBound(to: UInt8.self)
        deflater.avail_out = UInt32(piece.count)
        CZlib.deflate(&deflater, Z_SYNC_FLUSH)
        result.append(UnsafeRawBufferPointer(rebasing: piece[..<(piece.count - Int(deflater.avail_out))]))
      } while deflater.avail_out == 0
    }
    if agreement.clientForgets { deflateReset(&deflater) }
    result.removeLast(Self.tail.count)
    return result
  }
}
