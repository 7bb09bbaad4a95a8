import TestSupport
import Testing

/// The verbs, bodies and headers against a real HTTP service.
@Suite struct HttpbinTests {
  @Test(arguments: bodies + answers)
  func service(_ scriptCase: ScriptCase) async throws {
    try await check(scriptCase, try Httpbin.shared.get().url)
  }

  static let bodies = [
    ScriptCase(
      "every method reaches the service",
      """
      for _, method in ipairs { "get", "post", "put", "patch", "delete" } do
        local r = assert(http[method](base .. "/anything"))
        print(r.status, assert(r:json()).method)
      end
      print(assert(http.head(base .. "/get")).status, assert(http.options(base .. "/get")).headers.Allow ~= nil)
      print(assert(assert(http.send { url = base .. "/anything", method = "TRACE" })).status)
      """,
      prints: "200\tGET", "200\tPOST", "200\tPUT", "200\tPATCH", "200\tDELETE", "200\ttrue", "200"),
    ScriptCase(
      "query values are encoded and lists repeat",
      """
      local r = assert(http.get(base .. "/get?z=0", { query = { a = "b c&d=é", list = { 1, 2 } } }))
      local args = assert(r:json()).args
      print(args.a, args.list[1], args.list[2], args.z)
      """,
      prints: "b c&d=é\t1\t2\t0"),
    ScriptCase(
      "a form",
      """
      local r = assert(http.post(base .. "/post", { form = { name = "Zoë & co", n = "1", l = { "x", "y" } } }))
      local v = assert(r:json())
      print(v.form.name, v.form.n, v.form.l[1] .. v.form.l[2], v.headers["Content-Type"])
      """,
      prints: "Zoë & co\t1\txy\tapplication/x-www-form-urlencoded"),
    ScriptCase(
      "a JSON body",
      """
      local r = assert(http.post(base .. "/post", { json = { text = "ü", list = { 1, 2.5, json.null } } }))
      local v = assert(r:json())
      print(v.json.text, v.json.list[1], v.json.list[2], v.json.list[3] == json.null, v.headers["Content-Type"])
      """,
      prints: "ü\t1\t2.5\ttrue\tapplication/json"),
    ScriptCase(
      "a multipart body of fields and files",
      """
      local name = os.tmpname()
      local file <close> = assert(io.open(name, "wb"))
      file:write("from a file")
      file:close()
      local r = assert(http.post(base .. "/post", { multipart = {
        { name = "field", data = "plain" },
        { name = "inline", data = "in memory", filename = "a.txt", type = "text/plain" },
        { name = "disk", file = name },
      } }))
      os.remove(name)
      local v = assert(r:json())
      print(v.form.field, v.files.inline, v.files.disk)
      print(v.headers["Content-Type"]:match("^multipart/form%-data; boundary=") ~= nil)
      """,
      prints: "plain\tin memory\tfrom a file", "true"),
    ScriptCase(
      "string, reader and file bodies",
      """
      local name = os.tmpname()
      local file <close> = assert(io.open(name, "wb"))
      file:write("file body")
      file:close()
      local parts = { "read", "er ", "body" }
      local function reader() return table.remove(parts, 1) end
      for _, body in ipairs { "string body", { file = name }, reader } do
        print(assert(assert(http.put(base .. "/put", { body = body })):json()).data)
      end
      os.remove(name)
      """,
      prints: "string body", "file body", "reader body"),
    ScriptCase(
      "request headers",
      """
      local r = assert(http.get(base .. "/headers", { headers = { ["X-One"] = "1", ["X-Umlaut"] = "x;y" } }))
      local h = assert(r:json()).headers
      print(h["X-One"], h["X-Umlaut"], h["User-Agent"] ~= nil, h.Host == base:match("//(.*)"))
      """,
      prints: "1\tx;y\ttrue\ttrue"),
    ScriptCase(
      "a body with GET",
      """
      local r = assert(http.send { url = base .. "/anything", method = "GET", body = "q" })
      local v = assert(r:json())
      print(v.method, v.data)
      """,
      prints: "GET\tq"),
  ]

