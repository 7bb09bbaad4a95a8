import CCurlShim

/// What libcurl knows about a finished request.
extension Transfer {
  func recordTransaction(_ easy: EasyHandle) {
    let facts = easy.facts()
    let result = transaction
    result.method = request.method
    result.url = url
    result.status = intake.status
    result.isProxyConnection = host.map { !$0.proxy.isNone } ?? false
    result.isReusedConnection = facts.reused
    result.networkProtocolName = protocolName(facts.http_version)
    result.recordTimes(facts)
    result.requestHeaderBytes = facts.request_size
    result.requestBodyBytes = bodyBytesOnWire
    result.responseHeaderBytes = facts.header_size
    result.responseBodyBytes = received + dropped
    result.ends = easy.ends
    keep(result)
  }

  /// Adds a transaction that is over to the task's.
  func keep(_ result: TransactionMetrics) {
    guard lastTransaction !== result else { return }
    result.previous = lastTransaction
    lastTransaction = result
  }

  private func protocolName(_ version: Int) -> String {
    switch version {
    case Int(CURL_HTTP_VERSION_1_0): return "http/1.0"
    case Int(CURL_HTTP_VERSION_1_1): return "http/1.1"
    case Int(CURL_HTTP_VERSION_2_0): return "h2"
    case Int(CURL_HTTP_VERSION_3): return "h3"
    default: return ""
    }
  }
}

extension TransactionMetrics {
  private func time(_ microseconds: curl_off_t) -> Double {
    microseconds > 0 ? fetchStart + Double(microseconds) * 1e-6 : .nan
  }

  /// When a new connection was made.
  func recordConnection(_ facts: hs_facts) {
    domainLookupStart = fetchStart
    domainLookupEnd = time(facts.lookup_us)
    connectStart = domainLookupEnd
    let connected = time(facts.connect_us)
    let secured = time(facts.secure_us)
    connectEnd = secured.isNaN ? connected : secured
    if !secured.isNaN {
      secureConnectionStart = connected
      secureConnectionEnd = secured
    }
  }

  fileprivate func recordTimes(_ facts: hs_facts) {
    if !facts.reused { recordConnection(facts) }
    requestStart = time(facts.request_us)
    responseStart = time(facts.response_us)
    // A head goes out in one piece; a response may begin before the body has been sent.
    let end = bodyEnd.isNaN ? requestStart : max(requestStart, bodyEnd)
    requestEnd = responseStart.isNaN && bodyEnd.isNaN ? .nan : end
    responseEnd = responseStart.isNaN ? .nan : time(facts.total_us)
  }
}
