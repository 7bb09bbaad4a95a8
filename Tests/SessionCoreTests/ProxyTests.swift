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
      ("app.localhost", "xapp.localhost", false), ("*", "anything", true), ("*, foo", "anything", true),
      ("foo *", "anything", true), ("*.org", "x.org", false), (".example.org", "example.org", true),
      (".example.org", "www.example.org", true), ("example.org.", "EXAMPLE.org", true), ("", "example.org", false),
      ("10.0.0.0/33", "10.0.0.1", false), ("fe80::/10", "[fe80::1]", true), ("fe80::/10", "[fec0::1]", false),
      ("a.org b.org", "b.org", true), ("0.1", "127.0.0.1", false),
    ])
  func bypass(list: String, host: String, direct: Bool) {
    #expect(ProxyBypass(list).matches(host) == direct)
  }

  @Test(
    "A proxy is taken apart, and put together for libcurl",
    arguments: [
      ("", "", nil, nil), ("http://a:1", "http://a:1", "http a 1", nil), ("a", "http://a", "http a 1080", nil),
      ("HTTPS://a", "HTTPS://a", "https a 443", nil),
      ("socks5h://u@[::1]:9", "socks5h://u:@[::1]:9/", "socks5h [::1] 9", "u:"),
      ("u:p%40@a:1", "http://u:p%40@a:1/", "http a 1", "u:p@"),
      ("http://u:p w@a:1", "http://u:p%20w@a:1/", "http a 1", "u:p w"),
      ("http://:%25@a:1", "http://:%25@a:1/", "http a 1", ":%"),
    ] as [(String, String, String?, String?)])
  func server(text: String, url: String, place: String?, credentials: String?) {
    let proxy = ProxyServer.make(text)
    #expect(proxy.problem == nil)
    #expect(proxy.url == url)
    #expect(proxy.place.map { "\($0.scheme) \($0.host) \($0.port)" } == place)
    #expect(proxy.credentials.map { "\($0.user.text ?? "?"):\($0.password.text ?? "?")" } == credentials)
  }

  @Test(
    "What libcurl would pass a proxy by for, or cannot use, is a problem that says nothing of the URL",
    arguments: [
      ("http://u:geheim%0A@a", "a control character in the user or the password of the proxy's URL"),
      ("http://u%00:geheim@a", "a control character in the user or the password of the proxy's URL"),
      ("socks5://u%1f@a", "a control character in the user or the password of the proxy's URL"),
      ("http://u:geheim\n@a", "what names the proxy is no URL"), ("http://u:geheim@", "what names the proxy is no URL"),
      ("ftp://u:geheim@a", "a proxy speaks http, https, socks4, socks4a, socks5 or socks5h, not ftp"),
      ("http://\(String(repeating: "u", count: 1 << 20)):geheim@a", "the proxy's URL is too long"),
    ])
  func problems(text: String, problem: String) {
    #expect(ProxyServer.make(text).problem == problem)
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
    #expect(rules.proxy(scheme: "http", host: "x.org").url == "http://a")
    #expect(rules.proxy(scheme: "https", host: "x.org").url == "http://b")
    #expect(rules.proxy(scheme: "https", host: "c.org").url == "")
    #expect(ProxyRules(.none).proxy(scheme: "http", host: "x.org").url == "")
    let fromEnvironment = ProxyRules(
      variable: { ["HTTP_PROXY": "bad", "HTTPS_PROXY": "http://s", "all_proxy": "http://all"][$0] })
    #expect(fromEnvironment.proxy(scheme: "http", host: "x.org").url == "http://all")
    #expect(fromEnvironment.proxy(scheme: "https", host: "x.org").url == "http://s")
  }
}
