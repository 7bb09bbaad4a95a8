import TestSupport
import Testing

/// Checksums that a script gives, digests that a server sends, and limits on how fast it all may go.
@Suite struct IntegrityTests {
  static let sha256 = "84d89877f0d4041efb6bf91a16f0248f2fd573e6af05c19f96bedb9f882f7882"
  static let base64 = "hNiYd/DUBB77a/kaFvAkjy/Vc+avBcGflr7bn4gveII="
  static let wrong = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="

  static func server() throws -> ScriptedServer {
    try ScriptedServer { request in
      let body = "0123456789"
      switch request.path {
      case "/SHA256SUMS":
        return Reply("\(String(repeating: "0", count: 64))  other.bin\n\(sha256) *file.bin\n")
      case "/file.bin.md5": return Reply("781e5e245d69b566979b86e28d23f2c7\n")
      case "/BSD": return Reply("SHA1 (file.bin) = 87acec17cd9dcd20a716cc2cf67417b71c8a7016\n")
      case "/empty.sums": return Reply("nothing of use\n")
      case "/repr": return Reply(fields: [("Repr-Digest", "sha-256=:\(base64):")], body)
      case "/repr-wrong": return Reply(fields: [("Repr-Digest", "sha-256=:\(wrong):")], body)
      case "/content-wrong": return Reply(fields: [("Content-Digest", "md5=:AAAAAAAAAAAAAAAAAAAAAA==:")], body)
      case "/old": return Reply(fields: [("Digest", "MD5=eB5eJF1ptWaXm4bijSPyxw==,SHA-256=\(base64)")], body)
      case "/old-wrong": return Reply(fields: [("Digest", "SHA-256=\(wrong)")], body)
      case "/unknown": return Reply(fields: [("Repr-Digest", "sha-3=:AAAA:"), ("Digest", "crc32c=1")], body)
      case "/part":
        return Reply(
          status: "206 Partial Content",
          fields: [("Content-Range", "bytes 0-9/20"), ("Repr-Digest", "sha-256=:\(wrong):")], body)
      case "/missing": return Reply(status: "404 Not Found", "no such page")
      case "/coding": return Reply(request["Accept-Encoding"] ?? "none")
      default: return Reply(body)
      }
    }
  }

  static let cases = [
    ScriptCase(
      "a right checksum, of each algorithm, to a file and in memory",
      """
      local path = os.tmpname()
      for _, sum in ipairs {
        "md5:781e5e245d69b566979b86e28d23f2c7", "SHA1:87acec17cd9dcd20a716cc2cf67417b71c8a7016",
        "sha256:\(sha256)", "sha-256:\(sha256.uppercased())",
        "sha512:bb96c2fc40d2d54617d6f276febe571f623a8dadf0b734855299b0e107fda32c"
          .. "f6b69f2da32b36445d73690b93cbd0f7bfc20e0f7f28553d2a4428f23b716e90",
      } do
        assert(http.get(base .. "/file.bin", { checksum = sum, sink = path }))
        print(assert(http.get(base .. "/file.bin", { checksum = sum })).body)
      end
      os.remove(path)
      """, prints: "0123456789", "0123456789", "0123456789", "0123456789", "0123456789"),
    ScriptCase(
      "a wrong one is an error, and no file",
      """
      local path = os.tmpname()
      io.open(path, "w"):write("old"):close()
      local sum = "sha256:" .. ("0"):rep(64)
      local r, err = http.get(base .. "/file.bin", { checksum = sum, sink = path })
      print(r, err.code, err.message:find("\(sha256)", 1, true) ~= nil, io.open(path):read("a"))
      print(io.open((path:gsub("[^/]*$", ".%0.httpscript-part"))))
      print(select(2, http.get(base .. "/file.bin", { checksum = sum })).code)
      print(assert(http.get(base .. "/missing", { checksum = sum })).status)
      os.remove(path)
      """,
      prints: "nil\tchecksum_mismatch\ttrue\told", "nil\t.*", "checksum_mismatch", "404"),
    ScriptCase(
      "from a file of checksums, by URL or path",
      """
      local path = os.tmpname()
      io.open(path, "w"):write("\(sha256)  file.bin\\n"):close()
      for _, sum in ipairs { base .. "/SHA256SUMS", base .. "/file.bin.md5", base .. "/BSD", path } do
        print(assert(http.get(base .. "/dir/file.bin?x=1", { checksum = sum })).body)
      end
      print(select(2, http.get(base .. "/other.bin", { checksum = base .. "/SHA256SUMS" })).code)
      print(select(2, http.get(base .. "/none.bin", { checksum = base .. "/SHA256SUMS" })).code)
      print(select(2, http.get(base .. "/file.bin", { checksum = base .. "/missing" })).code)
      print(select(2, http.get(base .. "/file.bin", { checksum = "/no/such/file" })).code)
      os.remove(path)
      """,
      prints: "0123456789", "0123456789", "0123456789", "0123456789", "checksum_mismatch", "resource_unavailable",
      "bad_server_response", "file_does_not_exist"),
    ScriptCase(
      "digests that the server sends are verified",
      """
      for _, name in ipairs { "repr", "repr-wrong", "content-wrong", "old", "old-wrong", "unknown", "part" } do
        local r, err = http.get(base .. "/" .. name)
        print(name, r and r.body, err and err.code)
      end
      print(assert(http.head(base .. "/repr-wrong")).status)
      """,
      prints: "repr\t0123456789\tnil", "repr-wrong\tnil\tchecksum_mismatch", "content-wrong\tnil\tchecksum_mismatch",
      "old\t0123456789\tnil", "old-wrong\tnil\tchecksum_mismatch", "unknown\t0123456789\tnil",
      "part\t0123456789\tnil", "200"),
    ScriptCase(
      "content codings are not asked for with a checksum; wrong use is told",
      """
      local _, err = http.get(base .. "/coding", { checksum = "md5:" .. ("0"):rep(32) })
      print(err.code)
      for _, sum in ipairs { "sha256:00", "sha3:00" } do
        local ok, message = pcall(http.get, base, { checksum = sum })
        print(ok, (message:gsub("^.-: ", "")))
      end
      local ok, message = pcall(http.get, base, { rate_limit = 0 })
      print(ok, (message:gsub("^.-: ", "")))
      """,
      prints: "checksum_mismatch", "false\toption 'checksum': a sha256 has 64 hexadecimal digits, not 2",
      "false\tunknown checksum 'sha3' (did you mean 'sha1'?)",
      "false\toption 'rate_limit': 'receive' must be more than 0 bytes a second"),
  ]