  static let answers = [
    ScriptCase(
      "every kind of status is a response",
      """
      for _, status in ipairs { 200, 201, 204, 304, 400, 404, 418, 500, 503 } do
        io.write(assert(http.get(base .. "/status/" .. status)).status, " ")
      end
      print()
      """,
      prints: "200 201 204 304 400 404 418 500 503 "),
    ScriptCase(
      "validate tells a good answer from a bad one",
      """
      print(assert(http.get(base .. "/uuid")):validate() ~= nil)
      local r, err = assert(http.get(base .. "/status/404")):validate()
      print(r, err.domain, err.code, err.response.status)
      print((assert(http.get(base .. "/html")):validate { type = "application/json" }))
      print(assert(http.get(base .. "/status/404")):validate { status = 404 } ~= nil)
      """,
      prints: "true", "nil\turl\tbad_server_response\t404", "nil", "true"),
    ScriptCase(
      "response headers ignore case and keep repeated fields",
      """
      local r = assert(http.get(base .. "/response-headers?X-A=1&X-A=2&X-B=b"))
      print(r.headers["x-b"], r.headers["X-B"], table.concat(r.headers:get_all("x-a"), "|"))
      local names = {}
      for name, value in pairs(r.headers) do
        if name:lower():match("^x%-") then names[#names + 1] = name .. "=" .. value end
      end
      print(table.concat(names, " "))
      """,
      prints: "b\tb\t1|2", "X-A=1 X-A=2 X-B=b"),
    ScriptCase(
      "gzip, deflate and brotli are decoded",
      """
      for _, coding in ipairs { "gzip", "deflate", "brotli" } do
        local v = assert(assert(http.get(base .. "/" .. coding)):json())
        print(coding, v.gzipped or v.deflated or v.brotli)
      end
      local r = assert(http.get(base .. "/gzip", { decompress = false }))
      print(r.body:byte(1), r.body:byte(2))
      """,
      prints: "gzip\ttrue", "deflate\ttrue", "brotli\ttrue", "31\t139"),
    ScriptCase(
      "a late answer and a timeout",
      """
      local t = http.now()
      local r, err = http.get(base .. "/delay/5", { timeout = 0.5 })
      print(r, err.domain, err.code, http.now() - t < 2)
      print(assert(http.get(base .. "/delay/1", { timeout = 8 })).status)
      """,
      prints: "nil\turl\ttimed_out\ttrue", "200"),
    ScriptCase(
      "stream arrives as JSON lines",
      """
      local parts = {}
      assert(http.get(base .. "/stream/5", { sink = function(chunk) parts[#parts + 1] = chunk end }))
      local n = 0
      for value in json.lines(function() return table.remove(parts, 1) end) do
        assert(value.id == n)
        n = n + 1
      end
      print(n)
      """,
      prints: "5"),
    ScriptCase(
      "bytes are exact",
      """
      local a = assert(http.get(base .. "/bytes/5000?seed=1")).body
      local b = assert(http.get(base .. "/stream-bytes/5000?seed=1&chunk_size=7")).body
      print(#a, #b, a == b)
      """,
      prints: "5000\t5000\ttrue"),
    ScriptCase(
      "drip arrives bit by bit",
      """
      local calls, total = 0, 0
      assert(http.get(base .. "/drip?numbytes=4&duration=1&delay=0", { sink = function(chunk)
        calls, total = calls + 1, total + #chunk
      end }))
      print(calls > 1, total)
      """,
      prints: "true\t4"),
    ScriptCase(
      "json decodes, reports and keeps the place of an error",
      """
      print(#assert(assert(http.get(base .. "/uuid")):json()).uuid)
      local v, err = assert(http.get(base .. "/html")):json()
      print(v, err.domain, err.line, tostring(err) ~= "" )
      """,
      prints: "36", "nil\tjson\t1\ttrue"),
    ScriptCase(
      "an HTML page can be asked for its parts",
      """
      local doc = assert(assert(http.get(base .. "/html")):html())
      print(doc:css_first("h1").text)
      """,
      prints: "Herman Melville - Moby-Dick"),
    ScriptCase(
      "what a response tells about itself",
      """
      local r = assert(http.get(base .. "/bytes/10?seed=1"))
      print(r.reason, r.http_version, r.url == base .. "/bytes/10?seed=1", r.mime_type, r.expected_content_length)
      print(r.from_cache, #r.redirects, r.suggested_filename)
      """,
      prints: "OK\t1.1\ttrue\tapplication/octet-stream\t10", "false\t0\t10"),
    ScriptCase(
      "save writes the body to a file",
      """
      local name = os.tmpname()
      assert(assert(http.get(base .. "/bytes/100?seed=3")):save(name))
      local file <close> = assert(io.open(name, "rb"))
      print(#file:read("a"))
      os.remove(name)
      """,
      prints: "100"),
  ]
}

