import Synchronization
import TestSupport
import Testing

/// What a script can do with an answer: text, files, limits and retries.
@Suite struct ResponseTests {
  static let texts: [(type: String, body: [UInt8])] = [
    ("text/plain; charset=utf-8", Array("é€".utf8)),
    ("text/plain; charset=\"ISO-8859-15\"", [0xe9, 0xa4]),
    ("text/plain; charset=windows-1252", [0xe9, 0x80]),
    ("text/plain", [0xef, 0xbb, 0xbf] + Array("é€".utf8)),
    ("text/plain; charset=utf-16le", [0xe9, 0, 0xac, 0x20]),
    ("text/html", Array("<meta charset=windows-1252>".utf8) + [0xe9, 0x80]),
  ]

  @Test("text is UTF-8 whatever the answer was", arguments: 0..<texts.count)
  func text(index: Int) async throws {
    let (type, body) = Self.texts[index]
    let server = try ScriptedServer { _ in Reply(fields: [("Content-Type", type)], body: body) }
    let script = "print((assert(assert(http.get(base)):text()):gsub('<.->', '')))"
    try await expectScript(script, [server.url], prints: ["é€"])
  }

  static let cases = [
    ScriptCase(
      "an unknown or broken charset is an error, not a crash",
      """
      local text, err = assert(http.get(base .. "/nonsense")):text()
      print(text == nil and err ~= nil or type(text) == "string")
      """, prints: "true"),
    ScriptCase(
      "a sink that is a path holds the whole body and nothing else is left",
      """
      local name = os.tmpname()
      local r = assert(http.get(base .. "/body", { sink = name }))
      local file <close> = assert(io.open(name, "rb"))
      print(file:read("a"), r.body == nil or r.body == "")
      local directory = name:match("^(.*)/")
      local list <close> = assert(io.popen("ls -A " .. directory .. " | grep -c " .. name:match("[^/]*$")))
      print(tonumber(list:read("a")))
      os.remove(name)
      """, prints: "body\ttrue", "1"),
    ScriptCase(
      "a sink that cannot be written is the task's error; save's is of domain file",
      """
      local r, err = http.get(base .. "/body", { sink = "/nonexistent/directory/file" })
      print(r, err.domain, err.code)
      r, err = assert(http.get(base .. "/body")):save("/nonexistent/directory/file")
      print(r, err.domain, err.code)
      """, prints: "nil\turl\tcannot_create_file", "nil\tfile\tcannot_create_file"),
    ScriptCase(
      "save does the same",
      """
      local name = os.tmpname()
      assert(assert(http.get(base .. "/body")):save(name))
      local file <close> = assert(io.open(name, "rb"))
      print(file:read("a"))
      os.remove(name)
      local saved, err = assert(http.get(base .. "/body")):save("/nonexistent/directory/file")
      print(saved, err.domain)
      """, prints: "body", "nil\tfile"),
    ScriptCase(
      "max_body ends a body that is too long, announced or not",
      """
      for _, path in ipairs { "/long", "/chunked" } do
        local r, err = http.get(base .. path, { max_body = 1000 })
        print(r, err.code)
      end
      print(#assert(http.get(base .. "/long", { max_body = 5000 })).body)
      """, prints: "nil\tdata_length_exceeds_maximum", "nil\tdata_length_exceeds_maximum", "5000"),
    ScriptCase(
      "links",
      """
      local links = assert(http.get(base .. "/links")):links()
      print(#links, links[1].url == base .. "/next?page=2", links[1].rel, links[2].params.title)
      """, prints: "2\ttrue\tnext\tThe last, one"),
    ScriptCase(
      "a suggested file name has no directory",
      "print(assert(http.get(base .. '/named')).suggested_filename)", prints: "passwd"),
    ScriptCase(
      "retry honours Retry-After and its limit",
      """
      local t = http.now()
      local r = assert(http.get(base .. "/busy?a", { retry = { limit = 3, statuses = { 503 } } }))
      print(r.status, r.body, http.now() - t >= 1.9)
      print(assert(http.get(base .. "/always", { retry = { limit = 2, backoff = 0.01 } })).status)
      """, prints: "200\tready\ttrue", "503"),
    ScriptCase(
      "retry repeats no POST unless told to",
      """
      print(assert(http.post(base .. "/busy?b", { body = "x", retry = { limit = 3 } })).status)
      local options = { body = "x", retry = { limit = 3, methods = { "POST" } } }
      print(assert(http.post(base .. "/busy?c", options)).status)
      """, prints: "503", "200"),
  ]

  @Test(arguments: cases)
  func behaviour(_ scriptCase: ScriptCase) async throws {
    let server = try Self.server()
    try await check(scriptCase, server.url)
    #expect(server.lines.filter { $0.hasSuffix("/always") }.count % 3 == 0)
  }

  /// "/busy" answers 503 twice for each query, then 200.
  static func server() throws -> ScriptedServer {
    let counts = Counts()
    return try ScriptedServer { request in
      switch request.path {
      case "/nonsense": Reply(fields: [("Content-Type", "text/plain; charset=nonsense")], body: [0xff])
      case "/long": Reply(String(repeating: "l", count: 5000))
      case "/chunked":
        Reply(fields: [("Transfer-Encoding", "chunked")], body: chunked([Array(repeating: 0x63, count: 5000)]))
      case "/links":
        Reply(fields: [("Link", "</next?page=2>; rel=next, <http://other.test/9>; rel=last; title=\"The last, one\"")])
      case "/named":
        Reply(fields: [("Content-Disposition", "attachment; filename=\"../../etc/passwd\"")], "x")
      case "/busy" where counts.next(request.target) < 2:
        Reply(status: "503 Busy", fields: [("Retry-After", "1")])
      case "/busy": Reply("ready")
      case "/always": Reply(status: "503 Busy")
      default: Reply("body")
      }
    }
  }
}

/// Counts events by name, from several threads.
final class Counts: Sendable {
  private let gate = Mutex<[String: Int]>([:])

  /// How often this was asked before for `name`.
  func next(_ name: String) -> Int {
    gate.withLock { counts in
      defer { counts[name, default: 0] += 1 }
      return counts[name, default: 0]
    }
  }
}
