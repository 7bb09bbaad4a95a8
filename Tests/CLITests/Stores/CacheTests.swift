import Foundation
import TestSupport
import Testing

/// The cache in a script: policies, handlers, what responses and metrics say.
@Suite struct CacheTests {
  /// Counts what reaches it, and answers by path.
  private static func server() async throws -> ScriptedServer {
    let counter = Counter()
    let packed = try await gzip(Array("packed".utf8))
    return try ScriptedServer { request in
      let body = "\(request.path) \(counter.increase())"
      switch request.path {
      case "/fresh": return Reply(fields: [("Cache-Control", "max-age=600")], body)
      case "/etag":
        let fields = [("Cache-Control", "max-age=0"), ("ETag", "\"a\""), ("X-Count", "\(counter.value)")]
        if request["If-None-Match"] == "\"a\"" { return Reply(status: "304 Not Modified", fields: fields) }
        return Reply(fields: fields, body)
      case "/swr": return Reply(fields: [("Cache-Control", "max-age=0, stale-while-revalidate=600")], body)
      case "/sie":
        if counter.value > 1 { return Reply(status: "503 Service Unavailable") }
        return Reply(fields: [("Cache-Control", "max-age=0, stale-if-error=600")], body)
      case "/moved":
        return Reply(status: "301 Moved", fields: [("Location", "/fresh"), ("Cache-Control", "max-age=600")])
      case "/gzip":
        let fields = [("Cache-Control", "max-age=600"), ("Content-Encoding", "gzip")]
        return Reply(fields: fields, body: packed)
      default: return Reply(body)
      }
    }
  }

  private static let helper = #"""
    local function get(path, options)
      local r, err = http.get(base .. path, options)
      if not r then return err.code end
      return r.body .. (r.from_cache and " cached" or "")
    end

