import SessionCore
import Testing

@testable import LuaBridge

/// Links without a tree: the short ways must give what the long ones give.
@Suite struct HTMLLinkTests {
  /// Random, but the same in every run.
  private struct Dice: RandomNumberGenerator {
    var state: UInt64
    mutating func next() -> UInt64 {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return state ^ (state >> 29)
    }
  }

  private static let bases = [
    "http://h.test", "http://h.test/", "http://h.test/a", "http://h.test/a/b.html?q=1#f", "https://h.test:8443/a/b/c/",
    "http://u:p@h.test/a/b/", "http://h.test/a//b/c", "http://[::1]:81/x/y/z.html", "HTTP://H.test/A/B",
    "http://h.test/a/../b/c/d", "http://h.test/a b/\u{e9}/c", "http://h.test?x=/y/z", "http://h.test/%2e%2e/a/b",
    "http://h.test/a/b;p/c=d/", "http://h.test/a/.b/c",
  ]
  private static let pieces = [
    "a", "B7", "-", "_", "~", ".", "..", "/", "//", "?", "=", "&", ";", "+", ",", "#", ":", "%41", " ", "\u{e9}",
    "x.html", "../", "./", "library/functions.html", "?x=1&y=2", "#top", "\\", "@", "http:", "//o.test/", "*", "(", "'",
  ]

  @Test func plainReferencesAreWhatTheURLParserMakesOfThem() {
    var dice = Dice(state: 7)
    var plainCount = 0
    let resolver = ReferenceResolver()
    for base in Self.bases {
      let plain = HTMLPlainReferences(base: base) { resolver.resolve($0, against: $1) }
      for _ in 0..<3000 {
        let count = Int.random(in: 0...6, using: &dice)
        let reference = (0..<count).map { _ in Self.pieces.randomElement(using: &dice) ?? "" }.joined()
        let bytes = Array(reference.utf8)
        var url: [UInt8] = []
        let isPlain = bytes.withUnsafeBytes { plain?.append($0, withFragment: true, to: &url) ?? false }
        guard isPlain else {
          #expect(url.isEmpty)
          continue
        }
        plainCount += 1
        let made = String(decoding: url, as: UTF8.self)
        let head = reference.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)[0]
        let expected = resolver.resolve(String(head), against: base)
        #expect(made == expected.map { $0 + reference.dropFirst(head.count) }, "\(reference) against \(base)")
        url = []
        _ = bytes.withUnsafeBytes { plain?.append($0, withFragment: false, to: &url) }
        #expect(String(decoding: url, as: UTF8.self) == expected, "\(reference) against \(base)")
      }
    }
    #expect(plainCount > 10_000)
  }

  private static let tokens = [
    "<a href=x>", "<a HREF=\"y#z\" rel='next  a'>", "</a>", "</A>", "</a >", "<a>", "<p>", "</p>", "<b>", "</b>",
    "</b\n>", "<div>", "</div>", "<span class=n>", "</span>", "<br>", "<br/>", "text & more", "&amp;", "a > b", "\n  ",
    "<!-- > <a href=no> -->", "<script>", "if (a<b && c>d) '<a href=no>'", "</script>", "<style>", "a > b {}",
    "</style>",
    "<title>", "</title>", "<table>", "<tr>", "<td>", "</table>", "<html>", "<head>", "</head>", "<body>", "</body>",
    "</html>", "<textarea>", "</textarea>", "<select>", "<option>", "<area href=m>", "<frameset>", "<frame src=f>",
    "<iframe src=g>", "</iframe>", "<link rel=next href=l>", "<link rel=stylesheet href=s>", "<base href=/b/>",
    String(repeating: "long > ", count: 200), "<", ">", "</", "<a\nhref='q>r' title=\"<\">", "]]>", "<![CDATA[",
    "<?pi?>",
    "<!doctype html>", "<ul>", "<li>", "</ul>", "<meta charset=utf-8>", "<form>", "<h1>", "</h2>", "\u{e9}", "<svg:a>",
  ]

  /// What a scan has found, to be compared.
  private static func found(_ page: String, _ purpose: HTMLLinkScanner.Purpose, skipsText: Bool) throws -> [String] {
    var page = page
    let found = try page.withUTF8 {
      try HTMLLinkScanner.scan(UnsafeRawBufferPointer($0), encoding: "utf-8", for: purpose, skipsText: skipsText)
    }
    func text(_ part: Range<Int>) -> String { found.withPart(part) { String(decoding: $0, as: UTF8.self) } }
    return [found.base ?? "no base"]
      + found.links.map { "\(text($0.reference)) \(text($0.text)) \($0.rel.map(text) ?? "no rel")" }
  }

  @Test func passingOverTextChangesNothing() throws {
    var dice = Dice(state: 11)
    var linkCount = 0
    for _ in 0..<4000 {
      let isWhole = Bool.random(using: &dice)
      let count = Int.random(in: 1...40, using: &dice)
      let soup = (0..<count).map { _ in Self.tokens.randomElement(using: &dice) ?? "" }.joined()
      let page = isWhole ? "<html><head><title>t</title></head><body>\(soup)</body></html>" : soup
      for purpose in [HTMLLinkScanner.Purpose.links, .addresses, .pages] {
        let short = try Self.found(page, purpose, skipsText: true)
        #expect(short == (try Self.found(page, purpose, skipsText: false)), "\(page)")
        linkCount += short.count - 1
      }
    }
    #expect(linkCount > 10_000)
  }

  @Test func pagesAreReadByOtherThreads() throws {
    let run = try ScriptRun(
      """
      local fibers, http = require "http.fibers", require "http"
      local page = require "httpscript.page"
      local text = ("<p>text</p><a href='p?n=%d#f'>x</a>"):rep(2000, " "):gsub("%%d", function() return "1" end)
      local function read(small)
        local list = fibers.wait_in_work(page.links(small or text, "http://h.test/a/", nil))
        return #list, list[1]
      end
      local jobs = {}
      for i = 1, 5 do jobs[i] = http.spawn(read) end
      jobs[2]:cancel()
      for i, job in ipairs(jobs) do
        local count, first = job:wait()
        if i == 2 then assert(not count and first.code == "cancelled")
        else assert(count == 1 and first == "http://h.test/a/p?n=1", first) end
      end
      assert(read("<a href=/x><iframe src=y></iframe><link rel=icon href=z><link rel=next href=n>") == 3)
      """)
    #expect(run.reports == [])
    #expect(run.ending == .done)
  }
}
