import CCurlShim
import Glibc

/// libcurl's error numbers in Apple's vocabulary.
enum CurlErrors {
  /// The code for a failed transfer. `verifyResult`: OpenSSL's verdict on the server's certificate
  /// (`CURLINFO_SSL_VERIFYRESULT`), 0 where there was nothing to complain about.
  /// `text`: the error buffer, which tells apart what libcurl has one number for.
  /// `systemError`: errno of the last attempt to connect, 0 for none.
  /// `proxyError`: what a proxy of SOCKS is to blame for (`CURLINFO_PROXY_ERROR`), 0 for nothing.
  /// `isOnline`: there is a network that a name could be looked up in.
  static func code(
    for result: CURLcode, verifyResult: Int, text: String = "", systemError: Int = 0, proxyError: Int = 0,
    isOnline: @autoclosure () -> Bool = NetworkWatch.isThere
  ) -> TaskError.Code {
    switch result {
    case CURLE_COULDNT_CONNECT where systemError == Int(ENETUNREACH) || systemError == Int(ENETDOWN):
      return .notConnectedToInternet
    case CURLE_RECV_ERROR where text.hasSuffix("chunked-encoding") || text.hasPrefix("Too large response headers"):
      return .badServerResponse
    case CURLE_RECV_ERROR where text.hasPrefix("CONNECT tunnel failed"): return .cannotConnectToHost
    case CURLE_URL_MALFORMAT: return .badURL
    case CURLE_UNSUPPORTED_PROTOCOL, CURLE_WEIRD_SERVER_REPLY: return .cannotParseResponse
    case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY:
      return isOnline() ? .cannotFindHost : .notConnectedToInternet
    // A proxy to which names are not told. (What has addresses of IPv6 alone is found, and out of SOCKS 4's reach.)
    case CURLE_PROXY where proxyError == Int(CURLPX_RESOLVE_HOST.rawValue) && !text.hasSuffix("not supported"):
      return isOnline() ? .cannotFindHost : .notConnectedToInternet
    case CURLE_COULDNT_CONNECT, CURLE_INTERFACE_FAILED, CURLE_PROXY: return .cannotConnectToHost
    case CURLE_OPERATION_TIMEDOUT: return .timedOut
    case CURLE_TOO_MANY_REDIRECTS: return .httpTooManyRedirects
    case CURLE_GOT_NOTHING, CURLE_PARTIAL_FILE, CURLE_SEND_ERROR, CURLE_RECV_ERROR, CURLE_NO_CONNECTION_AVAILABLE,
      CURLE_HTTP2_STREAM, CURLE_AGAIN:
      return .networkConnectionLost
    case CURLE_HTTP2, CURLE_HTTP3, CURLE_CHUNK_FAILED, CURLE_RANGE_ERROR, CURLE_HTTP_RETURNED_ERROR,
      CURLE_BAD_DOWNLOAD_RESUME:
      return .badServerResponse
    // What libcurl says of a header line that has no colon.
    case CURLE_BAD_FUNCTION_ARGUMENT: return .cannotParseResponse
    case CURLE_BAD_CONTENT_ENCODING: return .cannotDecodeContentData
    case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_PINNEDPUBKEYNOTMATCH, CURLE_SSL_INVALIDCERTSTATUS,
      CURLE_SSL_ISSUER_ERROR:
      return certificateCode(verifyResult)
    case CURLE_SSL_CONNECT_ERROR, CURLE_SSL_ENGINE_NOTFOUND, CURLE_SSL_ENGINE_SETFAILED, CURLE_SSL_CIPHER,
      CURLE_USE_SSL_FAILED, CURLE_SSL_ENGINE_INITFAILED, CURLE_SSL_CACERT_BADFILE, CURLE_SSL_SHUTDOWN_FAILED,
      CURLE_SSL_CRL_BADFILE:
      return .secureConnectionFailed
    case CURLE_SSL_CERTPROBLEM: return .clientCertificateRejected
    case CURLE_SSL_CLIENTCERT: return .clientCertificateRequired
    case CURLE_SEND_FAIL_REWIND, CURLE_READ_ERROR: return .requestBodyStreamExhausted
    case CURLE_LOGIN_DENIED, CURLE_AUTH_ERROR: return .userAuthenticationRequired
    case CURLE_FILESIZE_EXCEEDED: return .dataLengthExceedsMaximum
    case CURLE_WRITE_ERROR: return .cannotWriteToFile
    case CURLE_ABORTED_BY_CALLBACK: return .cancelled
    default: return .unknown
    }
  }

  /// Whether it was for want of a network that no connection could be made. One that was refused is no sign of that.
  static func isForWantOfNetwork(_ code: TaskError.Code, _ result: CURLcode, systemError: Int) -> Bool {
    switch code {
    case .notConnectedToInternet: true
    case .cannotConnectToHost:
      result == CURLE_INTERFACE_FAILED || systemError == Int(EHOSTUNREACH) && !NetworkWatch.isThere
    default: false
    }
  }

  /// Whether it is what libcurl says of a user that NTLM's message has no room for; its number for it is that of other
  /// things as well, and not always the same.
  static func isUserTooLong(_ text: String) -> Bool { text.hasPrefix("user + domain + host") }

  /// OpenSSL's X509_V_ERR_… numbers.
  static func certificateCode(_ verifyResult: Int) -> TaskError.Code {
    switch verifyResult {
    case 10, 14: return .serverCertificateHasBadDate
    case 9, 13: return .serverCertificateNotYetValid
    case 2, 18, 19, 20, 21, 27: return .serverCertificateHasUnknownRoot
    default: return .serverCertificateUntrusted
    }
  }

  /// libcurl's number and words, the longer text of the error buffer where there is one.
  static func underlying(_ result: CURLcode, text: String) -> TaskError.Underlying {
    let message = text.isEmpty ? String(cString: curl_easy_strerror(result)) : text
    return TaskError.Underlying(source: .libcurl, code: Int(result.rawValue), message: message)
  }
}
