import CCurlShim
import Testing

@testable import SessionCore

@Suite("libcurl's errors in Apple's words")
struct CurlErrorTests {
  @Test("A name that is not found, here or on the way to a proxy; without a network nothing can be")
  func names() {
    let resolving = Int(CURLPX_RESOLVE_HOST.rawValue)
    for (result, proxyError) in [
      (CURLE_COULDNT_RESOLVE_HOST, 0), (CURLE_COULDNT_RESOLVE_PROXY, 0), (CURLE_PROXY, resolving),
    ] {
      func name(isOnline: Bool) -> String {
        CurlErrors.code(for: result, verifyResult: 0, proxyError: proxyError, isOnline: isOnline).name
      }
      #expect(name(isOnline: true) == "cannot_find_host")
      #expect(name(isOnline: false) == "not_connected_to_internet")
    }
    let outOfReach = CurlErrors.code(
      for: CURLE_PROXY, verifyResult: 0, text: "SOCKS4 connection to ::1 not supported", proxyError: resolving)
    #expect(outOfReach.name == "cannot_connect_to_host")
    let refused = Int(CURLPX_REPLY_CONNECTION_REFUSED.rawValue)
    #expect(CurlErrors.code(for: CURLE_PROXY, verifyResult: 0, proxyError: refused).name == "cannot_connect_to_host")
  }

  @Test("What has no word of its own is unknown, with libcurl's own beside it")
  func unknown() {
    #expect(CurlErrors.code(for: CURLE_FAILED_INIT, verifyResult: 0).name == "unknown")
    let underlying = CurlErrors.underlying(CURLE_FAILED_INIT, text: "")
    #expect(underlying.code == 2)
    #expect(underlying.message == "Failed initialization")
    #expect(CurlErrors.code(for: CURLE_LOGIN_DENIED, verifyResult: 0).name == "user_authentication_required")
  }
}
