import Testing

@testable import SessionCore

@Suite("Proxies")
struct ProxyTests {
  @Test(
    "Which hosts are reached directly",
    arguments: [
      ("::1", "[::1]", true), (" localhost , 127.0.0.0/8", "localhost", true),
      (" localhost , 127.0.0.0/8", "127.0.0.1", true), ("127.0.0.0/8", "128.0.0.1", false),
      ("localhost:9999", "localhost", false), ("app.localhost", "sub.app.localhost", true),
      ("app.localhost", "xapp.localhost", false), ("*", "anything", true), (".example.org", "example.org", true),
      (".example.org", "www.example.org", true), ("example.org.", "EXAMPLE.org", true), ("", "example.org", false),
      ("10.0.0.0/33", "10.0.0.1", false), ("fe80::/10", "[fe80::1]", true), ("fe80::/10", "[fec0::1]", false),
      ("a.org b.org", "b.org", true), ("0.1", "127.0.0.1", false),
    ])
  func bypass(list: String, host: String, direct: Bool) {
    #expect(ProxyBypass(list).matches(host) == direct)
  }

  @Test("Through the proxy in absolute form, its credentials going nowhere else")
  func proxied() throws {
    let origin = try ScriptedServer.answering { _, _ in reply("200 OK", [], "direct") }
    let direct = origin.url("/direct")
    let proxy = try ScriptedServer.answering { request, _ in
      request.target.hasSuffix("/go") ? reply("302 F", ["Location: \(direct)"]) : reply("200 OK", [], "proxied")
    }
    defer {
      origin.stop()
      proxy.stop()
    }
    let client = Client { $0.proxy = .url("http://u:p@127.0.0.1:\(proxy.port)", noProxy: "127.0.0.1") }
    let result = client.get("http://example.invalid/x")
    #expect(result.text == "proxied")
    #expect(result.metrics.transactions.first?.isProxyConnection == true)
    #expect(proxy.requests.last?.target == "http://example.invalid/x")
    #expect(proxy.requests.last?.field("proxy-authorization") == "Basic dTpw")
    let redirected = client.get("http://example.invalid/go")
    #expect(redirected.text == "direct")
    #expect(redirected.metrics.transactions.map(\.isProxyConnection) == [true, false])
    #expect(origin.requests.last?.field("proxy-authorization") == nil)
    #expect(origin.requests.last?.target == "/direct")
  }

  @Test("A proxy that refuses the tunnel")
  func refusedTunnel() throws {
    let proxy = try ScriptedServer.answering { _, _ in reply("403 Forbidden") }
    defer { proxy.stop() }
    let client = Client { $0.proxy = .url("http://127.0.0.1:\(proxy.port)", noProxy: "") }
    let result = client.get("https://example.invalid/")
    #expect(result.errorName == "cannot_connect_to_host")
    #expect(result.response == nil)
  }

  @Test("The environment's variables: none in capitals for http")
  func environment() {
    let rules = ProxyRules(http: "http://a", https: "http://b", noProxy: "c.org")
    #expect(rules.proxy(scheme: "http", host: "x.org") == "http://a")
    #expect(rules.proxy(scheme: "https", host: "x.org") == "http://b")
    #expect(rules.proxy(scheme: "https", host: "c.org") == "")
    #expect(ProxyRules(.none).proxy(scheme: "http", host: "x.org") == "")
    let fromEnvironment = ProxyRules(
      variable: { ["HTTP_PROXY": "bad", "HTTPS_PROXY": "http://s", "all_proxy": "http://all"][$0] })
    #expect(fromEnvironment.proxy(scheme: "http", host: "x.org") == "http://all")
    #expect(fromEnvironment.proxy(scheme: "https", host: "x.org") == "http://s")
  }
}
