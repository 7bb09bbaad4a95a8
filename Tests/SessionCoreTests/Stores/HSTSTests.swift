import Testing

@testable import SessionCore

@Suite struct HSTSTests {
  let directory: TemporaryDirectory

  init() throws { directory = try TemporaryDirectory() }

  private func policy(_ text: String) -> HSTSPolicy? { Array(text.utf8).withUnsafeBytes { HSTSPolicy($0) } }

  @Test(
    "Fields",
    arguments: [
      ("max-age=10", 10, false), (" max-age = \"10\" ; includeSubDomains", 10, true), ("MAX-AGE=0;;preload", 0, false),
      ("max-age=99999999999999999999;INCLUDESUBDOMAINS", 1e10, true),
    ] as [(String, Double, Bool)])
  func fields(text: String, maxAge: Double, includes: Bool) throws {
    let read = try #require(policy(text))
    #expect(read.maxAge == maxAge && read.includesSubdomains == includes)
  }

  @Test(
    "Fields that must be ignored",
    arguments: [
      "", "includeSubDomains", "max-age", "max-age=", "max-age=-1", "max-age=1;max-age=2", "max-age=1 2", ";",
    ])
  func ignored(text: String) { #expect(policy(text) == nil) }

  @Test("Hosts and what is below them, until it is over, for other processes too")
  func hosts() throws {
    let path = "\(directory.path)/hsts.sqlite"
    let first = HSTSStorage(.file(HSTSStorage.file(path)))
    let second = HSTSStorage(.file(HSTSStorage.file(path)))
    first.learn(try #require(policy("max-age=100; includeSubDomains")), of: "All.test")
    first.learn(try #require(policy("max-age=100")), of: "one.test")
    first.learn(try #require(policy("max-age=100")), of: "127.0.0.1")
    var now = 1000.0
    for storage in [first, second] {
      #expect(storage.covers("all.test", now: now) && storage.covers("X.all.test", now: now))
      #expect(storage.covers("one.test", now: now) && !storage.covers("x.one.test", now: now))
      #expect(!storage.covers("127.0.0.1", now: now) && !storage.covers("notall.test", now: now))
      now += 10
    }
    first.learn(try #require(policy("max-age=0")), of: "one.test")
    #expect(!first.covers("one.test", now: now + 10) && !second.covers("one.test", now: now + 10))
    second.removeAll()
    #expect(!first.covers("all.test", now: now + 20))
  }

  @Test(
    "URLs over https",
    arguments: [
      ("http://h/a?b#c", "https://h/a?b#c"), ("HTTP://h:80", "https://h"),
      ("http://u:p@h:8080/", "https://u:p@h:8080/"),
      ("http://[::1]:80/x", "https://[::1]/x"), ("http://h?a:80", "https://h?a:80"),
    ])
  func urls(url: String, expected: String) { #expect(HSTSStorage.secured(url) == expected) }
}
