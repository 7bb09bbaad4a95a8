import TestSupport
import Testing

/// What a script may rely on of calls, requests and errors, sentence by sentence.
@Suite struct ContractTests {
  static func server() throws -> ScriptedServer {
    try ScriptedServer { request in
      switch request.path {
      case "/redirect": .redirect(to: "/final?x=1#new")
      case "/busy": Reply(status: "503 Busy", "busy")
      default: Reply(fields: [("Content-Type", "text/plain")], body: Array(request.line.utf8) + [10] + request.body)
      }
    }
  }

  /// Prints what a wrong call raises, without the directory of the script; on line 2 of a script.
  static let raised = """
    local function raised(...) print((tostring(select(2, pcall(...))):gsub("^.*script%.lua", "script.lua"))) end

    """

  static let calls = [
    ScriptCase(
      "credentials with a misspelt field are refused",
      raised + """
        raised(http.get, base, { auth = { user = "u", pasword = "p" } })
        raised(http.get, base, { auth = { bearer = "t", user = "u" } })
        raised(http.get, base, { auth = {} })
        """,
      prints: "script.lua:2: unknown option 'pasword' (did you mean 'password'?)",
      "script.lua:2: options 'auth.bearer' and 'auth.user' exclude each other",
      "script.lua:2: option 'auth.user' must be string, not nil"),
    ScriptCase(
      "a priority is from 0 to 1",
      """
      print((pcall(http.get, base, { priority = 1.5 })), (pcall(http.get, base, { priority = 0 / 0 })))
      print(assert(http.get(base, { priority = http.priority.high })).status)
      """, prints: "false\tfalse", "200"),
    ScriptCase(
      "any value can be sent as JSON",
      """
      for _, value in ipairs { json.null, false, 0, "", {}, json.array(), { 1 } } do
        print((assert(http.post(base, { json = value })).body:gsub("^.-\\n", "")))
      end
      """, prints: "null", "false", "0", "\"\"", "{}", "[]", "[1]"),
    ScriptCase(
      "map passes the item alone, so that a verb can be given as it is",
      """
      local results, failures = http.map({ base, "no url", base .. "/x" }, 2, http.get)
      print(results.n, results[1].status, results[2], results[3].status)
      print(failures[1], failures[2].code, failures[3])
      """, prints: "3\t200\tnil\t200", "nil\tbad_url\tnil"),
    ScriptCase(
      "what may only come from a cache never asks the network",
      """
      local r, err = http.get(base, { cache_policy = "return_cache_data_dont_load" })
      print(r, err.domain, err.code, err.task.state)
      local session = http.session { request_cache_policy = "return_cache_data_dont_load" }
      print(select(2, session:get(base)).code, select(2, session:get(base, { timeout = 5 })).code)
      local task = session:data_task(base)
      task:resume()
      print(select(2, task:wait()).code)
      """, prints: "nil\turl\tresource_unavailable\tcompleted", "resource_unavailable\tresource_unavailable",
      "resource_unavailable"),
    ScriptCase(
      "redirects: a number is the most, false delivers the redirect, and the fragment of the last counts",
      """
      local r = assert(http.get(base .. "/redirect#old"))
      print(r.url == base .. "/final?x=1#new", #r.redirects, r.redirects[1].status, r.redirects[1].url == r.url)
      local _, err = http.get(base .. "/redirect", { redirects = 0 })
      print(err.code, err.response.status)
      print(assert(http.get(base .. "/redirect", { redirects = false })).status)
      """, prints: "true\t1\t302\ttrue", "http_too_many_redirects\t302", "302"),
  ]

  static let errors = [
    ScriptCase(
      "an error is one line whatever the URL was",
      """
      local _, err = http.get("http://h/a\\r\\nX: y")
      print(err.code, tostring(err):find("%c"), err.task ~= nil)
      """, prints: "bad_url\tnil\ttrue"),
    ScriptCase(
      "an error knows its task, and the task its error",
      """
      local seen = {}
      for i, options in ipairs { { headers = { X = "a\\nb" } }, { max_body = 1 }, { timeout = 5, max_body = 1 } } do
        local _, err = http.get(base, options)
        print(err.code, err.task.error == err, err.task.state, seen[err.task.identifier])
        seen[err.task.identifier] = i
      end
      """, prints: "bad_url\ttrue\tcompleted\tnil", "data_length_exceeds_maximum\ttrue\tcompleted\tnil",
      "data_length_exceeds_maximum\ttrue\tcompleted\tnil"),
    ScriptCase(
      "an error in a script's function has the raised value, the URL and the response",
      """
      for _, options in ipairs { { progress = function() error({ 7 }) end }, { sink = function() error({ 7 }) end } } do
        local _, err = http.get(base .. "/busy", options)
        print(err.domain, err.code, err.value[1], err.url == base .. "/busy", err.response.status)
      end
      """, prints: "script\thandler_error\t7\ttrue\t503", "script\thandler_error\t7\ttrue\t503"),
  ]

