import TestSupport
import Testing

/// A site of three pages, one redirect, one page that is missing and one that robots.txt forbids.
private func site(linkingTo foreign: String) throws -> ScriptedServer {
  let html = [("Content-Type", "text/html")]
  return try ScriptedServer { request in
    switch request.path {
    case "/robots.txt": Reply(fields: [("Content-Type", "text/plain")], "User-agent: *\nDisallow: /private\n")
    case "/":
      Reply(
        fields: html,
        "<a href=a>1</a><a href=/old>2</a><a href=/private>3</a><a href=/gone>4</a><a href='\(foreign)/f'>5</a>")
    case "/a": Reply(fields: html, "<img src=/pic.png><a href=gone>4</a>")
    case "/old": .redirect("301 Moved Permanently", to: "/new")
    case "/new": Reply(fields: html, "<p>the end")
    default: Reply(status: "404 Not Found", fields: html, "no")
    }
  }
}

extension ExampleTests {
  static let crawlCases = [
    ExampleCase("crawl.lua", "the report of a small site") { example in
      let foreign = try ScriptedServer { _ in Reply("foreign") }
      let server = try site(linkingTo: foreign.url)
      let result = try await example.run([server.url + "/", "--delay", "0"])
      #expect(result.ending == .exited(3), "\(result)")
      #expect(result.stderr.isEmpty, "\(result)")
      let origin = server.url
      #expect(result.stdout.hasPrefix("Crawled \(origin)/: 4 pages, "), "\(result)")
      for part in [
        "Not allowed by robots.txt: 1\n", "Redirects: 1\n  301  \(origin)/old -> \(origin)/new\n",
        "Broken links: 1\n  404  \(origin)/gone\n      on \(origin)/\n      on \(origin)/a\n", "Slowest pages\n",
      ] {
        #expect(result.stdout.contains(part), "\(part) in \(result)")
      }
      #expect(Set(server.lines).count == server.lines.count)
      #expect(Set(server.requests.map(\.path)) == ["/robots.txt", "/", "/a", "/old", "/new", "/gone"])
      #expect(Set(server.requests.compactMap { $0["User-Agent"] }) == ["httpscript-crawl/1.0"])
      #expect(foreign.connectionCount == 0)
    },
    ExampleCase("crawl.lua", "--external and --resources ask for more, --output writes JSON Lines") { example in
      let foreign = try ScriptedServer { _ in Reply(status: "410 Gone") }
      let server = try site(linkingTo: foreign.url)
      let result = try await example.run([server.url + "/", "--external", "--resources", "--output", "out.jsonl"])
      #expect(result.ending == .exited(3), "\(result)")
      let rows = try (example.directory.read("out.jsonl") ?? []).split(separator: 10)
        .map { try JSONValue(parsing: Array($0)) }
      let broken = rows.filter { $0["broken"].isTrue }
      let expected = ["\(server.url)/gone": 404, "\(server.url)/pic.png": 404, "\(foreign.url)/f": 410]
      #expect(broken.count == 3)
      for row in broken { #expect(row["status"].integer == expected[row["url"].string ?? ""], "\(row)") }
      #expect(rows.first { $0["url"].string == server.url + "/" }?["status"].integer == 200)
      #expect(example.directory.names == ["out.jsonl"])
    },
    ExampleCase("crawl.lua", "a whole site is 0, no site is 1, a wrong command line is 2") { example in
      let server = try ScriptedServer { request in
        request.path == "/"
          ? Reply(fields: [("Content-Type", "text/html")], "<a href='#top'>up</a>")
          : Reply(status: "404 Not Found")
      }
      let good = try await example.run([server.url + "/"])
      #expect(good.ending == .exited(0) && good.stdout.contains("Broken links: 0"), "\(good)")
      let missing = try await example.run(["http://127.0.0.1:\(Listener.deafPort)/"])
      #expect(missing.ending == .exited(1) && missing.stdout.contains("cannot_connect_to_host"), "\(missing)")
      #expect(missing.stdout.contains("cannot_connect_to_host: Failed to connect to 127.0.0.1 port"), "\(missing)")
      try await example.expectFailure(server.url, "--tempo", saying: "unknown option --tempo", status: 2)
      try await example.expectFailure(server.url, "--max-pages", "0", saying: "positive whole number", status: 2)
      try await example.expectFailure("ftp://x/", saying: "must begin with http", status: 2)
    },
    ExampleCase("crawl.lua", "a real site") { example in
      let documentation = try Nginx.documentation.get()
      let result = try await example.run([documentation.url + "/library/json.html", "--max-pages", "30"])
      #expect([.exited(0), .exited(3)].contains(result.ending), "\(result)")
      #expect(result.stdout.hasPrefix("Crawled \(documentation.url)/library/json.html: 30 pages, "), "\(result)")
    },
  ]
}
