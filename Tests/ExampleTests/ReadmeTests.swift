import Foundation
import TestSupport
import Testing

/// What the README shows, run as it stands there.
@Suite struct ReadmeTests {
  /// The first block of Lua in README.md, without its fences.
  static func script() throws -> String {
    let text = try String(contentsOfFile: Fixture.package + "/README.md", encoding: .utf8)
    let after = try #require(text.components(separatedBy: "```lua\n").dropFirst().first)
    return try #require(after.components(separatedBy: "```\n").first)
  }

  static func server(page: String) throws -> ScriptedServer {
    try ScriptedServer { request in
      switch request.path {
      case "/": Reply(fields: [("Content-Type", "text/html")], page)
      case "/good": Reply("good")
      default: Reply(status: "404 Not Found", "gone")
      }
    }
  }

  @Test("links.lua tells good links from broken ones")
  func links() async throws {
    let nobody = "http://127.0.0.1:\(Listener.deafPort)/x"
    let server = try Self.server(page: "<a href=good>1</a> <a href='/bad?a=1#top'>2</a> <a href='\(nobody)'>3</a>")
    let script = try Self.script()
    #expect(script.hasPrefix("-- links.lua: "))
    let result = try await Executable(.file(script), arguments: [server.url + "/"]).run()
    #expect(result.ending == .exited(0), "\(result)")
    #expect(
      result.lines == [
        "200  \(server.url)/good", "404  \(server.url)/bad?a=1#top", "cannot_connect_to_host  \(nobody)",
      ],
      "\(result)")
    #expect(result.stderr.isEmpty, "\(result)")
    #expect(server.lines.first == "GET /")
    #expect(Set(server.lines.dropFirst()) == ["HEAD /good", "HEAD /bad?a=1"])
  }
}
