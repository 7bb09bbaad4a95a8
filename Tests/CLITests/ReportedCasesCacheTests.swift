import Foundation
import TestSupport
import Testing

/// Cases that users of other HTTP caches reported (Tests' list, kind cache).
@Suite struct ReportedCasesCacheTests {
  @Test("B13: several variants of one URL, found by the fields Vary names; * matches nothing")
  func variants() async throws {
    let server = try ScriptedServer { request in
      Reply(
        fields: [
          ("Cache-Control", "max-age=60"), ("Vary", request.target == "/star" ? "*" : "Accept-Language"),
        ], request["Accept-Language"] ?? "none")
    }
    let script = #"""
      local function get(path, language)
        return assert(http.get(base .. path, { headers = { ["Accept-Language"] = language } })).body
      end
      print(get("/v", "de"), get("/v", "en"), get("/v", "de"), get("/v"), get("/v"), get("/star"), get("/star"))
      """#
    try await expectScript(script, [server.url], prints: ["de\ten\tde\tnone\tnone\tnone\tnone"])
    #expect(server.lines.filter { $0 == "GET /v" }.count == 3)
    #expect(server.lines.filter { $0 == "GET /star" }.count == 2)
  }

  @Test("B15: what a POST may have changed is asked for again, and nothing else; a failed one changes nothing")
  func invalidation() async throws {
    let counter = Counter()
    let server = try ScriptedServer { request in
      guard request.method == "POST" else {
        return Reply(fields: [("Cache-Control", "max-age=600")], request.target == "/r" ? "\(counter.value)" : "other")
      }
      if request.bodyText == "fail" { return Reply(status: "500 Internal Server Error") }
      counter.increase()
      return Reply(status: "204 No Content")
    }
    let script = #"""
      local function get(path) local r = assert(http.get(base .. path)) return r.body .. tostring(r.from_cache) end
      print(get "/r", get "/other")
      print(http.post(base .. "/r", { body = "go" }).status, get "/r", get "/other")
      print(http.post(base .. "/r", { body = "fail" }).status, get "/r")
      """#
    try await expectScript(
      script, [server.url],
      prints: ["0false\totherfalse", "204\t1false\tothertrue", "500\t1true"])
    #expect(server.lines == ["GET /r", "GET /other", "POST /r", "GET /r", "POST /r"])
  }
}

/// A number that server threads share.
final class Counter: @unchecked Sendable {
  private let lock = NSLock()
  private var count = 0

  var value: Int { lock.withLock { count } }

  @discardableResult
  func increase() -> Int {
    lock.withLock {
      count += 1
      return count
    }
  }
}