  static let requests = [
    ScriptCase(
      "a request can be sent with options beside it, but not with those that are its own",
      raised + """
        local request = http.request { url = base .. "/busy", headers = { A = "b" } }
        local size = 0
        local r = assert(http.send(request, { sink = function(data) size = size + #data end, timeout = 5 }))
        print(r.status, r.body, size, request.timeout)
        raised(http.send, request, { json = 1 })
        raised(http.send, { url = base }, { timeout = 1 })
        """,
      prints: "503\tnil\t4\tnil", "script.lua:2: unknown option 'json'",
      "script.lua:2: argument #2 of send is for the options of a request"),
    ScriptCase(
      "a URL in parts is a URL",
      """
      local u = require("http.url").parse(base)
      u.path, u.query = "/a b", "c=d"
      print((assert(http.get(u)).body:match("%C*")), tostring(http.request(u)) == "GET " .. base .. "/a%20b?c=d")
      local file = require("http.url").parse("file:///etc/hosts")
      print(file.host, file.path, tostring(file))
      """, prints: "GET /a%20b?c=d\ttrue", "nil\t/etc/hosts\tfile:///etc/hosts"),
    ScriptCase(
      "a request refuses unknown fields and wrong types",
      raised + """
        local request = http.request(base)
        raised(function() request.timout = 1 end)
        raised(function() request.timeout = "1" end)
        request.timeout, request.method = 5, "PUT"
        print(request.timeout, request.method, tostring(request) == "PUT " .. base)
        """, prints: "script.lua:4: a request has no field 'timout' (did you mean 'timeout'?)",
      "script.lua:5: a request's 'timeout' must be number, not string", "5\tPUT\ttrue"),
    ScriptCase(
      "what became of a request is checked when it is sent",
      raised + """
        local function sent(name, value)
          local request = http.request { url = base, timeout = 1, cache_policy = "use_protocol_cache_policy", body = "" }
          request[name] = value
          raised(http.send, request)
        end
        sent("timeout", "x")
        sent("timeout", -1)
        sent("cache_policy", "use_protocol_cache")
        sent("body", 12)
        sent("url", nil)
        """,
      prints: "script.lua:2: a request's 'timeout' must be number, not string",
      "script.lua:2: a request's 'timeout' must be more than 0 seconds",
      "script.lua:2: unknown cache policy 'use_protocol_cache' (did you mean 'use_protocol_cache_policy'?)",
      "script.lua:2: a request's 'body' must be a string, a function or { file = path }, not number",
      "script.lua:2: a request's 'url' must be string, not nil"),
    ScriptCase(
      "a request has Apple's defaults",
      """
      local request = http.request(base)
      print(request.method, #request.headers, request.network_service_type, request.allows_cellular_access)
      print(request.http_should_handle_cookies, request.http_should_use_pipelining, request.body)
      """, prints: "GET\t0\tdefault\ttrue", "true\tfalse\tnil"),
    ScriptCase(
      "the curl command sends the same and hides secrets",
      """
      local request = http.request {
        url = base .. "/a[1]", method = "POST", body = "x", headers = { ["X-Api-Key"] = "k", Cookie = "c=1" },
      }
      print((request:curl():gsub(base, "")))
      print((request:curl { reveal = true }:gsub(base, "")))
      """,
      prints: "curl -X POST -H 'Cookie: ***' -H 'X-Api-Key: ***' -H Content-Type: --data-raw x --globoff '/a[1]'",
      "curl -X POST -H 'Cookie: c=1' -H 'X-Api-Key: k' -H Content-Type: --data-raw x --globoff '/a[1]'"),
  ]

  @Test(arguments: calls + errors + requests)
  func behaviour(_ scriptCase: ScriptCase) async throws {
    let server = try Self.server()
    try await check(scriptCase, server.url)
  }

  @Test("a policy that forbids to ask sends nothing")
  func cacheOnly() async throws {
    let server = try Self.server()
    let script = "print(select(2, http.get(base, { cache_policy = 'return_cache_data_dont_load' })).code)"
    try await expectScript(script, [server.url], prints: ["resource_unavailable"])
    #expect(server.requests.isEmpty)
  }

  @Test("modules beside a script are found from anywhere, behind Lua's own")
  func moduleBesideScript() async throws {
    let directory = try TemporaryDirectory()
    try directory.write("beside.lua", "return 'found'")
    try directory.write("main.lua", "print((require 'beside'))")
    var run = Executable(.none, arguments: [directory.path + "/main.lua"])
    run.directory = "/"
    let result = try await run.run()
    #expect(result.lines == ["found"], "\(result)")
  }

  @Test("a byte order mark may stand before the shell's line")
  func markBeforeShebang() async throws {
    let run = Executable(.file("\u{FEFF}#!/usr/bin/env httpscript\nprint(debug.getinfo(1, 'l').currentline)\n"))
    #expect(try await run.run().lines == ["2"])
  }
}
