import Testing

@testable import SessionCore

@Suite("Plain transfers")
struct TransferTests {
  @Test("A GET comes back with head and body, over one kept connection")
  func get() throws {
    let server = try ScriptedServer.answering { request, number in
      reply("200 OK", ["X-Number: \(number)", "Content-Type: text/plain"], "body of \(request.target)")
    }
    defer { server.stop() }
    let client = Client()
    for number in 0..<3 {
      let result = client.get(server.url("/\(number)?q=1"))
      #expect(result.error == nil)
      #expect(result.status == 200)
      #expect(result.text == "body of /\(number)?q=1")
      #expect(result.fields("x-number") == ["\(number)"])
      #expect(result.bytesReceived == result.body?.count)
    }
    #expect(server.connectionCount == 1)
    let first = try #require(server.requests.first)
    #expect(first.field("user-agent") == "httpscript/\(Version.text)")
    #expect(first.field("accept-encoding") == "gzip, deflate, br, zstd")
  }
}
