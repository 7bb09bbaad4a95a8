import TestSupport
import Testing

/// Faults users of other clients reported about injection (B34) and JSON (B36).
@Suite struct ReportedCasesSafetyTests {
  /// What must be refused, as Lua for the request, and a word the error must contain.
  static let injections: [(request: String, names: String)] = [
    (#"{ url = base, headers = { ["X-Val"] = "abc\r\nX-Evil: 1" } }"#, "X-Val"),
    (#"{ url = base, headers = { ["X-Val"] = "abc\nX-Evil: 1" } }"#, "X-Val"),
    (#"{ url = base, headers = { ["X-Val"] = "abc\rX-Evil: 1" } }"#, "X-Val"),
    (#"{ url = base, headers = { ["X-Val"] = "a\0b" } }"#, "X-Val"),
    (#"{ url = base, headers = { ["X A"] = "1" } }"#, "X A"),
    (#"{ url = base, headers = { ["X-A: 1\r\nX-B"] = "1" } }"#, "X-A"),
    (#"{ url = base, headers = { Cookie = "a=b\r\nX-Evil: 1" } }"#, "Cookie"),
    (#"{ url = base, method = "GET / HTTP/1.1\r\nX-Evil: 1\r\nA:" }"#, "method"),
    (#"{ url = base, method = "GE T" }"#, "method"),
    (#"{ url = base, method = "" }"#, "method"),
    (#"{ url = base .. "/\0x" }"#, ""),
    (#"{ url = base, multipart = { { name = "f", data = "x", type = "text/plain\r\nX-Evil: 1" } } }"#, "type"),
    (#"{ url = base, auth = { bearer = "t\r\nX-Evil: 1" } }"#, ""),
  ]

  @Test("B34: nothing is sent of a request that smuggles", arguments: 0..<injections.count)
  func refused(index: Int) async throws {
    let server = try ScriptedServer { _ in Reply("ok") }
    let injection = Self.injections[index]
    let script = """
      local ok, r, err = pcall(http.send, \(injection.request))
      local message = tostring(ok and err or r)
      print(ok and r ~= nil, message:find(\(luaLiteral(injection.names)), 1, true) ~= nil or message)
      """
    try await expectScript(script, [server.url], prints: ["false\ttrue"])
    #expect(server.connectionCount == 0)
  }

  @Test("B34: a line break in a URL is refused or escaped; one in a user name is refused")
  func lineBreaks() async throws {
    let server = try ScriptedServer { _ in Reply("ok") }
    let script = #"""
      local ok, r = pcall(http.get, base .. "/a\r\nX-Evil: 1")
      print(ok or r ~= nil)
      print((pcall(http.get, base .. "/basic", { auth = { user = "u\r\nX-Evil: 1", password = "p" } })))
      """#
    try await expectScript(script, [server.url], prints: ["true", "false"])
    for request in server.requests {
      #expect(request["X-Evil"] == nil)
      #expect(request.target == "/a%0D%0AX-Evil:%201")
    }
  }

  @Test("B36: JSON there and back is the same JSON")
  func json() async throws {
    let text =
      #"{"id":9007199254740993,"max":9223372036854775807,"min":-9223372036854775808,"a":[],"o":{},"#
      + #""n":[1,null,3,null],"z":null,"f":1.0,"u":"\u0000x"}"#
    let server = try ScriptedServer { request in
      request.target == "/echo"
        ? Reply(body: request.body) : Reply(fields: [("Content-Type", "application/json")], text)
    }
    let script = #"""
      local v = assert(assert(http.get(base)):json())
      for _, key in ipairs { "id", "max", "min" } do print(("%d"):format(v[key]), math.type(v[key])) end
      print(math.type(v.f), #v.u, #v.n, v.n[4] == json.null, v.z == json.null)
      assert(http.post(base .. "/echo", { json = v }))
      print(assert(json.encode(json.object {})), assert(json.encode(json.array {})))
      local big, err = json.decode("18446744073709551616")
      print(math.type(big) == "float" or err.domain == "json")
      """#
    try await expectScript(
      script, [server.url],
      prints: [
        "9007199254740993\tinteger", "9223372036854775807\tinteger", "-9223372036854775808\tinteger",
        "float\t2\t4\ttrue\ttrue", "{}\t[]", "true",
      ])
    let stored = try #require(server.requests.last { $0.target == "/echo" })
    #expect(try JSONValue(parsing: stored.body) == JSONValue(parsing: Array(text.utf8)), "\(stored.bodyText)")
    for integer in ["9007199254740993", "9223372036854775807", "-9223372036854775808", "1.0"] {
      #expect(stored.bodyText.contains(integer))
    }
  }
}