/// Redirects and plain authentication against a real HTTP service.
@Suite struct HttpbinFlowTests {
  @Test(arguments: redirects + authentication)
  func service(_ scriptCase: ScriptCase) async throws {
    try await check(scriptCase, try Httpbin.shared.get().url)
  }

  static let redirects = [
    ScriptCase(
      "relative, absolute and plain redirects",
      """
      for _, kind in ipairs { "redirect", "relative-redirect", "absolute-redirect" } do
        local r = assert(http.get(base .. "/" .. kind .. "/3"))
        print(r.status, #r.redirects, r.url == base .. "/get")
      end
      """,
      prints: "200\t3\ttrue", "200\t3\ttrue", "200\t3\ttrue"),
    ScriptCase(
      "the hops are told in order",
      """
      local r = assert(http.get(base .. "/relative-redirect/2"))
      for _, hop in ipairs(r.redirects) do
        print(hop.status, (hop.from:gsub("^http://[^/]+", "")), (hop.to:gsub("^http://[^/]+", "")))
      end
      """,
      prints: "302\t/relative-redirect/2\t/relative-redirect/1", "302\t/relative-redirect/1\t/get"),
    ScriptCase(
      "303 turns a POST into GET, 307 and 308 keep it",
      """
      for _, status in ipairs { 301, 302, 303, 307, 308 } do
        local url = base .. "/redirect-to"
        local r = assert(http.post(url, { query = { url = "/anything", status_code = status }, body = "data" }))
        local v = assert(r:json())
        print(status, v.method, v.data)
      end
      """,
      prints: "301\tGET\t", "302\tGET\t", "303\tGET\t", "307\tPOST\tdata", "308\tPOST\tdata"),
    ScriptCase(
      "a limit, and none at all",
      """
      local r, err = http.get(base .. "/redirect/5", { redirects = 2 })
      print(r, err.code)
      local kept = assert(http.get(base .. "/redirect/5", { redirects = false }))
      print(kept.status, kept.headers.location)
      r, err = http.get(base .. "/redirect/30")
      print(r, err.code)
      """,
      prints: "nil\thttp_too_many_redirects", "302\t/relative-redirect/4", "nil\thttp_too_many_redirects"),
  ]

  static let authentication = [
    ScriptCase(
      "Basic is sent at once",
      """
      local url = base .. "/basic-auth/us%20er/pa%3Ass"
      print(assert(http.get(url)).status)
      print(assert(http.get(url, { auth = { user = "us er", password = "pa:ss" } })).status)
      print(assert(http.get(url, { auth = { user = "us er", password = "wrong" } })).status)
      print(assert(http.get((base:gsub("//", "//user:word@")) .. "/basic-auth/user/word")).status)
      print(assert(http.get(base .. "/hidden-basic-auth/u/p", { auth = { user = "u", password = "p" } })).status)
      """,
      prints: "401", "200", "401", "200", "200"),
    ScriptCase(
      "Digest in each algorithm and both qualities of protection",
      """
      for _, algorithm in ipairs { "MD5", "SHA-256", "SHA-512" } do
        local url = base .. "/digest-auth/auth/user/word/" .. algorithm
        -- A session of its own: what one has been let in with holds for the whole server.
        local session = http.session(http.configuration.ephemeral())
        print(algorithm, assert(session:get(url, { auth = { user = "user", password = "word", scheme = "digest" } })).status)
      end
      local bad = { user = "user", password = "bad", scheme = "digest" }
      print(assert(http.get(base .. "/digest-auth/auth/user/word", { auth = bad })).status)
      """,
      prints: "MD5\t200", "SHA-256\t200", "SHA-512\t401", "401"),
    ScriptCase(
      "any asks the server first",
      """
      local auth = { user = "user", password = "word", scheme = "any" }
      print(assert(http.get(base .. "/digest-auth/auth/user/word", { auth = auth })).status)
      print(assert(http.get(base .. "/basic-auth/user/word", { auth = auth })).status)
      """,
      prints: "200", "200"),
    ScriptCase(
      "bearer",
      """
      local v = assert(assert(http.get(base .. "/bearer", { auth = { bearer = "t0ken" } })):json())
      print(v.authenticated, v.token)
      """,
      prints: "true\tt0ken"),
  ]
}
