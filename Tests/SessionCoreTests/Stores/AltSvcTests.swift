import Testing

@testable import SessionCore

@Suite struct AltSvcTests {
  let directory: TemporaryDirectory
  let origin = AlternativeServiceStorage.Origin(host: "h.test", port: 443)

  init() throws { directory = try TemporaryDirectory() }

  @Test(
    "Fields",
    arguments: [
      ("h2=\":8443\"", ["h2 h.test:8443 86400.0"]),
      (
        "h3=\":443\"; ma=60, h2=\"Alt.test:443\" ; ma=10 ; persist=1",
        ["h3 h.test:443 60.0", "h2 alt.test:443 10.0"]
      ),
      ("http%2F1.1=\"[::1]:8080\"", ["http/1.1 [::1]:8080 86400.0"]), ("h2=\"a,b;c:1\"", ["h2 a,b;c:1 86400.0"]),
      ("h2", []), ("h2=\"x\"", []), ("h2=\"x:0\"", []), ("", []),
    ])
  func fields(text: String, expected: [String]) throws {
    let services = try #require(AlternativeService.parse(text, origin: "h.test"))
    #expect(services.map { "\($0.protocolName) \($0.host):\($0.port) \($0.maxAge)" } == expected)
  }

  @Test("What is spoken is remembered, for other processes too, until it is taken back")
  func storage() {
    let file = AlternativeServiceStorage.file("\(directory.path)/altsvc.sqlite")
    let (first, second) = (AlternativeServiceStorage(.file(file)), AlternativeServiceStorage(.file(file)))
    func learn(_ text: String) {
      first.learn(AlternativeService.parse(text, origin: "h.test"), of: origin, protocols: ["h2"])
    }
    learn("h3=\":1\", h2=\"alt.test:8443\"")
    #expect(first.service(for: origin, now: 10)?.port == 8443)
    #expect(second.service(for: origin, now: 10)?.host == "alt.test")
    learn("h2=\":443\"")
    #expect(first.service(for: origin, now: 20) == nil && second.service(for: origin, now: 20) == nil)
    learn("h2=\":8443\"")
    learn("clear")
    #expect(second.service(for: origin, now: 30) == nil)
  }
}
