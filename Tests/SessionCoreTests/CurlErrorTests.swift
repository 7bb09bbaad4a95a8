import CCurlShim
import Testing

@testable import SessionCore

@Suite("libcurl's errors in Apple's words")
struct CurlErrorTests {
  @Test("What has no word of its own is unknown, with libcurl's own beside it")
  func unknown() {
    #expect(CurlErrors.code(for: CURLE_FAILED_INIT, verifyResult: 0).name == "unknown")
    let underlying = CurlErrors.underlying(CURLE_FAILED_INIT, text: "")
    #expect(underlying.code == 2)
    #expect(underlying.message == "Failed initialization")
    #expect(CurlErrors.code(for: CURLE_LOGIN_DENIED, verifyResult: 0).name == "user_authentication_required")
  }
}
