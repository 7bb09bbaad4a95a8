import TestSupport
import Testing

/// Faults users of other crawlers reported about links (B38).
@Suite struct ReportedCasesCrawlTests {
  static func server() throws -> ScriptedServer {
    try ScriptedServer { request in
      let html = [("Content-Type", "text/html; charset=utf-8")]
      switch request.target {
      case "/a/b.html":
        return Reply(
          fields: html,
          """
          <base href="/app/"><a href="p">1</a> <a href="p#s1">2</a> <a href=" \n q.html\t">3</a> <a href="?k=1">4</a>
          <a HREF='//\(request["Host"] ?? "")/r'>5</a> <a href=mailto:x@y>6</a> <a href="javascript:1">7</a>
          <a href="p&amp;x">8</a> <!-- <a href="no">9</a> -->
          """)
      case "/c/d.html":
        return Reply(fields: html, #"<base href="e/"><base href="/zz/"><a href="f">1</a>"#)
      case "/robots.txt": return Reply(status: "404 Not Found")
      default: return Reply(fields: html, "<p>page")
      }
    }
  }

  static let expected = [
    "/a/b.html": ["/app/?k=1", "/app/p", "/app/p&x", "/app/q.html", "/r"], "/c/d.html": ["/c/e/f"],
  ]

  @Test("B38: links of a document", arguments: ["/a/b.html", "/c/d.html"])
  func links(path: String) async throws {
    let server = try Self.server()
    let script = """
      local found = {}
      for _, link in ipairs(assert(assert(http.get(base .. "\(path)")):html()):links()) do
        local target = link.url:match("^" .. base:gsub("%p", "%%%0") .. "([^#]*)")
        if target then found[target] = true end
      end
      local list = {}
      for target in pairs(found) do list[#list + 1] = target end
      table.sort(list)
      print(table.concat(list, "\\n"))
      """
    try await expectScript(script, [server.url], prints: Self.expected[path] ?? [])
  }

  @Test("B38: crawl.lua fetches each page once", arguments: ["/a/b.html", "/c/d.html"])
  func crawl(path: String) async throws {
    let server = try Self.server()
    let run = Executable(.none, arguments: [Fixture.package + "/examples/crawl.lua", server.url + path])
    let result = try await run.run()
    #expect(result.status == 0, "\(result)")
    let fetched = server.lines.filter { $0 != "GET /robots.txt" }.sorted()
    #expect(fetched == ([path] + (Self.expected[path] ?? [])).map { "GET \($0)" }.sorted())
  }
}
