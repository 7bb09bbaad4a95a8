/// `URLSessionTaskMetrics`: when each thing of a task happened. Dates are Unix seconds.
public struct TaskMetrics {
  public var start: Double = 0
  public var duration: Double = 0
  /// The last request; the others hang on it. (A list would be one more object for each task.)
  public var last: TransactionMetrics?
  public init() {}

  /// In the order they were made.
  public var transactions: [TransactionMetrics] {
    var list: [TransactionMetrics] = []
    var next = last
    while let one = next {
      list.append(one)
      next = one.previous
    }
    return list.reversed()
  }

  /// How many there are.
  public var transactionCount: Int {
    guard let last else { return 0 }
    return last.previous == nil ? 1 : transactions.count
  }

  /// Goes through them in that order, without making a list of the common one.
  public func forEachTransaction(_ body: (TransactionMetrics) -> Void) {
    guard let last else { return }
    if last.previous == nil { body(last) } else { transactions.forEach(body) }
  }
}

/// `URLSessionTaskTransactionMetrics`: one request and its response. Times that did not occur (a reused connection
/// has no connect) are NaN. An object, since it is too large to be copied about.
public final class TransactionMetrics {
  /// `NSURLSessionTaskMetricsResourceFetchType`.
  public enum FetchType: Int {
    case networkLoad, localCache
    /// Neither: a `data:` or `file:` URL, or a protocol class.
    case unknown
  }

  /// The request of the same task before this one.
  public internal(set) var previous: TransactionMetrics?

  public var method = ""
  public var url = ""
  public var status = 0
  public var fetchStart = Double.nan
  public var domainLookupStart = Double.nan
  public var domainLookupEnd = Double.nan
  public var connectStart = Double.nan
  public var connectEnd = Double.nan
  public var secureConnectionStart = Double.nan
  public var secureConnectionEnd = Double.nan
  public var requestStart = Double.nan
  public var requestEnd = Double.nan
  /// When the last of the request's body was given to the connection.
  var bodyEnd = Double.nan
  public var responseStart = Double.nan
  public var responseEnd = Double.nan
  /// "http/1.0", "http/1.1", "h2", "h3" (ALPN names).
  public var networkProtocolName = ""
  public var fetchType = FetchType.networkLoad
  public var isProxyConnection = false
  public var isReusedConnection = false
  public var requestHeaderBytes = 0
  public var requestBodyBytes = 0
  public var responseHeaderBytes = 0
  /// On the wire, before decoding.
  public var responseBodyBytes = 0
  public var ends: ConnectionEnds?
  /// "TLSv1.3", or empty.
  public var tlsVersion = ""
  public var tlsCipher = ""
  public init() {}
}

/// Where a connection goes from and to. An object that the requests made over it share.
public final class ConnectionEnds {
  public let localAddress: String
  public let localPort: Int
  public let remoteAddress: String
  public let remotePort: Int

  init(localAddress: String, localPort: Int, remoteAddress: String, remotePort: Int) {
    self.localAddress = localAddress
    self.localPort = localPort
    self.remoteAddress = remoteAddress
    self.remotePort = remotePort
  }
}
