import CCurlShim

/// What libcurl knows about a finished request.
extension Transfer {
  func recordTransaction(_ easy: EasyHandle) {
    var result = transaction
    result.method = request.method
    result.url = url
    result.status = intake.status
    result.isProxyConnection = host.map { !$0.proxy.isEmpty } ?? false
    result.isReusedConnection = easy.long(CURLINFO_NUM_CONNECTS) == 0
    result.networkProtocolName = protocolName(easy.long(CURLINFO_HTTP_VERSION))
    recordTimes(easy, &result)
    result.requestHeaderBytes = easy.long(CURLINFO_REQUEST_SIZE)
    result.requestBodyBytes = bodyBytesSent
    result.responseHeaderBytes = easy.long(CURLINFO_HEADER_SIZE)
    result.responseBodyBytes = received + dropped
    result.localAddress = easy.string(CURLINFO_LOCAL_IP)
    result.localPort = easy.long(CURLINFO_LOCAL_PORT)
    result.remoteAddress = easy.string(CURLINFO_PRIMARY_IP)
    result.remotePort = easy.long(CURLINFO_PRIMARY_PORT)
    transactions.append(result)
  }

  private func recordTimes(_ easy: EasyHandle, _ result: inout TransactionMetrics) {
    let start = result.fetchStart
    func time(_ info: CURLINFO) -> Double {
      let microseconds = easy.offset(info)
      return microseconds > 0 ? start + Double(microseconds) * 1e-6 : .nan
    }
    if !result.isReusedConnection {
      result.domainLookupStart = start
      result.domainLookupEnd = time(CURLINFO_NAMELOOKUP_TIME_T)
      result.connectStart = result.domainLookupEnd
      let connected = time(CURLINFO_CONNECT_TIME_T)
      let secured = time(CURLINFO_APPCONNECT_TIME_T)
      result.connectEnd = secured.isNaN ? connected : secured
      if !secured.isNaN {
        result.secureConnectionStart = connected
        result.secureConnectionEnd = secured
      }
    }
    result.requestStart = time(CURLINFO_PRETRANSFER_TIME_T)
    result.responseStart = time(CURLINFO_STARTTRANSFER_TIME_T)
    result.requestEnd = result.responseStart.isNaN ? .nan : result.requestStart
    result.responseEnd = result.responseStart.isNaN ? .nan : time(CURLINFO_TOTAL_TIME_T)
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
