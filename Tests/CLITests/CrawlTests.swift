import Foundation
import TestSupport
import Testing

/// examples/crawl.lua on a real documentation site, beside wget.
@Suite struct CrawlTests {
  static let crawler = Fixture.package + "/examples/crawl.lua"

  @Test("finds exactly the pages that wget finds; broken links are broken", .timeLimit(.minutes(3)))
  func documentation() async throws {
    let site = try Nginx.documentation.get()
    let directory = try TemporaryDirectory()
    let start = site.url + "/index.html"
    let report = directory.path + "/pages.jsonl"
    var run = Executable(.none, arguments: [Self.crawler, start, "--output", report, "--concurrency", "8"])
    run.deadline = 120
    let result = try await run.run()
    #expect([.exited(0), .exited(3)].contains(result.ending), "\(result)")
    let rows = try (directory.read("pages.jsonl") ?? []).split(separator: 10)
      .map { try JSONValue(parsing: Array($0)) }
    let broken = rows.filter { $0["broken"].isTrue }
    let pages = rows.filter { !$0["broken"].isTrue && $0["status"].integer == 200 && isHTML($0["type"].string) }
    let ours = Set(pages.compactMap { $0["url"].string })
    let theirs = try await Self.wget(start, in: directory)
    #expect(ours.count == pages.count)
    #expect(theirs.count > 400)
    #expect(ours.subtracting(theirs).sorted() == [])
    #expect(theirs.subtracting(ours).sorted() == [])
    #expect(result.ending == (broken.isEmpty ? .exited(0) : .exited(3)))
    try await Self.checkBroken(broken)
    #expect(rows.allSatisfy { row in row["url"].string != nil })
    #expect(pages.allSatisfy { ($0["size"].integer ?? 0) > 0 && $0["depth"].integer != nil && !$0["seconds"].isNull })
  }

  /// The HTML pages wget's spider answers 200 for.
  static func wget(_ start: String, in directory: TemporaryDirectory) async throws -> Set<String> {
    var launch = Launch(
      program: "/usr/bin/wget",
      arguments: ["--recursive", "--level=inf", "--spider", "--no-verbose", "--output-file=wget.log", start],
      environment: ["PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"], directory: directory.path)
    launch.streams = [.null, .null, .null]
    _ = await (try RunningProcess(launch, deadline: 120)).finish()
    let log = String(decoding: directory.read("wget.log") ?? [], as: UTF8.self)
    var found: Set<String> = []
    for line in log.components(separatedBy: "\n") where line.contains("200 OK") || line.contains(" -> ") {
      if let url = line.firstMatch(of: /URL:\s?(http\S+)/)?.1, isHTML(String(url)) { found.insert(String(url)) }
    }
    return found
  }

  static func checkBroken(_ rows: [JSONValue]) async throws {
    for row in rows {
      let url = try #require(row["url"].string)
      #expect(!row["pages"].array.isEmpty, "\(url) has no referrer")
      let launch = Launch(
        program: "/usr/bin/curl", arguments: ["-so", "/dev/null", "-w", "%{http_code}", url], environment: [:],
        directory: "/")
      let status = await (try RunningProcess(launch, deadline: 20)).finish().stdout
      #expect((Int(status) ?? 0) >= 400 || status == "000", "\(url) answers \(status)")
    }
  }

  static func isHTML(_ text: String?) -> Bool {
    guard let text else { return false }
    return text.hasPrefix("text/html") || text.hasSuffix(".html") || text.hasSuffix("/")
  }

  private func isHTML(_ text: String?) -> Bool { Self.isHTML(text) }

  @Test("robots.txt, redirects, depth, foreign hosts and broken links")
  func smallSite() async throws {
    let other = try ScriptedServer { _ in Reply("foreign") }
    let site = try ScriptedServer { request in
      let html = [("Content-Type", "text/html")]
      return switch request.path {
      case "/robots.txt": Reply(fields: [("Content-Type", "text/plain")], "User-agent: *\nDisallow: /private/\n")
      case "/":
        Reply(
          fields: html,
          "<a href=a>1</a><a href=/private/x>2</a><a href=/old>3</a><a href=/gone>4</a><a href='\(other.url)/'>5</a>")
      case "/a": Reply(fields: html, "<a href='/'>up</a><a href=gone>4</a>")
      case "/old": .redirect("301 Moved Permanently", to: "/new")
      case "/new": Reply(fields: html, "<p>new")
      default: Reply(status: "404 Not Found", fields: html, "no")
      }
    }
    let directory = try TemporaryDirectory()
    let run = Executable(
      .none, arguments: [Self.crawler, site.url + "/", "--output", directory.path + "/out.jsonl"])
    let result = try await run.run()
    #expect(result.ending == .exited(3), "\(result)")
    #expect(Set(site.requests.map(\.path)) == ["/robots.txt", "/", "/a", "/old", "/new", "/gone"])
    #expect(other.connectionCount == 0)
    let rows = try (directory.read("out.jsonl") ?? []).split(separator: 10).map { try JSONValue(parsing: Array($0)) }
    let broken = rows.filter { $0["broken"].isTrue }
    #expect(broken.map { $0["url"].string } == [site.url + "/gone"])
    #expect(Set(broken.flatMap { $0["pages"].array.compactMap(\.string) }) == [site.url + "/", site.url + "/a"])
    #expect(!result.stderr.contains("\r"))
  }

  @Test("a crawl without broken links ends with 0 and honours --max-pages")
  func bounded() async throws {
    let site = try ScriptedServer { request in
      let number = Int(request.path.dropFirst()) ?? 0
      return request.path == "/robots.txt"
        ? Reply(status: "404 Not Found")
        : Reply(fields: [("Content-Type", "text/html")], "<a href=/\(number + 1)>next</a>")
    }
    let run = Executable(.none, arguments: [Self.crawler, site.url + "/0", "--max-pages", "5"])
    let result = try await run.run()
    #expect(result.ending == .exited(0), "\(result)")
    #expect(site.requests.filter { $0.path != "/robots.txt" }.count == 5)
  }
}
