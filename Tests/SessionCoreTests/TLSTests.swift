import Testing

@testable import SessionCore

@Suite("TLS and HTTP/2", .enabled(if: Nginx.isInstalled), .serialized)
struct TLSTests {
  @Test("HTTP/2 by ALPN, with many requests on one connection")
  func http2() throws {
    let nginx = try Nginx()
    let client = Client { $0.caFile = nginx.certificate }
    let first = client.get("https://localhost:\(nginx.port)/k")
    #expect(first.text == "over TLS")
    #expect(first.response?.httpVersion == "2")
    #expect(first.response?.reason == "")
    let transaction = try #require(first.metrics.transactions.first)
    #expect(transaction.networkProtocolName == "h2")
    #expect(transaction.tlsVersion == "TLSv1.3")
    #expect(transaction.tlsCipher.hasPrefix("TLS_"))
    #expect(transaction.secureConnectionEnd >= transaction.secureConnectionStart)
    let ids = (0..<100).map { _ in client.start(Request(url: "https://localhost:\(nginx.port)/k")) }
    for id in ids {
      let result = client.finish(id)
      #expect(result.text == "over TLS")
      #expect(result.metrics.transactions.first?.isReusedConnection == true)
    }
    let post = client.run(
      Request(method: "POST", url: "https://localhost:\(nginx.port)/k", body: .data(Bytes("x"))))
    #expect(post.status == 405)
  }

  @Test("Version policies")
  func versions() throws {
    let nginx = try Nginx()
    for (policy, expected) in [(HTTPVersionPolicy.http1_1, "1.1"), (.automatic, "2"), (.http2, "2")] {
      let client = Client {
        $0.caFile = nginx.certificate
        $0.httpVersion = policy
      }
      #expect(client.get("https://127.0.0.1:\(nginx.port)/k").response?.httpVersion == expected)
    }
    let prior = Client { $0.httpVersion = .http2PriorKnowledge }
    let result = prior.get("http://127.0.0.1:\(nginx.plainPort)/k")
    #expect(result.response?.httpVersion == "2")
    #expect(result.text == "over TLS")
    let old = Client {
      $0.caFile = nginx.certificate
      $0.tlsMaximum = .v1_2
    }
    #expect(old.get("https://localhost:\(nginx.port)/k").metrics.transactions.first?.tlsVersion == "TLSv1.2")
  }

  @Test("Certificates that are not trusted are told apart")
  func certificates() throws {
    let nginx = try Nginx()
    let unknown = Client().get("https://localhost:\(nginx.port)/k")
    #expect(unknown.errorName == "server_certificate_has_unknown_root")
    #expect(unknown.response == nil)
    #expect(unknown.error?.underlying?.source == .libcurl)
    let wrongName = Client {
      $0.caFile = nginx.certificate
      $0.resolve = [("other.example:\(nginx.port)", "127.0.0.1")]
    }
    let untrusted = wrongName.get("https://other.example:\(nginx.port)/k")
    #expect(untrusted.errorName == "server_certificate_untrusted")
    let plain = try ScriptedServer { peer in
      if peer.read(1) != nil { peer.send(reply("400 Bad Request")) }
    }
    defer { plain.stop() }
    #expect(Client().get("https://localhost:\(plain.port)/").errorName == "secure_connection_failed")
  }
}
