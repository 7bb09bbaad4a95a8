import CBrotli
import CZlib
import CZstd

/// Undoes one content coding, piece by piece.
protocol StreamDecoder: AnyObject {
  /// Takes some of the input and gives some output.
  func decode(_ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer) -> DecoderStep
  /// True when the stream was whole: nothing is missing at its end.
  var isAtEnd: Bool { get }
}

enum DecoderStep {
  case progress(consumed: Int, produced: Int)
  case failure(String)
}

/// gzip (RFC 1952, several members allowed), and "deflate" in both of its meanings: zlib (RFC 1950) and raw (1951).
final class ZlibDecoder: StreamDecoder {
  enum Format { case gzip, deflate }

  private let format: Format
  private var stream = z_stream()
  private var isOpen = false
  private(set) var isAtEnd = false

  init(_ format: Format) { self.format = format }

  deinit {
    if isOpen { inflateEnd(&stream) }
  }

  func decode(_ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer) -> DecoderStep {
    guard let first = input.first else { return .progress(consumed: 0, produced: 0) }
    if !isOpen {
      // Two bytes tell a zlib stream from a raw one.
      if format == .deflate, input.count < 2 { return .progress(consumed: 0, produced: 0) }
      guard open(windowBits(input)) else { return .failure("zlib cannot be set up") }
    }
    if isAtEnd {
      // Another member may follow; what is no member is padding, which is ignored.
      guard format == .gzip, first == 0x1F else { return .progress(consumed: input.count, produced: 0) }
      inflateReset(&stream)
      isAtEnd = false
    }
    return inflateSome(input, output)
  }

  private func inflateSome(
    _ input: UnsafeRawBufferPointer, _ output: UnsafeMutableRawBufferPointer
  ) -> DecoderStep {
    let source = UnsafeMutableRawPointer(mutating: input.baseAddress)
    stream.next_in = source?.assumingMemoryBound(to: UInt8.self)
    stream.avail_in = UInt32(input.count)
    stream.next_out = output.baseAddress?.assumingMemoryBound(to: UInt8.self)
    stream.avail_out = UInt32(output.count)
    let result = inflate(&stream, Z_NO_FLUSH)
    let consumed = input.count - Int(stream.avail_in)
    let produced = output.count - Int(stream.avail_out)
    switch result {
    case Z_OK, Z_BUF_ERROR: break
    case Z_STREAM_END: isAtEnd = true
    default: return .failure(stream.msg.map { String(cString: $0) } ?? "zlib error \(result)")
    }
    return .progress(consumed: consumed, produced: produced)
  }

  private func windowBits(_ input: UnsafeRawBufferPointer) -> Int32 {
    if format == .gzip { return 15 + 16 }
    let isZlib = input[0] & 0x0F == 8 && (Int(input[0]) << 8 | Int(input[1])) % 31 == 0
    return isZlib ? 15 : -15
  }

  private func open(_ windowBits: Int32) -> Bool {
    isOpen = inflateInit2_(&stream, windowBits, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size)) == Z_OK
    return isOpen
  }
}

/// br (RFC 7932).
final class BrotliDecoder: StreamDecoder {
  private let state = BrotliDecoderCreateInstance(nil, nil, nil)
  private(set) var isAtEnd = false

  deinit { BrotliDecoderDestroyInstance(state) }

  func decode(_ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer) -> DecoderStep {
    if isAtEnd { return .progress(consumed: input.count, produced: 0) }
    var availableIn = input.count
    var availableOut = output.count
    var nextIn = input.baseAddress?.assumingMemoryBound(to: UInt8.self)
    var nextOut = output.baseAddress?.assumingMemoryBound(to: UInt8.self)
    let result = BrotliDecoderDecompressStream(state, &availableIn, &nextIn, &availableOut, &nextOut, nil)
    if result == BROTLI_DECODER_RESULT_ERROR {
      return .failure(String(cString: BrotliDecoderErrorString(BrotliDecoderGetErrorCode(state))))
    }
    if result == BROTLI_DECODER_RESULT_SUCCESS { isAtEnd = true }
    return .progress(consumed: input.count - availableIn, produced: output.count - availableOut)
  }
}

/// zstd (RFC 8878), several frames allowed.
final class ZstdDecoder: StreamDecoder {
  private let stream = ZSTD_createDStream()
  private(set) var isAtEnd = false

  /// RFC 9659: what a content coding may ask for, 8 MiB. Without a limit libzstd keeps 128 MiB where it is told to.
  private static let largestWindow: Int32 = 23

  init() { ZSTD_DCtx_setParameter(stream, ZSTD_d_windowLogMax, Self.largestWindow) }

  deinit { ZSTD_freeDStream(stream) }

  func decode(_ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer) -> DecoderStep {
    var source = ZSTD_inBuffer(src: input.baseAddress, size: input.count, pos: 0)
    var target = ZSTD_outBuffer(dst: output.baseAddress, size: output.count, pos: 0)
    let result = ZSTD_decompressStream(stream, &target, &source)
    if ZSTD_isError(result) != 0 { return .failure(String(cString: ZSTD_getErrorName(result))) }
    // Without input it tells how much of a next frame it would like, which is not to say that there is one.
    if source.pos > 0 || target.pos > 0 { isAtEnd = result == 0 }
    return .progress(consumed: source.pos, produced: target.pos)
  }
}
