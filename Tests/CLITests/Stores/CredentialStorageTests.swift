import Foundation
import TestSupport
import Testing

/// `http.credential_storage`: what is stored is proposed, and what is accepted is stored.
@Suite struct CredentialStorageTests {
  /// A server that wants this user and password in realm "r".
  static func server(_ user: String = "u", _ password: String = "p4ss") throws -> ScriptedServer {
    let wanted = "Basic " + Data("\(user):\(password)".utf8).base64EncodedString()
    return try ScriptedServer { request in
      request["Authorization"] == wanted
        ? Reply("in")
        : Reply(status: "401 Unauthorized", fields: [("WWW-Authenticate", "Basic realm=\"r\"")], "out")
    }
  }

  static let spaces = """
    local port = math.tointeger(tonumber(base:match("%d+$")))
    local space = http.protection_space { host = "127.0.0.1", port = port, protocol = "http", realm = "r",
      authentication_method = "basic" }
    local function get(storage, delegate)
      local r = assert(http.session(http.configuration.ephemeral { credential_storage = storage }, delegate):get(base))
      return r.status
    end
    """

  static let cases = [
    ScriptCase(
      "a stored credential answers a challenge, and another space's does not",
      """
      local storage = http.credential_storage()
      storage:set(http.credential { user = "u", password = "p4ss" },
        { host = "127.0.0.1", port = port, protocol = "http", realm = "other", authentication_method = "basic" })
      print(get(storage), get(false))
      storage:set(http.credential { user = "u", password = "p4ss" }, space)
      print(get(storage))
      storage:remove(http.credential { user = "u" }, space)
      print(get(storage))
      """, prints: "401\t401", "200", "401"),
    ScriptCase(
      "a wrong one is refused once and the 401 is the response",
      """
      local storage = http.credential_storage()
      storage:set(http.credential { user = "u", password = "wrong" }, { host = "127.0.0.1" })
      print(get(storage))
      """, prints: "401"),
    ScriptCase(
      "a handler is told, and default handling uses it",
      """
      local storage = http.credential_storage()
      storage:set_default(http.credential { user = "u", password = "p4ss" }, space)
      storage:set(http.credential { user = "v", password = "x" }, space)
      local seen
      print(get(storage, { did_receive_challenge = function(_, _, challenge)
        seen = challenge.proposed_credential
        return "perform_default_handling"
      end }), seen.user, seen.password, tostring(seen):find("p4ss"))
      print(#storage:credentials(space), storage:default(space).user)
      """, prints: "200\tu\tp4ss\tnil", "2\tu"),
    ScriptCase(
      "what a handler gave and the server took is stored, unless its persistence is none",
      """
      for _, persistence in ipairs { "none", "for_session", "permanent" } do
        local storage = http.credential_storage()
        get(storage, { did_receive_challenge = function()
          return "use_credential", http.credential { user = "u", password = "p4ss", persistence = persistence }
        end })
        local list = storage:credentials(space)
        print(persistence, #list, list[1] and list[1].persistence, get(storage))
      end
      """, prints: "none\t0\tnil\t401", "for_session\t1\tfor_session\t200", "permanent\t1\tpermanent\t200"),
    ScriptCase(
      "permanent ones are in a file that only the user can read",
      """
      local name = os.tmpname()
      os.remove(name)
      local storage = http.credential_storage { path = name }
      storage:set(http.credential { user = "u", password = "p4ss", persistence = "permanent" }, space)
      storage:set(http.credential { user = "passing", password = "x" }, space)
      storage = http.credential_storage { path = name }
      print(#storage:credentials(space), get(storage), (tostring(storage):find("p4ss")))
      os.execute("chmod 644 " .. name)
      local kept, err = http.credential_storage { path = name }
      print(kept, err.domain, err.code, err.message:find("0600") ~= nil)
      for _, suffix in ipairs { "", "-wal", "-shm" } do os.remove(name .. suffix) end
      """, prints: "1\t200\tnil", "nil\tfile\tno_permissions_to_read_file\ttrue"),
    ScriptCase(
      "a netrc file",
      """
      local name = os.tmpname()
      local file = assert(io.open(name, "w"))
      file:write("machine 127.0.0.1 login u password \\"p4ss\\"\\n")
      file:close()
      os.execute("chmod 600 " .. name)
      local storage = http.credential_storage { netrc = name }
      print(get(storage), storage:default(space).user, #storage:credentials(space))
      os.execute("chmod 644 " .. name)
      print(select(2, http.credential_storage { netrc = name }).code)
      os.remove(name)
      print(select(2, http.credential_storage { netrc = name }).code)
      """, prints: "200\tu\t1", "no_permissions_to_read_file", "file_does_not_exist"),
    ScriptCase(
      "a file that is no storage is left alone",
      """
      local name = os.tmpname()
      local text = "machine 127.0.0.1 login u password \\"p4ss\\"\\n"
      local file = assert(io.open(name, "w"))
      file:write(text)
      file:close()
      os.execute("chmod 600 " .. name)
      local storage, err = http.credential_storage { path = name }
      print(storage, err.domain, err.code, tostring(err):find("p4ss"))
      print(io.open(name):read("a") == text, io.open(name .. ".damaged") == nil)
      os.remove(name)
      """, prints: "nil\tfile\tcannot_open_file\tnil", "true\ttrue"),
    ScriptCase(
      "a URL that names a user wants that one's password",
      """
      local name = os.tmpname()
      local file = assert(io.open(name, "w"))
      file:write("machine 127.0.0.1 login other password x\\nmachine 127.0.0.1 login u password p4ss\\n")
      file:close()
      os.execute("chmod 600 " .. name)
      local function status(storage, user)
        local session = http.session(http.configuration.ephemeral { credential_storage = storage })
        return assert(session:get((base:gsub("//", "//" .. user)))).status
      end
      local netrc = http.credential_storage { netrc = name }
      print(status(netrc, ""), status(netrc, "u@"), status(netrc, "other@"), status(netrc, "x@"))
      local storage = http.credential_storage()
      storage:set(http.credential { user = "u", password = "p4ss" }, space)
      storage:set_default(http.credential { user = "other", password = "x" }, space)
      print(status(storage, ""), status(storage, "u@"), status(storage, "u:wrong@"), status(storage, "u:p4ss@"))
      os.remove(name)
      """, prints: "401\t200\t401\t401", "401\t200\t401\t200"),
    ScriptCase(
      "a command is asked once, while other things go on",
      """
      local name = os.tmpname()
      local script = ("cat >> %s; sleep 0.2; printf 'username=u\\npassword=p4ss\\n'"):format(name)
      local session = http.session(http.configuration.ephemeral {
        credential_storage = http.credential_storage { credential_command = script } })
      local turns, done = 0, false
      http.spawn(function() while not done do turns = turns + 1 http.sleep(0.02) end end)
      print(assert(session:get(base)).status, assert(session:get(base)).status)
      done = true
      local question = io.open(name):read("a")
      print(turns > 2, (question:gsub("%d%d%d%d+", "PORT"):gsub("\\n", " ")))
      os.remove(name)
      """, prints: "200\t200", "true\tprotocol=http host=127.0.0.1:PORT realm=r authentication_method=basic  "),
    ScriptCase(
      "a command's credential is proposed to a handler; a command that fails, hangs or is not there is none",
      """
      local function storage(command) return http.credential_storage { credential_command = command } end
      local seen
      print(get(storage { "echo", "p4ss", user = "u" }, { did_receive_challenge = function(_, _, challenge)
        seen = challenge.proposed_credential and challenge.proposed_credential.password
      end }), seen)
      print(get(storage "exit 3"), get(storage { "/no/such/program" }),
        get(storage { "sh", "-c", "sleep 60", user = "u", timeout = 0.2 }))
      print((pcall(storage, {})), (pcall(storage, { "x", usr = "u" })))
      """, prints: "200\tp4ss", "401\t401\t401", "false\tfalse"),
    ScriptCase(
      "a command that writes without end is ended at once",
      """
      local started = http.now()
      print(get(http.credential_storage { credential_command = { "yes", "p4ss", user = "u", timeout = 100 } }))
      print(http.now() - started < 50)
      """, prints: "401", "true"),
    ScriptCase(
      "a task that is cancelled while a command runs ends at once",
      """
      local session = http.session(http.configuration.ephemeral {
        credential_storage = http.credential_storage { credential_command = { "sleep", "60", timeout = 60 } } })
      local started = http.now()
      local response, err = http.with_timeout(0.5, function() return session:get(base) end)
      print(response, err.code, http.now() - started < 20)
      os.exit(0)
      """, prints: "nil\ttimed_out\ttrue"),
    ScriptCase(
      "reset empties it",
      """
      local session = http.session(http.configuration.ephemeral())
      session.configuration.credential_storage:set(http.credential { user = "u", password = "p4ss" }, space)
      print(assert(session:get(base)).status)
      session:reset()
      print(assert(session:get(base)).status, #session.configuration.credential_storage:credentials(space))
      """, prints: "200", "401\t0"),
    ScriptCase(
      "misuse",
      """
      local storage = http.credential_storage()
      print((pcall(storage.set, storage, { user = "u" }, space)), (pcall(storage.set, storage, http.credential { user = "u" }, {})))
      print((select(2, pcall(http.protection_space, { host = "h", relm = "r" })):match("unknown.*")))
      print((pcall(http.credential_storage, { netrc = 1 })), (pcall(http.configuration.default, { credential_storage = {} })))
      print(space)
      """, prints: "false\tfalse", "unknown option 'relm' (did you mean 'realm'?)", "false\tfalse",
      "http.protection_space: http://127.0.0.1:PORT r"),
  ]