    """#

  @Test func policies() async throws {
    let server = try await Self.server()
    let script =
      Self.helper + #"""
        print(get("/fresh", { cache_policy = "return_cache_data_dont_load" }))
        print(get("/fresh", { cache_policy = "return_cache_data_else_load" }))
        print(get("/fresh"), get("/fresh", { cache_policy = "use_protocol_cache_policy" }))
        print(get("/fresh", { cache_policy = "reload_ignoring_local_cache_data" }), get("/fresh"))
        print(get("/etag"), get("/etag", { cache_policy = "return_cache_data_else_load" }))
        print(get("/fresh", { cache_policy = "reload_revalidating_cache_data" }))
        local s = http.session { request_cache_policy = "return_cache_data_dont_load" }
        print(s:get(base .. "/fresh").from_cache, select(2, s:get(base .. "/plain")).code)
        print(select(2, http.session { cache = false }:get(base, { cache_policy = "return_cache_data_dont_load" })).code)
        """#
    try await expectScript(
      script, [server.url],
      prints: [
        "resource_unavailable", "/fresh 1", "/fresh 1 cached\t/fresh 1 cached", "/fresh 2\t/fresh 2 cached",
        "/etag 3\t/etag 3 cached", "/fresh 4", "true\tresource_unavailable", "resource_unavailable",
      ])
  }

  @Test("what is validated comes from the cache, with the news of the 304; the metrics tell of both")
  func validation() async throws {
    let server = try await Self.server()
    let script =
      Self.helper + #"""
        print(get "/etag")
        local r = assert(http.get(base .. "/etag"))
        print(r.status, r.body, r.from_cache, r.headers["X-Count"], r.headers.Age)
        for _, one in ipairs(r.metrics.transaction_metrics) do print(one.resource_fetch_type, one.response.status) end
        local hit = assert(http.get(base .. "/fresh")) and assert(http.get(base .. "/fresh"))
        print(hit.metrics.transaction_metrics[1].resource_fetch_type, hit.metrics.transaction_metrics[1].connect_start)
        """#
    try await expectScript(
      script, [server.url],
      prints: ["/etag 1", "200\t/etag 1\ttrue\t2\t0", "network_load\t304", "local_cache\t200", "local_cache\tnil"])
  }

  @Test("codings are kept as they came and undone each time; redirects are stored too")
  func codingsAndRedirects() async throws {
    let server = try await Self.server()
    let script =
      Self.helper + #"""
        print(get "/gzip", get "/gzip")
        local raw = http.get(base .. "/gzip", { decompress = false })
        print(#raw.body > 20, raw.from_cache)
        print(get "/moved", get "/moved")
        print(assert(http.get(base .. "/moved")).redirects[1].status)
        """#
    try await expectScript(
      script, [server.url],
      prints: ["packed\tpacked cached", "true\ttrue", "/fresh 3\t/fresh 3 cached", "301"])
    #expect(server.lines == ["GET /gzip", "GET /moved", "GET /fresh"])
  }

  @Test("stale-while-revalidate answers at once and asks behind; the process waits for that before it ends")
  func staleWhileRevalidate() async throws {
    let server = try await Self.server()
    let script = Self.helper + #"print(get "/swr", get "/swr")"#
    try await expectScript(script, [server.url], prints: ["/swr 1\t/swr 1 cached"])
    #expect(server.lines == ["GET /swr", "GET /swr"])
  }

  @Test("stale-if-error: a failing server, and one that is gone")
  func staleIfError() async throws {
    let server = try await Self.server()
    let script =
      Self.helper + #"""
        print(get "/sie", get "/sie")
        """#
    try await expectScript(script, [server.url], prints: ["/sie 1\t/sie 1 cached"])
    let dying = try ScriptedServer { connection in
      guard try connection.readRequest() != nil, connection.index == 0 else { return }
      try connection.send(
        Reply(fields: [("Cache-Control", "max-age=0, stale-if-error=600"), ("Connection", "close")], "once"))
    }
    let again = Self.helper + #"print(get "/a", get "/a", get("/b"))"#
    try await expectScript(again, [dying.url], prints: ["once\tonce cached\tnetwork_connection_lost"])
  }

  @Test func willCacheResponse() async throws {
    let server = try await Self.server()
    let script = #"""
      local order = {}
      local session = http.session({ cache = http.cache() }, {
        did_receive_data = function(_, _, data) order[#order + 1] = "data" end,
        will_cache_response = function(_, task, cached)
          order[#order + 1] = "cache"
          http.sleep(0)
          local path = task.original_request.url:match("/%a+$")
          if path == "/fresh" then return false end
          if path == "/gzip" then
            cached.data = cached.data:upper()
            cached.user_info = { seen = { 1, 2 } }
            cached.response.headers["X-Seen"] = "yes"
            return cached
          end
          cached.data = "not returned, so not meant"
        end,
        did_complete = function(_, _, err) order[#order + 1] = "complete" end,
      })
      local task = session:data_task(base .. "/fresh")
      task:resume()
      assert(task:wait())
      print(table.concat(order, " "))
      print(session:get(base .. "/fresh").from_cache)
      local before, after = session:get(base .. "/gzip"), session:get(base .. "/gzip")
      print(before.body, after.body, after.from_cache, after.headers["X-Seen"], after.headers["Content-Encoding"])
      print(session:get(base .. "/etag").body, session:get(base .. "/etag").body)
      local entry = session.configuration.cache:get(base .. "/gzip")
      print(entry.data, entry.user_info.seen[2], entry.storage, entry.response.status, entry.stored_at > 1e9)
      """#
    try await expectScript(
      script, [server.url],
      prints: [
        "data cache complete", "false", "packed\tPACKED\ttrue\tyes\tnil", "/etag 4\t/etag 4",
        "PACKED\t2\tallowed\t200\ttrue",
      ])
  }

  @Test func aHandlerThatFails() async throws {
    let server = try await Self.server()
    let script = #"""
      local session = http.session({ cache = http.cache() }, { will_cache_response = function() error("no") end })
      print(select(2, session:get(base .. "/fresh")).code)
      local odd = http.session({ cache = http.cache() }, { will_cache_response = function() return 1 end })
      print(select(2, odd:get(base .. "/fresh")).code)
      """#
    try await expectScript(script, [server.url], prints: ["handler_error", "handler_error"])
  }

  @Test("a body that was cut, refused or cancelled is not stored")
  func cutBodies() async throws {
    let server = try ScriptedServer { connection in
      guard let request = try connection.readRequest() else { return }
      let head = "HTTP/1.1 200 OK\r\nCache-Control: max-age=600\r\nContent-Length: 10\r\n\r\n"
      try connection.send(head + (request.target == "/whole" ? "0123456789" : "01234"))
    }
    let script = #"""
      local dont = { cache_policy = "return_cache_data_dont_load" }
      for _, path in ipairs { "/cut", "/whole" } do
        local r, err = http.get(base .. path)
        print(r and r.body or err.code, (http.get(base .. path, dont) or {}).body)
      end
      print(select(2, http.get(base .. "/whole", { max_body = 5 })).code)
      """#
    try await expectScript(
      script, [server.url],
      prints: ["network_connection_lost\tnil", "0123456789\t0123456789", "data_length_exceeds_maximum"])
  }

  @Test("the cache's own methods")
  func methods() async throws {
    let server = try await Self.server()
    let script = #"""
      local cache = http.cache { memory_capacity = 100000 }
      local session = http.session { cache = cache }
      print(cache.memory_capacity, cache.disk_capacity, cache.path, cache:get(base .. "/fresh"))
      assert(session:get(base .. "/fresh"))
      print(cache:get(base .. "/fresh").data, cache:get(http.request(base .. "/fresh#x")).data, cache.usage.memory > 0)
      print(cache:store({ response = { status = 203, headers = { ["Cache-Control"] = "max-age=9" } }, data = "own",
        user_info = "note" }, base .. "/own"))
      local r = session:get(base .. "/own")
      print(r.status, r.body, r.from_cache, cache:get(base .. "/own").user_info)
      print(cache:store({ response = { status = 200 }, data = ("x"):rep(200000) }, base .. "/large"))
      cache:remove(base .. "/own")
      print(cache:get(base .. "/own"), cache:get(base .. "/fresh") ~= nil)
      cache:remove_since(os.time() + 100)
      print(cache:get(base .. "/fresh") ~= nil)
      cache:remove_since(0)
      print(cache:get(base .. "/fresh"), cache.usage.memory)
      print(pcall(cache.store, cache, { data = "x" }, base))
      print(pcall(http.cache, { pth = "x" }))
      print(pcall(http.session, { cache = {} }))
      """#
    let result = try await runScript(script, [server.url])
    #expect(
      result.lines.prefix(9) == [
        "100000\t0\tnil\tnil", "/fresh 1\t/fresh 1\ttrue", "true", "203\town\ttrue\tnote", "false", "nil\ttrue", "true",
        "nil\t0", result.lines[8],
      ], "\(result)")
    #expect(result.stdout.contains("argument #1 of store needs a 'response'"), "\(result)")
    #expect(result.stdout.contains("did you mean 'path'?"), "\(result)")
    #expect(result.stdout.contains("configuration field 'cache' must be"), "\(result)")
  }

  @Test("users' responses are kept apart, also from what nobody in particular gets; public ones are everybody's")
  func users() async throws {
    let server = try ScriptedServer { request in
      let control = "max-age=600" + (request.path == "/public" ? ", public" : "")
      return Reply(fields: [("Cache-Control", control)], request["Authorization"] ?? "nobody")
    }
    let script = #"""
      local function show(path, token)
        local r = assert(http.get(base .. path, { auth = token and { bearer = token } }))
        print(r.body, r.from_cache)
      end
      for _, token in ipairs { "a", "b", "a" } do show("/", token) end
      show("/")
      show("/", "c")
      show("/")
      show("/public")
      show("/public", "a")
      """#
    try await expectScript(
      script, [server.url],
      prints: [
        "Bearer a\tfalse", "Bearer b\tfalse", "Bearer a\ttrue", "nobody\tfalse", "Bearer c\tfalse", "nobody\ttrue",
        "nobody\tfalse", "nobody\ttrue",
      ])
  }

  @Test("what varies with cookies varies with the stored ones, as they were sent")
  func storedCookies() async throws {
    let server = try ScriptedServer { request in
      let fields = [("Cache-Control", "max-age=600"), ("Vary", "Cookie"), ("Set-Cookie", "a=1")]
      return Reply(fields: fields, request["Cookie"] ?? "none")
    }
    let script = #"""
      local session = http.session(http.configuration.ephemeral())
      for _ = 1, 3 do
        local r = session:get(base)
        print(r.body, r.from_cache)
      end
      session.configuration.cookie_storage:clear()
      print(session:get(base).body, #session.configuration.cookie_storage:cookies())
      """#
    try await expectScript(script, [server.url], prints: ["none\tfalse", "a=1\tfalse", "a=1\ttrue", "none\t0"])
  }

  @Test("a session that sends its requests elsewhere has no part in what others find at a URL")
  func realms() async throws {
    let server = try ScriptedServer { request in
      Reply(fields: [("Cache-Control", "max-age=600")], request["Host"] ?? "")
    }
    let script = #"""
      local port = base:match("%d+$")
      local url = "http://a.test:" .. port
      local first = http.session { resolve = { ["a.test:" .. port] = "127.0.0.1" } }
      local second = http.session { resolve = { ["a.test:" .. port] = "127.0.0.1", ["b.test:1"] = "127.0.0.1" } }
      print(first:get(url).from_cache, first:get(url).from_cache, second:get(url).from_cache)
      first:post(url)
      print(first:get(url).from_cache, second:get(url).from_cache)
      """#
    try await expectScript(script, [server.url], prints: ["false\ttrue\tfalse", "false\ttrue"])
  }

  @Test("ranges are cut from what is stored; parts are put together and completed")
  func ranges() async throws {
    let text = "ABCDEFGHIJ"
    let server = try ScriptedServer { request in
      let fields = [("Cache-Control", "max-age=600"), ("ETag", "\"a\"")]
      guard let range = request["Range"]?.dropFirst("bytes=".count), request.target != "/whole" else {
        return Reply(fields: fields, text)
      }
      let bounds = range.split(separator: "-", omittingEmptySubsequences: false)
      let (first, last) = (Int(bounds[0]) ?? 0, Int(bounds[1]) ?? text.count - 1)
      let body = Array(text.utf8)[first...last]
      return Reply(
        status: "206 Partial Content", fields: fields + [("Content-Range", "bytes \(first)-\(last)/\(text.count)")],
        body: Array(body))
    }
    let script = #"""
      local function get(path, range)
        local r = assert(http.get(base .. path, { headers = { Range = range } }))
        print(r.status, r.body, r.from_cache, r.headers["Content-Range"])
      end
      get "/whole"
      get("/whole", "bytes=2-4")
      get("/whole", "bytes=-1")
      get("/part", "bytes=0-4")
      get("/part", "bytes=3-4")
      get "/part"
      get("/part", "bytes=8-")
      """#
    try await expectScript(
      script, [server.url],
      prints: [
        "200\tABCDEFGHIJ\tfalse\tnil", "206\tCDE\ttrue\tbytes 2-4/10", "206\tJ\ttrue\tbytes 9-9/10",
        "206\tABCDE\tfalse\tbytes 0-4/10", "206\tDE\ttrue\tbytes 3-4/10", "200\tABCDEFGHIJ\ttrue\tnil",
        "206\tIJ\ttrue\tbytes 8-9/10",
      ])
    #expect(server.lines == ["GET /whole", "GET /part", "GET /part"])
    #expect(server.requests.last?["Range"] == "bytes=5-" && server.requests.last?["If-Range"] == "\"a\"")
  }

  @Test("HEAD is answered from a stored GET, and brings it up to date; 504 where only the cache may be asked")
  func headAndOnlyIfCached() async throws {
    let server = try await Self.server()
    let script =
      Self.helper + #"""
        print(assert(http.get(base .. "/fresh", { headers = { ["Cache-Control"] = "only-if-cached" } })).status)
        print(get "/fresh")
        local head = assert(http.head(base .. "/fresh"))
        print(head.status, head.body, head.from_cache, head.headers["Content-Length"])
        print(get("/fresh", { headers = { ["Cache-Control"] = "only-if-cached" } }))
        print(get("/fresh", { headers = { ["Cache-Control"] = "no-cache" } }))
        """#
    try await expectScript(
      script, [server.url], prints: ["504", "/fresh 1", "200\t\ttrue\t8", "/fresh 1 cached", "/fresh 2"])
  }
}
