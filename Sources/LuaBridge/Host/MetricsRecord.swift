import SessionCore

/// Metrics as one byte string that stdlib/http/metrics.lua unpacks when a script first looks at them: a response costs
/// one short string instead of a tree of tables.
///
/// Little endian, unaligned: start, duration, number of transactions; then for each its eleven times, eight integers and
/// seven texts (string.pack's `s4`), in the order below.
enum MetricsRecord {
  static func packed(_ metrics: TaskMetrics) -> [UInt8] {
    var record = [UInt8]()
    record.reserveCapacity(24 + metrics.transactions.count * 320)
    record.append(metrics.start)
    record.append(metrics.duration)
    record.append(metrics.transactions.count)
    for transaction in metrics.transactions { append(transaction, to: &record) }
    return record
  }

  private static func append(_ one: TransactionMetrics, to record: inout [UInt8]) {
    record.append(one.fetchStart)
    record.append(one.domainLookupStart)
    record.append(one.domainLookupEnd)
    record.append(one.connectStart)
    record.append(one.connectEnd)
    record.append(one.secureConnectionStart)
    record.append(one.secureConnectionEnd)
    record.append(one.requestStart)
    record.append(one.requestEnd)
    record.append(one.responseStart)
    record.append(one.responseEnd)
    record.append(one.status)
    record.append((one.isProxyConnection ? 1 : 0) | (one.isReusedConnection ? 2 : 0))
    record.append(one.requestHeaderBytes)
    record.append(one.requestBodyBytes)
    record.append(one.responseHeaderBytes)
    record.append(one.responseBodyBytes)
    record.append(one.localPort)
    record.append(one.remotePort)
    record.append(one.method)
    record.append(one.url)
    record.append(one.networkProtocolName)
    record.append(one.localAddress)
    record.append(one.remoteAddress)
    record.append(one.tlsVersion)
    record.append(one.tlsCipher)
  }
}


extension [UInt8] {
  mutating func append(_ value: Double) {
    Swift.withUnsafeBytes(of: value.bitPattern.littleEndian) { append(contentsOf: $0) }
  }

  mutating func append(_ value: Int) {
    Swift.withUnsafeBytes(of: Int64(value).littleEndian) { append(contentsOf: $0) }
  }

  mutating func append(_ text: String) {
    Swift.withUnsafeBytes(of: UInt32(text.utf8.count).littleEndian) { append(contentsOf: $0) }
    append(contentsOf: text.utf8)
  }
}

extension Outbox {
  func append(_ bytes: [UInt8]) {
    bytes.withUnsafeBytes { append(copying: $0) }
  }
}
