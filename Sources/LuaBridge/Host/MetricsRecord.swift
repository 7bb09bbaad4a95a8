import CLuaShim
import SessionCore

/// Byte counts and metrics as one byte string that stdlib/http/metrics.lua unpacks when a script first looks at them: a
/// response costs one short string instead of a tree of tables.
///
/// Native byte order, unaligned: the four counts, start, duration, numbers of redirects and transactions; then for each
/// transaction its eleven times, eight integers and seven texts (string.pack's `s4`), in the order below.
extension Outbox {
  func append(metricsOf completion: Completion) {
    let metrics = completion.metrics
    var size = 64
    var count = 0
    metrics.forEachTransaction {
      size += Self.size(of: $0)
      count += 1
    }
    guard let start = clua_out_reserve(pointer, size) else { return }
    var writer = RecordWriter(position: start)
    writer.write(completion.bytesSent)
    writer.write(completion.bytesReceived)
    writer.write(completion.bytesExpectedToSend)
    writer.write(completion.bytesExpectedToReceive)
    writer.write(metrics.start)
    writer.write(metrics.duration)
    writer.write(completion.redirects.count)
    writer.write(count)
    metrics.forEachTransaction { Self.write($0, to: &writer) }
  }

  private static func size(of one: TransactionMetrics) -> Int {
    19 * 8 + 7 * 4 + one.method.utf8.count + one.url.utf8.count + one.networkProtocolName.utf8.count
      + one.localAddress.utf8.count + one.remoteAddress.utf8.count + one.tlsVersion.utf8.count
      + one.tlsCipher.utf8.count
  }

  private static func write(_ one: TransactionMetrics, to writer: inout RecordWriter) {
    writer.write(one.fetchStart)
    writer.write(one.domainLookupStart)
    writer.write(one.domainLookupEnd)
    writer.write(one.connectStart)
    writer.write(one.connectEnd)
    writer.write(one.secureConnectionStart)
    writer.write(one.secureConnectionEnd)
    writer.write(one.requestStart)
    writer.write(one.requestEnd)
    writer.write(one.responseStart)
    writer.write(one.responseEnd)
    writer.write(one.status)
    writer.write((one.isProxyConnection ? 1 : 0) | (one.isReusedConnection ? 2 : 0) | one.fetchType.rawValue << 2)
    writer.write(one.requestHeaderBytes)
    writer.write(one.requestBodyBytes)
    writer.write(one.responseHeaderBytes)
    writer.write(one.responseBodyBytes)
    writer.write(one.localPort)
    writer.write(one.remotePort)
    writer.write(one.method)
    writer.write(one.url)
    writer.write(one.networkProtocolName)
    writer.write(one.localAddress)
    writer.write(one.remoteAddress)
    writer.write(one.tlsVersion)
    writer.write(one.tlsCipher)
  }
}

/// Writes values one behind another into memory that is known to be large enough.
private struct RecordWriter {
  var position: UnsafeMutableRawPointer

  mutating func write(_ value: Double) {
    position.storeBytes(of: value, as: Double.self)
    position += 8
  }

  mutating func write(_ value: Int) {
    position.storeBytes(of: value, as: Int.self)
    position += 8
  }

  mutating func write(_ text: String) {
    var text = text
    let count = text.withUTF8 { bytes in
      position.storeBytes(of: UInt32(bytes.count), as: UInt32.self)
      if let start = bytes.baseAddress { (position + 4).copyMemory(from: start, byteCount: bytes.count) }
      return bytes.count
    }
    position += 4 + count
  }
}

extension Outbox {
  func append(_ bytes: [UInt8]) {
    bytes.withUnsafeBytes { append(copying: $0) }
  }
}
