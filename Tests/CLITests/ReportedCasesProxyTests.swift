import TestSupport
import Testing

/// Faults users of other clients reported about proxies from the environment (B32).
@Suite struct ReportedCasesProxyTests {
  struct Case: Sendable, CustomTestStringConvertible {
    let noProxy: String
    let url: String
    let goes: String
    var testDescription: String { "no_proxy '\(noProxy)' for \(url)" }
  }

  static let cases = [
    Case(noProxy: "", url: "http://127.0.0.1:{4}/", goes: "via"),
    Case(noProxy: "::1", url: "http://[::1]:{6}/", goes: "direct"),
    Case(noProxy: " localhost , 127.0.0.0/8", url: "http://localhost:{4}/", goes: "direct"),
    Case(noProxy: " localhost , 127.0.0.0/8", url: "http://127.0.0.1:{4}/", goes: "direct"),
    Case(noProxy: "localhost:9999", url: "http://localhost:{4}/", goes: "via"),
    Case(noProxy: "app.localhost", url: "http://sub.app.localhost:{4}/", goes: "direct"),
    Case(noProxy: "app.localhost", url: "http://xapp.localhost:{4}/", goes: "via"),
    Case(noProxy: "*", url: "http://127.0.0.1:{4}/", goes: "direct"),
    Case(noProxy: "*", url: "http://[::1]:{6}/", goes: "direct"),
  ]

  @Test("B32: who goes through the proxy", arguments: cases)
  func bypass(_ one: Case) async throws {
    let origin = try ScriptedServer { _ in Reply("direct") }
    let origin6 = try ScriptedServer(.ipv6) { _ in Reply("direct") }
    let proxy = try ScriptedServer { _ in Reply("via") }
    let url = one.url.replacingOccurrences(of: "{4}", with: "\(origin.port)")
      .replacingOccurrences(of: "{6}", with: "\(origin6.port)")
    try await expectScript("print(assert(http.get(base)).body)", [url], prints: [one.goes]) {
      $0.environment = ["http_proxy": "http://u:p@127.0.0.1:\(proxy.port)", "no_proxy": one.noProxy]
    }
    #expect(proxy.requests.map { $0["Proxy-Authorization"] } == (one.goes == "via" ? ["Basic dTpw"] : []))
    #expect(proxy.requests.allSatisfy { $0.target == url })
    for request in origin.requests + origin6.requests { #expect(request["Proxy-Authorization"] == nil) }
  }

  @Test("B32: a redirect away from the proxy leaves its password behind")
  func redirectToBypassedHost() async throws {
    let origin = try ScriptedServer { _ in Reply("direct") }
    let proxy = try ScriptedServer { _ in .redirect(to: origin.url + "/end") }
    try await expectScript("print(assert(http.get(base)).body)", ["http://far.test/"], prints: ["direct"]) {
      $0.environment = ["http_proxy": "http://u:p@127.0.0.1:\(proxy.port)", "no_proxy": "127.0.0.1"]
    }
    #expect(proxy.requests.map { $0["Proxy-Authorization"] } == ["Basic dTpw"])
    #expect(origin.requests.map { $0["Proxy-Authorization"] } == [nil])
  }

  @Test("B32: HTTP_PROXY in capitals is ignored for http")
  func capitals() async throws {
    let origin = try ScriptedServer { _ in Reply("direct") }
    let proxy = try ScriptedServer { _ in Reply("via") }
    try await expectScript("print(assert(http.get(base)).body)", [origin.url], prints: ["direct"]) {
      $0.environment = ["HTTP_PROXY": proxy.url]
    }
    #expect(proxy.connectionCount == 0)
  }

  @Test("a real proxy, with and without a password")
  func realProxy() async throws {
    let origin = try ScriptedServer { _ in Reply("origin") }
    let open = try Proxy()
    let locked = try Proxy(password: "word")
    let script = "print(assert(http.get(base)).status)"
    try await expectScript(script, [origin.url], prints: ["200"]) { $0.environment = ["http_proxy": open.url] }
    let address = "http://user:word@127.0.0.1:\(locked.port)"
    try await expectScript(script, [origin.url], prints: ["200"]) { $0.environment = ["http_proxy": address] }
    #expect(origin.requests.allSatisfy { $0["Via"] != nil })
    #expect(origin.requests.count == 2)
  }
}
