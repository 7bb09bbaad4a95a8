import Foundation
import TestSupport
import Testing

/// Secrets stand where they belong and nowhere else: not in traces, errors, texts of objects, resume data or other files.
@Suite struct SecretsTests {
  /// Each secret begins with this, and none is written in the script.
  private static let mark = "s3cr3t-"

  private static func server() throws -> ScriptedServer {
    try ScriptedServer { connection in
      while let request = try connection.readRequest() {
        try connection.send(reply(to: request), to: request)
        // What was promised does not come.
        if request.path == "/file" { return }
      }
    }
  }

  private static func reply(to request: ReceivedRequest) -> Reply {
    let user = "v:\(mark)location@"
    switch request.path {
    case "/auth" where request["Authorization"] == nil:
      return Reply(status: "401 No", fields: [("WWW-Authenticate", "Basic realm=\"r\"")], "out")
    case "/digest" where request["Authorization"] == nil:
      return Reply(status: "401 No", fields: [("WWW-Authenticate", "Digest realm=\"r\", nonce=\"n\"")], "out")
    case "/set": return Reply(fields: [("Set-Cookie", "sid=\(mark)cookie; HttpOnly; Max-Age=1000")], "set")
    case "/loop": return .redirect(to: "http://\(user)\(request["Host"] ?? "")/loop")
    case "/bad": return .redirect(to: "http://\(user)h h/")
    case "/file":
      let fields = [("ETag", "\"1\""), ("Accept-Ranges", "bytes"), ("Content-Length", "9000000")]
      return Reply(fields: fields, body: [UInt8](repeating: 7, count: 200_000))
    default: return Reply(fields: [("Cache-Control", "max-age=600"), ("Vary", "Authorization, Cookie")], "in")
    }
  }

