import Foundation
import TestSupport
import Testing

/// `http.cookie_storage`, and the stores that outlive a run.
@Suite struct CookieStorageTests {
  static func server() throws -> ScriptedServer {
    try ScriptedServer { request in
      request.target == "/set"
        ? Reply(fields: [("Set-Cookie", "kept=1; Path=/; Max-Age=1000"), ("Set-Cookie", "passing=1; Path=/")])
        : Reply(request["Cookie"] ?? "none")
    }
  }

  /// One run after another with the same home.
  static func runs(_ scripts: [String], _ origin: String, home: TemporaryDirectory) async throws -> [[String]] {
    var lines: [[String]] = []
    for script in scripts {
      let result = try await runScript(script, [origin]) { $0.environment = ["XDG_STATE_HOME": home.path] }
      #expect(result.ending == .exited(0), "\(result)")
      #expect(result.stderr == "", "\(result)")
      lines.append(result.lines)
    }
    return lines
  }

  @Test("default sessions remember between runs, ephemeral ones do not")
  func persistence() async throws {
    let home = try TemporaryDirectory()
    let server = try Self.server()
    let get = "print(assert(http.get(base)).body)"
    let lines = try await Self.runs(
      [
        get, "assert(http.session(http.configuration.ephemeral()):get(base .. '/set'))", get,
        "assert(http.get(base .. '/set'))" + get, get,
        "print(assert(http.session(http.configuration.ephemeral()):get(base)).body)",
        "local s = http.session() print(#s.configuration.cookie_storage:cookies()) s:reset()"
          + " print(#s.configuration.cookie_storage:cookies())", get,
      ], server.url, home: home)
    #expect(
      lines == [
        ["none"], [], ["none"], ["kept=1; passing=1"], ["kept=1"], ["none"], ["1", "0"], ["none"],
      ])
    let mode = try FileManager.default.attributesOfItem(atPath: home.path + "/httpscript/cookies.sqlite")
    #expect(mode[.posixPermissions] as? Int == 0o600)
  }

  @Test("without a home, or with one that cannot be written, cookies are kept in memory with one warning")
  func homeless() async throws {
    let server = try Self.server()
    let script = "assert(http.get(base .. '/set')) print(assert(http.get(base)).body)"
    let file = try TemporaryDirectory().path
    for home in [nil, "/proc/nowhere", file + "/x"] as [String?] {
      // A file where the directory should be.
      if home?.hasPrefix("/tmp") == true { _ = FileManager.default.createFile(atPath: file, contents: nil) }
      let result = try await expectScript(script, [server.url], prints: ["kept=1; passing=1"]) {
        $0.usesBareEnvironment = true
        $0.environment = home.map { ["HOME": $0] } ?? [:]
      }
      let lines = result.stderr.split(separator: "\n")
      #expect(lines.count == 1 && lines[0].hasPrefix("httpscript: warning: "), "\(result)")
    }
    try? FileManager.default.removeItem(atPath: file)
  }

  @Test("a damaged file is set aside and requests go on", arguments: ["text", "newer"])
  func damage(kind: String) async throws {
    let home = try TemporaryDirectory()
    let server = try Self.server()
    let set = "assert(http.get(base .. '/set'))"
    _ = try await Self.runs([set], server.url, home: home)
    let file = home.path + "/httpscript/cookies.sqlite"
    switch kind {
    case "text": try Data(String(repeating: "no database ", count: 500).utf8).write(to: URL(fileURLWithPath: file))
    default:
      // The version stands at byte 60.
      var bytes = try Data(contentsOf: URL(fileURLWithPath: file))
      bytes.replaceSubrange(60..<64, with: [0, 0, 0, 99])
      try bytes.write(to: URL(fileURLWithPath: file))
    }
    try? FileManager.default.removeItem(atPath: file + "-wal")
    let result = try await runScript(set + " print(assert(http.get(base)).body)", [server.url]) {
      $0.environment = ["XDG_STATE_HOME": home.path]
    }
    #expect(result.lines == ["kept=1; passing=1"], "\(result)")
    #expect(result.stderr.split(separator: "\n").count == 1, "\(result)")
    #expect(result.stderr.hasPrefix("httpscript: warning: cookie storage"), "\(result)")
    #expect(FileManager.default.fileExists(atPath: file + ".damaged") == (kind != "newer"))
  }

  static let storages = [
    ScriptCase(
      "cookies are listed in the order of sending, with their fields",
      """
      local storage = http.cookie_storage()
      local url = "https://www.example.com/a/b"
      for _, line in ipairs { "x=1; Path=/", "y=2; Path=/a; Secure; HttpOnly; SameSite=Strict", "z=3; Path=/; Domain=example.com" } do
        assert(storage:set(line, url))
      end
      for _, c in ipairs(storage:cookies(url)) do
        print(c.name, c.value, c.domain, c.path, c.expires, c.secure, c.http_only, c.same_site, c.host_only)
      end
      print(#storage:cookies(), #storage:cookies("http://www.example.com/"), #storage:cookies("https://example.com/"))
      print(math.abs(storage:cookies()[1].created - os.time()) < 60, storage:cookies(url)[1])
      """,
      prints: "y\t2\twww.example.com\t/a\tnil\ttrue\ttrue\tstrict\ttrue",
      "x\t1\twww.example.com\t/\tnil\tfalse\tfalse\tnil\ttrue", "z\t3\texample.com\t/\tnil\tfalse\tfalse\tnil\tfalse",
      "3\t2\t1", "true\thttp.cookie: y=*** (www.example.com/a)"),
    ScriptCase(
      "a cookie that is refused says why, and its value to nobody",
      """
      local storage = http.cookie_storage()
      for _, line in ipairs { "secret=1; Domain=com", "secret=1; Secure", "__Host-a=secret", "secret=1; Domain=other.test" } do
        local kept, err = storage:set(line, "http://www.example.com/")
        print(kept, err.domain, err.code, (tostring(err):find("secret", 1, true)))
      end
      print((pcall(storage.set, storage, "a=1")), (pcall(storage.set, storage, { value = 1 }, "http://h.test/")))
      print((select(2, pcall(storage.set, storage, { name = "a", vlaue = "1" }, "http://h.test/")):match("unknown.*")))
      print(select(2, storage:set({ name = "a;b", value = "1" }, "http://h.test/")).code)
      """,
      prints: "nil\tcookie\tcookie_refused\tnil", "nil\tcookie\tcookie_refused\tnil",
      "nil\tcookie\tcookie_refused\tnil",
      "nil\tcookie\tcookie_refused\tnil", "false\tfalse", "unknown option 'vlaue' (did you mean 'value'?)",
      "cookie_refused"),
    ScriptCase(
      "cookies can be deleted, by name and since a time",
      """
      local storage = http.cookie_storage()
      storage:set({ name = "old", value = "1", created = 1000 }, "http://h.test/")
      storage:set({ name = "new", value = "1", created = 2000 }, "http://h.test/")
      print(storage:remove_since(1500), storage:cookies()[1].name)
      storage:set({ name = "gone", value = "1", expires = 1 }, "http://h.test/")
      print(#storage:cookies(), storage:delete(storage:cookies()[1]), storage:delete { name = "old", domain = "h.test" })
      storage:set("a=1", "http://h.test/")
      print(storage:clear(), #storage:cookies())
      """, prints: "1\told", "1\ttrue\tfalse", "1\t0"),
    ScriptCase(
      "Netscape files and JSON, out and in again",
      """
      local storage = http.cookie_storage()
      local url = "https://www.example.com/a"
      storage:set("x=1; Path=/; Max-Age=1000; Domain=example.com; HttpOnly", url)
      storage:set("y=\\"2\\"; Secure; SameSite=Lax", url)
      for _, format in ipairs { "netscape", "json" } do
        local name = os.tmpname()
        print(storage:export(name, format))
        local other = http.cookie_storage()
        print(other:import(name))
        local seen = {}
        for _, c in ipairs(other:cookies(url)) do
          seen[#seen + 1] = ("%s=%s %s %s %s %s %s"):format(c.name, c.value, c.domain, c.path, c.http_only, c.secure, c.host_only)
        end
        print(table.concat(seen, ", "))
        print(select(2, http.cookie_storage { path = name }).code)
        os.remove(name)
      end
      print(select(2, storage:import("/nowhere")).code, (pcall(storage.export, storage, "x", "xml")))
      """,
      prints: "2", "2", "x=1 example.com / true false false, y=\"2\" www.example.com / false true true",
      "cannot_open_file", "2", "2", "x=1 example.com / true false false, y=\"2\" www.example.com / false true true",
      "cannot_open_file", "file_does_not_exist\tfalse"),
    ScriptCase(
      "a file that curl wrote",
      """
      local name = os.tmpname()
      local file = assert(io.open(name, "w"))
      file:write("# Netscape HTTP Cookie File\\n# https://curl.se/docs/http-cookies.html\\n\\n",
        "#HttpOnly_.example.com\\tTRUE\\t/\\tFALSE\\t4102444800\\tsid\\tv1\\n",
        "127.0.0.1\\tFALSE\\t/p/\\tTRUE\\t0\\tempty\\t\\n", "broken line\\n")
      file:close()
      local storage = http.cookie_storage()
      print(storage:import(name))
      for _, c in ipairs(storage:cookies()) do print(c.domain, c.path, c.name, c.value, c.expires, c.host_only) end
      os.remove(name)
      """, prints: "2", "127.0.0.1\t/p/\tempty\t\tnil\ttrue", "example.com\t/\tsid\tv1\t4102444800.0\tfalse"),
    ScriptCase(
      "no cookie that a script or a file brings is for all of a public suffix",
      """
      local storage = http.cookie_storage()
      for _, domain in ipairs { "com", ".com", "CO.UK", "localhost" } do
        local kept, err = storage:set { name = "a", value = "secret", domain = domain }
        print(kept, err.code, (tostring(err):find("secret", 1, true)))
      end
      print(storage:set({ name = "a", value = "1", domain = "localhost" }, "http://localhost/").host_only,
        storage:set({ name = "a", value = "1", domain = "github.io", host_only = true }).host_only, storage:clear())
      local name = os.tmpname()
      for _, text in ipairs {
        (".com TRUE / FALSE 0 a 1\\n.co.uk TRUE / FALSE 0 a 1\\n.example.com TRUE / FALSE 0 b 1\\n"):gsub(" ", "\\t"),
        '[{"name":"a","value":"1","domain":"com","host_only":false},{"name":"b","value":"1","domain":"example.com"}]',
      } do
        local file = assert(io.open(name, "w"))
        file:write(text)
        file:close()
        print(storage:import(name), #storage:cookies("http://www.example.com/"), storage:clear())
      end
      os.remove(name)
      """,
      prints: "nil\tcookie_refused\tnil", "nil\tcookie_refused\tnil", "nil\tcookie_refused\tnil",
      "nil\tcookie_refused\tnil", "true\ttrue\t2", "1\t1\t1", "1\t1\t1"),
    ScriptCase(
      "JSON keeps when cookies were made, and so the order of sending",
      """
      local storage, url = http.cookie_storage(), "http://www.example.com/"
      -- The file has them by domain.
      for i, domain in ipairs { "www.example.com", "example.com", "www.example.com" } do
        storage:set { name = "c" .. i, value = "1", domain = domain, created = 1700000000.25 + i / 8 }
      end
      local name = os.tmpname()
      storage:export(name, "json")
      local other = http.cookie_storage()
      print(other:import(name))
      for _, c in ipairs(other:cookies(url)) do print(c.name, ("%.3f"):format(c.created)) end
      os.remove(name)
      """, prints: "3", "c1\t1700000000.375", "c2\t1700000000.500", "c3\t1700000000.625"),
    ScriptCase(
      "what holds no cookies is no empty file",
      """
      local storage, name = http.cookie_storage(), os.tmpname()
      for _, text in ipairs {
        "", "\\n# only words\\n\\n", "[]", ("\\0\\xFF"):rep(1000), '{"a":', '{"a":1}', '["secret" x]', "just words\\n",
      } do
        local file = assert(io.open(name, "wb"))
        file:write(text)
        file:close()
        local count, err = storage:import(name)
        print(count, err and err.domain, err and err.code, (tostring(err):find("secret", 1, true)))
      end
      os.remove(name)
      """,
      prints: "0\tnil\tnil\tnil", "0\tnil\tnil\tnil", "0\tnil\tnil\tnil", "nil\tfile\tcannot_parse_response\tnil",
      "nil\tfile\tcannot_parse_response\tnil", "nil\tfile\tcannot_parse_response\tnil",
      "nil\tfile\tcannot_parse_response\tnil", "nil\tfile\tcannot_parse_response\tnil"),
    ScriptCase(
      "a file that is no storage is left alone",
      """
      local name = os.tmpname()
      local file = assert(io.open(name, "w"))
      file:write("my notes\\n")
      file:close()
      local storage, err = http.cookie_storage { path = name }
      print(storage, err.domain, err.code)
      print(io.open(name):read("a") == "my notes\\n", io.open(name .. ".damaged") == nil)
      os.remove(name)
      """, prints: "nil\tfile\tcannot_open_file", "true\ttrue"),
    ScriptCase(
      "a storage in a file is there for the next one, and a configuration takes it",
      """
      local name = os.tmpname()
      os.remove(name)
      assert(http.cookie_storage { path = name }:set("a=1; Max-Age=100", "http://127.0.0.1/"))
      local storage = assert(http.cookie_storage { path = name })
      local c = http.configuration.ephemeral { cookie_storage = storage }
      print(c.cookie_storage == storage, http.session(c).configuration.cookie_storage == storage)
      print(#storage:cookies(), storage.path == name, tostring(storage) == "http.cookie_storage: " .. name)
      print((pcall(http.configuration.default, { cookie_storage = {} })))
      for _, suffix in ipairs { "", "-wal", "-shm" } do os.remove(name .. suffix) end
      """, prints: "true\ttrue", "1\ttrue\ttrue", "false"),
  ]

  @Test(arguments: storages)
  func storage(scriptCase: ScriptCase) async throws { try await check(scriptCase, "") }
}
