import TestSupport
import Testing

/// The kit's own instruments, so that a wrong test is not taken for a wrong product.
@Suite struct KitTests {
  @Test(arguments: [
    ("", "d41d8cd98f00b204e9800998ecf8427e"), ("abc", "900150983cd24fb0d6963f7d28e17f72"),
    (
      "12345678901234567890123456789012345678901234567890123456789012345678901234567890",
      "57edf4a22be3c955ac49da2e2107b67a"
    ),
  ])
  func digest(text: String, expected: String) {
    #expect(md5(Array(text.utf8)) == expected)
  }

  @Test func serverAndChild() async throws {
    let server = try ScriptedServer { Reply($0.target + $0.bodyText) }
    let launch = Launch(
      program: "/usr/bin/curl", arguments: ["-sd", "data", "-H", "Transfer-Encoding: chunked", server.url + "/a"],
      environment: [:], directory: "/")
    let result = await (try RunningProcess(launch, deadline: 10)).finish()
    #expect(result.stdout == "/adata")
    #expect(server.requests.first?.rawBody == chunked([Array("data".utf8)]))
  }

  @Test func deadline() async throws {
    let launch = Launch(program: "/bin/sleep", arguments: ["30"], environment: [:], directory: "/")
    #expect(await (try RunningProcess(launch, deadline: 0.2)).finish().ending == .deadline)
  }
}
