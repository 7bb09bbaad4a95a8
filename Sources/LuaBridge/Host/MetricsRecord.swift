import CLuaShim
import SessionCore

/// Byte counts and metrics as one byte string that stdlib/http/metrics.lua unpacks when a script first looks at them: a
/// response costs one short string instead of a tree of tables.
///
/// Native byte order, unaligned: the four counts, start, duration, numbers of redirects and transactions; then for each
/// transaction its eleven times, eight integers and seven texts (string.pack's `s4`), in the order below.
extension Outbox {
  func append(metricsOf completion: Completion) {
    let begun = clua_out_begin(pointer)
    defer { clua_out_end(pointer, begun) }
    guard let start = clua_out_extend(pointer, 8 * 8) else { return }
    let metrics = completion.metrics
    var writer = RecordWriter(position: start)
    writer.write(completion.bytesSent)
    writer.write(completion.bytesReceived)
    writer.write(completion.bytesExpectedToSend)
    writer.write(completion.bytesExpectedToReceive)
    writer.write(metrics.start)
    writer.write(metrics.duration)
    writer.write(completion.redirects.count)
    writer.write(metrics.transactionCount)
    metrics.forEachTransaction { extend(by: $0) }
  }

  /// Makes the string longer by one transaction. Each text is taken from its object once, for both length and bytes.
  private func extend(by one: TransactionMetrics) {
    let (method, url, name) = (one.method, one.url, one.networkProtocolName)
    let (version, cipher) = (one.tlsVersion, one.tlsCipher)
    let ends = one.ends
    let (local, remote) = (ends?.localAddress ?? "", ends?.remoteAddress ?? "")
    let texts =
      method.utf8.count + url.utf8.count + name.utf8.count + local.utf8.count + remote.utf8.count
      + version.utf8.count + cipher.utf8.count
    guard let start = clua_out_extend(pointer, 19 * 8 + 7 * 4 + texts) else { return }
    var writer = RecordWriter(position: start)
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
    writer.write(ends?.localPort ?? 0)
    writer.write(ends?.remotePort ?? 0)
    writer.write(method)
    writer.write(url)
    writer.write(name)
    writer.write(local)
    writer.write(remote)
    writer.write(version)
    writer.write(cipher)
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
    text.withBytes { bytes in
      position.storeBytes(of: UInt32(bytes.count), as: UInt32.self)
      if let start = bytes.baseAddress { (position + 4).copyMemory(from: start, byteCount: bytes.count) }
      position += 4 + bytes.count
    }
  }
}

extension Outbox {
  func append(_ bytes: [UInt8]) {
    bytes.withUnsafeBytes { append(copying: $0) }
  }
}