  @Test(arguments: cases)
  func behaviour(_ scriptCase: ScriptCase) async throws {
    let server = try Self.server()
    let result = try await runScript(scriptCase.script, [server.url])
    #expect(result.lines.count == scriptCase.prints.count, "\(result)")
    for (line, wanted) in zip(result.lines, scriptCase.prints) {
      #expect(wanted.hasSuffix(".*") ? line.hasPrefix(wanted.dropLast(2)) : line == wanted, "\(result)")
    }
    #expect(result.ending == .exited(0), "\(result)")
    if scriptCase.name.hasPrefix("content codings") { #expect(server.requests[0]["Accept-Encoding"] == "identity") }
  }

  @Test("a part that nobody asked for is not taken for the file")
  func unaskedPart() async throws {
    let server = try ScriptedServer { request in
      let isWhole = request.path == "/whole"
      return Reply(
        status: "206 Partial Content",
        fields: [("ETag", "\"1\""), ("Content-Range", "bytes \(isWhole ? 0 : 2)-9/10")],
        isWhole ? "0123456789" : "23456789")
    }
    let directory = try TemporaryDirectory()
    let script = """
      for _, given in ipairs { {}, { resume = true }, { segments = 2 } } do
        given.sink = arg[2] .. "/out"
        local r, err = http.get(base .. "/part", given)
        print(r, err.code, io.open(given.sink))
      end
      print(assert(http.get(base .. "/whole", { sink = arg[2] .. "/out" })).status)
      """
    let line = "nil\tbad_server_response\tnil\t\(directory.path)/out: No such file or directory\t2"
    try await expectScript(script, [server.url, directory.path], prints: [line, line, line, "206"])
    #expect(directory.read("out") == Array("0123456789".utf8))
  }

  @Test("limits hold in both directions, for one task and for a session's together")
  func rates() async throws {
    let server = try ScriptedServer { request in
      request.method == "GET" ? Reply(body: Array(repeating: 1, count: 600_000)) : Reply("\(request.body.count)")
    }
    let script = """
      local body = ("x"):rep(600000)
      local function time(fn, ...)
        local start = http.now()
        fn(...)
        return http.now() - start
      end
      local function check(name, seconds) print(name, seconds >= 0.95 and seconds < 4 or seconds) end
      check("receive", time(function() assert(http.get(base, { rate_limit = 600000 })) end))
      check("send", time(function() assert(http.post(base, { body = body, rate_limit = { send = 600000 } })) end))
      check("small", time(function() assert(http.post(base, { body = ("x"):rep(3000), rate_limit = 3000 })) end))
      local session = http.session(http.configuration.ephemeral { rate_limit = { receive = 1200000, send = 1200000 } })
      check("session", time(function()
        http.map({ 1, 2 }, 2, function() assert(session:get(base)) end)
      end))
      check("session sends", time(function()
        http.map({ 1, 2 }, 2, function() assert(session:put(base, { body = body })) end)
      end))
      check("none", 1 + time(function() assert(http.get(base)) end))
      local r = assert(http.get(base, { rate_limit = 300000, timeout = 0.7 }))
      print(#r.body)
      """
    try await expectScript(
      script, [server.url],
      prints: [
        "receive\ttrue", "send\ttrue", "small\ttrue", "session\ttrue", "session sends\ttrue", "none\ttrue", "600000",
      ])
  }
}