  private static let script = #"""
    local mark, dead, netrc = arg[2], arg[3], arg[4]
    local function show(...)
      local list = table.pack(...)
      for i = 1, list.n do print(tostring(list[i])) end
    end
    local function get(session, target, options)
      local response, err = session:get(target:find("^http") and target or base .. target, options)
      show(response, err, err and err.message, err and err.url, err and err.underlying and err.underlying.message)
      return response
    end
    local shared = http.shared
    -- What goes along with one call.
    for _, auth in ipairs { { user = "u", password = mark .. "basic" }, { bearer = mark .. "bearer" },
      { user = "u", password = mark .. "any", scheme = "any" }, { user = "u", password = mark .. "digest", scheme = "digest" } } do
      for _, target in ipairs { "/a", "/auth", "/digest", "/loop", "/bad", dead } do get(shared, target, { auth = auth }) end
      show(pcall(shared.get, shared, base, { auth = { user = "u", pasword = auth.password or auth.bearer } }))
    end
    local fields = { Authorization = "Basic " .. mark .. "field", Cookie = "a=" .. mark .. "hand", ["X-Api-Key"] = mark .. "key",
      ["Proxy-Authorization"] = "Basic " .. mark .. "proxyfield" }
    get(shared, "/a", { headers = fields })
    local request = http.request { url = "http://u:" .. mark .. "url@h.test/", headers = fields }
    show(request, request:curl())
    -- URLs, good and bad.
    for _, rest in ipairs { "127.0.0.1:1/", "h h/", "h\n/", "[::1/", "", "h:99999/", "xn--a-\xff/", "h/#@" } do
      for _, scheme in ipairs { "http://", "foo://", "ftp://", "file://", "http:", "http:///", "" } do
        get(shared, scheme .. "u:" .. mark .. "url@" .. rest)
      end
    end
    get(shared, "http://u:" .. mark .. "a#b@h/")
    get(shared, (base:gsub("//", "//u:" .. mark .. "sent@")) .. "/auth")
    -- Stores.
    get(shared, "/set")
    get(shared, "/a")
    for _, cookie in ipairs(shared.configuration.cookie_storage:cookies()) do show(cookie) end
    show(http.cookie_storage():set("a=" .. mark .. "refused; Domain=com", "http://h.test/"))
    local function storing(storage, delegate)
      local session = http.session({ credential_storage = storage }, delegate)
      get(session, "/auth")
      show(session, session.configuration, session.configuration.credential_storage)
      for _, one in ipairs(session.configuration.credential_storage:credentials { host = "127.0.0.1" }) do show(one) end
    end
    for _, persistence in ipairs { "none", "for_session", "permanent" } do
      local credential = http.credential { user = "u", password = mark .. persistence, persistence = persistence }
      show(credential, http.credential { token = mark .. "token" })
      storing(nil, { did_receive_challenge = function(_, task, challenge)
        show(task, challenge, challenge.protection_space, challenge.proposed_credential)
        return "use_credential", credential
      end })
    end
    storing(http.credential_storage { netrc = netrc })
    storing(http.credential_storage { credential_command = { "printf", "username=u\npassword=" .. mark .. "command\n" } })
    storing(http.credential_storage { credential_command = { "sh", "-c", "echo " .. mark .. "output; exit 3" } })
    show(pcall(http.credential, { user = "u", pasword = mark .. "misspelt" }), pcall(http.credential, { user = "u", password = mark .. "\xff" }))
    -- Proxies and certificates.
    for _, port in ipairs { "1", "99999", "x" } do
      local ok, session = pcall(http.session, { connection_proxy = "http://u:" .. mark .. "proxy@127.0.0.1:" .. port })
      show(session)
      if ok then get(session, "http://h.test/") end
    end
    local own = { connection_proxy = { url = dead, user = "u", password = mark .. "proxy2" } }
    get(http.session(own), "http://h.test/")
    for _, file in ipairs { "/nowhere", netrc } do
      local session = http.session { client_certificate = { certificate = file, key = file, password = mark .. "keypass" } }
      show(session.configuration, session.configuration.client_certificate)
      get(session, "https://127.0.0.1:1/")
    end
    -- Resume data.
    local task = shared:download_task { url = base .. "/file", headers = fields }
    task:resume()
    local _, err = task:wait()
    show(err, err and err.resume_data and #err.resume_data > 10, err and err.resume_data)
    shared:flush()
    error(http.credential { user = "u", password = mark .. "raised" })
    """#

  @Test("of passwords, tokens, cookies and keys nothing is to be seen")
  func nowhere() async throws {
    let server = try Self.server()
    let home = try TemporaryDirectory()
    let netrc = try TemporaryDirectory()
    let netrcFile = try netrc.write("netrc", "machine 127.0.0.1 login u password \(Self.mark)netrc\n")
    chmod(netrcFile, 0o600)
    let dead = "http://127.0.0.1:\(Listener.deafPort)/"
    var run = Executable(.file(prelude + Self.script), arguments: [server.url, Self.mark, dead, netrcFile])
    run.options = ["-v"]
    run.environment = [
      "HOME": home.path, "XDG_STATE_HOME": home.path + "/state", "XDG_CACHE_HOME": home.path + "/cache",
      "TMPDIR": home.path,
    ]
    run.deadline = 60
    let result = try await run.run()
    #expect(result.ending == .exited(1), "\(result)")
    for text in [result.stdout, result.stderr] {
      for line in text.split(separator: "\n") { #expect(!line.contains(Self.mark), "\(line)") }
      #expect(text.contains("***"))
    }
    // Base64 hides nothing.
    for secret in ["basic", "any", "for_session", "permanent", "url", "sent", "netrc", "command", "proxy", "proxy2"] {
      let encoded = Data("u:\(Self.mark)\(secret)".utf8).base64EncodedString()
      #expect(!result.stdout.contains(encoded) && !result.stderr.contains(encoded), "\(secret)")
    }
    #expect(result.stdout.contains("\ntrue\n"), "\(result)")
    try Self.lookAtFiles(home.path)
    let wanted = server.requests.compactMap { $0["Authorization"] }
    #expect(wanted.contains("Bearer \(Self.mark)bearer"), "the secrets were sent")
  }

  /// What is meant to be remembered is in its own file, which only the user can read.
  private static func lookAtFiles(_ root: String) throws {
    var seen = 0
    for case let name as String in FileManager.default.enumerator(atPath: root) ?? .init() {
      guard let bytes = FileManager.default.contents(atPath: root + "/" + name) else { continue }
      let allowed = ["credentials.sqlite": ["permanent"], "cookies.sqlite": ["cookie"]].first { name.contains($0.key) }?
        .value
      let holds = bytes.range(of: Data(mark.utf8)) != nil
      if holds, allowed != nil {
        let mode = try FileManager.default.attributesOfItem(atPath: root + "/" + name)[.posixPermissions] as? Int
        #expect(mode == 0o600, "\(name)")
        seen += 1
      } else {
        #expect(!holds, "\(name)")
      }
      for other in ["basic", "bearer", "any", "for_session", "none", "netrc", "command", "hand", "field"] {
        #expect(bytes.range(of: Data((mark + other).utf8)) == nil, "\(name) has \(other)")
      }
    }
    #expect(seen >= 2)
  }

  static let notText = [
    ScriptCase(
      "what cannot be sent as it is is refused, and not changed",
      """
      local function fails(fn, ...)
        local ok, problem = pcall(fn, ...)
        print(ok, (problem:match("[^ ]* must .*")))
      end
      for _, bad in ipairs { "a\\xffb", "a\\0b" } do
        fails(http.credential, { certificate = bad })
        fails(http.credential, { certificate = "c", password = bad })
        fails(http.credential_storage, { credential_command = { "x", bad } })
        fails(http.cookie_storage, { path = bad })
        fails(http.cache, { path = bad })
      end
      """,
      prints: "false\t'certificate' must be UTF-8", "false\t'password' must be UTF-8",
      "false\t'credential_command' must be UTF-8", "false\t'path' must be UTF-8", "false\t'path' must be UTF-8",
      "false\t'certificate' must not contain NUL", "false\t'password' must not contain NUL",
      "false\t'credential_command' must not contain NUL",
      "false\t'path' must not contain NUL", "false\t'path' must not contain NUL"),
    ScriptCase(
      "what a netrc file or a command says that is not text is not used, with a warning",
      """
      local function get(fields)
        local session = http.session(http.configuration.ephemeral { credential_storage = http.credential_storage(fields) })
        return assert(session:get(base .. "/auth")).status
      end
      local file = io.open("netrc", "wb")
      file:write("machine h login \\xff password x\\nmachine 127.0.0.1 login u password p\\xe4\\n")
      file:close()
      os.execute("chmod 600 netrc")
      print(get { netrc = "netrc" }, get { credential_command = "printf 'username=u\\\\npassword=p\\\\344\\\\n'" })
      """, prints: "401\t401"),
  ]

  @Test(arguments: notText)
  func refused(_ scriptCase: ScriptCase) async throws {
    let server = try Self.server()
    let result = try await runScript(scriptCase.script, [server.url])
    #expect(result.lines == scriptCase.prints && result.ending == .exited(0), "\(result)")
    let warnings = result.stderr.split(separator: "\n")
    #expect(warnings.count == (scriptCase.prints.count == 1 ? 2 : 0), "\(result)")
    #expect(warnings.allSatisfy { $0.contains("UTF-8") }, "\(result)")
  }
}
