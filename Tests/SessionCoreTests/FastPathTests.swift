import CCurlShim
import Testing

@testable import SessionCore

@Suite("Short ways")
struct FastPathTests {
  /// Whatever a handle was set to before, it must end up as the parser alone would have it.
  @Test("Replacing the path of a URL gives what parsing all of it gives")
  func parsedURL() {
    let hosts = ["http://a", "http://a:81", "http://ab", "https://a", "http://[::1]", "HTTP://A"]
    let rests = [
      "", "/", "/x", "/x?y", "/x?", "?", "?q", "/x?y=/../z", "/../x", "/./x", "/x/..", "/.x", "/x.", "/a/.hidden",
      "//x",
      "/x#f", "/%41b%2f?c%2F", "/x?a=%2F", "/x?#", "/x?y?z", "#f", "/x\\y", "/.", "/x;p?q;r",
    ]
    let urls = hosts.flatMap { host in rests.map { host + $0 } }
    for first in urls {
      for second in urls where first.prefix(8) == second.prefix(8) {
        let handle = URLHandle()
        let parsed = ParsedURL()
        let plain = URLHandle()
        _ = parsed.set(first, URLLook(first), in: handle)
        let code = parsed.set(second, URLLook(second), in: handle)
        #expect(code == plain.set(second), "\(first) then \(second)")
        for part in [CURLUPART_SCHEME, CURLUPART_HOST, CURLUPART_PORT, CURLUPART_PATH, CURLUPART_QUERY] {
          #expect(handle.get(part) == plain.get(part), "\(first) then \(second)")
        }
      }
    }
  }

  @Test("A table by number keeps what a dictionary keeps, through growth and removal")
  func idTable() {
    final class Element {}
    var table = IDTable<Element>()
    var model: [Int: Element] = [:]
    var random = SystemRandomNumberGenerator()
    for _ in 0..<20_000 {
      // As fibers number their calls: far apart, with the same low bits.
      let key = -(Int.random(in: 1...300, using: &random) << 24 | 3)
      let element: Element? = Bool.random(using: &random) ? Element() : nil
      table[key] = element
      model[key] = element
      let other = -(Int.random(in: 1...300, using: &random) << 24 | 3)
      #expect(table[other] === model[other])
    }
    #expect(table.count == model.count)
    #expect(Set(table.values.map(ObjectIdentifier.init)) == Set(model.values.map(ObjectIdentifier.init)))
  }
}
