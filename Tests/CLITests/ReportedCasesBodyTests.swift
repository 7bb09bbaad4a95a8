import TestSupport
import Testing

/// Faults users of other clients reported about request bodies.
@Suite struct ReportedCasesBodyTests {
  /// 65,536 bytes in which every byte value occurs.
  static let payload = (0..<65_536).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) }

  /// The same bytes in Lua.
  static let makePayload = """
    local t = {}
    for i = 0, 65535 do t[#t + 1] = string.char((i * 31 + (i >> 8)) & 255) end
    local payload = table.concat(t)
    local name = os.tmpname()
    local file <close> = assert(io.open(name, "wb"))
    file:write(payload)
    file:close()
    local position = 1
    local function reader()
      if position > #payload then return nil end
      position = position + 1000
      return payload:sub(position - 1000, position - 1)
    end

    """

  static func server() throws -> ScriptedServer {
    try ScriptedServer { request in
      switch request.target {
      case "/a": .redirect("307 Temporary Redirect", to: "/b")
      case "/c": .redirect("308 Permanent Redirect", to: "/b")
      case "/sec" where request["Authorization"].map({ DigestCheck(field: $0).accepts(request) }) != true:
        Reply(status: "401 Unauthorized", fields: [("WWW-Authenticate", #"Digest realm="r", nonce="n1", qop="auth""#)])
      default: Reply(status: "201 Created")
      }
    }
  }

  @Test("B20: a body that can be replayed is", arguments: ["/a", "/c", "/sec"], ["payload", "{ file = name }"])
  func replayedBody(path: String, body: String) async throws {
    let server = try Self.server()
    let script =
      Self.makePayload + """
        local auth = { user = "user", password = "pw", scheme = "digest" }
        print(assert(http.put(base .. "\(path)", { body = \(body), auth = auth })).status)
        os.remove(name)
        """
    try await expectScript(script, [server.url], prints: ["201"])
    let final = server.requests.last { ["/b", "/sec"].contains($0.target) }
    #expect(final?.method == "PUT")
    #expect(final?.body == Self.payload)
  }

  @Test("B20: a body that cannot be replayed is an error, never an empty upload", arguments: ["/a", "/c", "/sec"])
  func readerBody(path: String) async throws {
    let server = try Self.server()
    let script =
      Self.makePayload + """
        os.remove(name)
        local auth = { user = "user", password = "pw", scheme = "digest" }
        local r, err = http.put(base .. "\(path)", { body = reader, auth = auth })
        if r then print("stored") else print(err.domain, err.code) end
        """
    let result = try await runScript(script, [server.url])
    let stored = server.requests.filter { $0.target == "/b" || ($0.target == "/sec" && $0["Authorization"] != nil) }
    if result.lines == ["stored"] {
      #expect(stored.last?.body == Self.payload)
    } else {
      #expect(result.lines == ["url\trequest_body_stream_exhausted"], "\(result)")
      #expect(stored.allSatisfy { $0.body == Self.payload })
    }
  }

  @Test("B20: a task asks its delegate for a new body")
  func newBodyStream() async throws {
    let server = try Self.server()
    let script =
      Self.makePayload + """
        os.remove(name)
        local asked = 0
        local session = http.session(http.configuration.ephemeral(), {
          need_new_body_stream = function()
            asked, position = asked + 1, 1
            return reader
          end,
        })
        print(assert(session:put(base .. "/a", { body = reader })).status, asked)
        """
    try await expectScript(script, [server.url], prints: ["201\t1"])
    #expect(server.requests.last?.body == Self.payload)
  }

  @Test("B22: names cannot break out of a multipart header")
  func multipartNames() async throws {
    let sink = try ScriptedServer { _ in Reply("ok") }
    let script = #"""
      local list = { { name = 'n"1', data = "field" } }
      for i, filename in ipairs {
        'a"b.txt', "end\\", "x\r\nContent-Type: text/evil\r\n\r\nSMUGGLED", "\xE2\x82\xAC.txt",
      } do
        list[#list + 1] = { name = "f" .. i, data = "content " .. i, filename = filename }
      end
      print(assert(http.post(base, { multipart = list })).body)
      """#
    try await expectScript(script, [sink.url], prints: ["ok"])
    let request = try #require(sink.requests.first)
    let parts = try #require(MultipartReader.parts(of: request))
    #expect(parts.map(\.name) == ["n%221", "f1", "f2", "f3", "f4"])
    #expect(parts.map { String(decoding: $0.data, as: UTF8.self) } == ["field"] + (1...4).map { "content \($0)" })
    let names = parts.dropFirst().map { $0.filename ?? "" }
    #expect(names == ["a%22b.txt", "end\\", "x%0D%0AContent-Type: text/evil%0D%0A%0D%0ASMUGGLED", "€.txt"])
    #expect(!parts.contains { $0.fields["content-type"] == "text/evil" })
  }

  static let senders = [
    ("string", "body = text"), ("file", "body = { file = name }"), ("reader", "body = reader"),
  ]

  @Test("B43: bytes survive, zeros included", arguments: senders.map(\.0))
  func zeroBytes(kind: String) async throws {
    let server = try ScriptedServer { request in
      request.target == "/bin" ? Reply(body: (0...255).map { $0 }) : Reply(body: request.body)
    }
    let options = Self.senders.first { $0.0 == kind }?.1 ?? ""
    let script = #"""
      local text, name = "Hello\0World", os.tmpname()
      local file <close> = assert(io.open(name, "wb"))
      file:write(text)
      file:close()
      local left = text
      local function reader()
        local chunk = left
        left = nil
        return chunk
      end
      local r = assert(http.post(base .. "/echo", { \#(options) }))
      print(#r.body, r.body == text)
      local bytes = assert(http.get(base .. "/bin")).body
      local all = {}
      for i = 0, 255 do all[#all + 1] = string.char(i) end
      print(#bytes, bytes == table.concat(all))
      local parts = {}
      assert(http.get(base .. "/bin", { sink = function(chunk) parts[#parts + 1] = chunk end }))
      print(table.concat(parts) == bytes)
      assert(http.get(base .. "/bin", { sink = name }))
      local back <close> = assert(io.open(name, "rb"))
      print(back:read("a") == bytes)
      os.remove(name)
      """#
    try await expectScript(script, [server.url], prints: ["11\ttrue", "256\ttrue", "true", "true"])
    let sent = try #require(server.requests.first)
    #expect(sent.body == Array("Hello\0World".utf8))
    #expect(kind == "reader" || sent["Content-Length"] == "11")
  }

  @Test("B43: zeros in a multipart part and a form field; an empty PUT and an empty POST")
  func zerosInParts() async throws {
    let server = try ScriptedServer { _ in Reply("ok") }
    let script = #"""
      assert(http.post(base .. "/m", { multipart = { { name = "a", data = "x\0y" } } }))
      assert(http.post(base .. "/f", { form = { a = "x\0y" } }))
      assert(http.put(base .. "/e", { body = "" }))
      assert(http.put(base .. "/n"))
      assert(http.post(base .. "/p", { body = "" }))
      print("done")
      """#
    let result = try await expectScript(script, [server.url], prints: ["done"])
    #expect(result.seconds < 5)
    let requests = Dictionary(uniqueKeysWithValues: server.requests.map { ($0.target, $0) })
    #expect(requests["/m"].flatMap(MultipartReader.parts)?.first?.data == [0x78, 0, 0x79])
    #expect(requests["/f"]?.bodyText == "a=x%00y")
    for target in ["/e", "/n", "/p"] { #expect(requests[target]?["Content-Length"] == "0") }
    #expect(requests["/p"]?["Content-Type"] == nil)
  }
}
