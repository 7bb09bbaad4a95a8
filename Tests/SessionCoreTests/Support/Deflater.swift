import CZlib
import CZstd

/// The libraries' own encoders, for what the decoders are to undo.
enum Deflater {
  static func deflate(_ bytes: [UInt8], windowBits: Int32) -> [UInt8] {
    var stream = z_stream()
    deflateInit2_(
      &stream, 6, Z_DEFLATED, windowBits, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
    defer { deflateEnd(&stream) }
    var input = bytes
    var output = [UInt8](repeating: 0, count: bytes.count + 1000)
    let count = output.count
    let left = input.withUnsafeMutableBufferPointer { source in
      output.withUnsafeMutableBufferPointer { target in
        stream.next_in = source.baseAddress
        stream.avail_in = UInt32(source.count)
        stream.next_out = target.baseAddress
        stream.avail_out = UInt32(target.count)
        CZlib.deflate(&stream, Z_FINISH)
        return Int(stream.avail_out)
      }
    }
    return Array(output.prefix(count - left))
  }

  static func zstd(_ bytes: [UInt8]) -> [UInt8] {
    var output = [UInt8](repeating: 0, count: ZSTD_compressBound(bytes.count))
    let count = ZSTD_compress(&output, output.count, bytes, bytes.count, 3)
    return Array(output.prefix(count))
  }
}
