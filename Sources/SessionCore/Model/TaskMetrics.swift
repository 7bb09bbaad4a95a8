/// `URLSessionTaskMetrics`: when each thing of a task happened. Dates are Unix seconds.
public struct TaskMetrics {
  public var start: Double = 0
  public var duration: Double = 0
  public var transactions: [TransactionMetrics] = []
  public init() {}
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
  public var localAddress = ""
  public var localPort = 0
  public var remoteAddress = ""
  public var remotePort = 0
  /// "TLSv1.3", or empty.
  public var tlsVersion = ""
  public var tlsCipher = ""
  public init() {}
}