  @Test(arguments: cases)
  func storage(scriptCase: ScriptCase) async throws {
    let server = try Self.server()
    let result = try await runScript(Self.spaces + "\n" + scriptCase.script, [server.url])
    let lines = result.lines.map { $0.replacingOccurrences(of: ":\(server.port)", with: ":PORT") }
    #expect(lines == scriptCase.prints, "\(result)")
    #expect(result.ending == .exited(0), "\(result)")
    #expect(!result.stderr.contains("p4ss"), "\(result)")
  }

  @Test("default sessions remember what was permanent")
  func standard() async throws {
    let home = try TemporaryDirectory()
    let server = try Self.server()
    let give = """
      local session = http.session(nil, { did_receive_challenge = function()
        return "use_credential", http.credential { user = "u", password = "p4ss", persistence = "permanent" }
      end })
      print(assert(session:get(base)).status)
      """
    for (script, expected) in [
      ("print(http.get(base).status)", "401"), (give, "200"), ("print(http.get(base).status)", "200"),
    ] {
      try await expectScript(script, [server.url], prints: [expected]) {
        $0.environment = ["XDG_STATE_HOME": home.path]
        $0.options = ["-v"]
      }
    }
    let file = home.path + "/httpscript/credentials.sqlite"
    let mode = try FileManager.default.attributesOfItem(atPath: file)
    #expect(mode[.posixPermissions] as? Int == 0o600)
  }
}
