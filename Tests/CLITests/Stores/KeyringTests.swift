import Foundation
import TestSupport
import Testing

/// Permanent credentials in the user's keyring, and what happens where there is none.
@Suite struct KeyringTests {
  private static let give = """
    local session = http.session(nil, { did_receive_challenge = function()
      return "use_credential", http.credential { user = "u", password = "p4ss", persistence = "permanent" }
    end })
    print(assert(session:get(base)).status)
    session:flush()
    """
  private static let get = "print(assert(http.get(base)).status)"

  /// One run after another with the same home on a bus; answers the lines of each.
  private func runs(
    _ scripts: [String], _ server: ScriptedServer, _ bus: SessionBus, home: TemporaryDirectory
  ) async throws -> [[String]] {
    var lines: [[String]] = []
    for script in scripts {
      let result = try await runScript(script, [server.url]) { run in
        run.environment = bus.environment
        run.environment["XDG_STATE_HOME"] = home.path
        run.options = ["-v"]
      }
      #expect(result.ending == .exited(0), "\(result)")
      #expect(!result.stderr.contains("warning") && !result.stderr.contains("p4ss"), "\(result)")
      lines.append(result.lines)
    }
    return lines
  }

  @Test("default sessions keep permanent credentials there and not in a file, until they are reset")
  func standard() async throws {
    let bus = try SessionBus(.keyring)
    let server = try CredentialStorageTests.server()
    let home = try TemporaryDirectory()
    let look = """
      local tool = io.popen("secret-tool search --all user u 2>&1")
      for line in tool:lines() do
        if line:find("^secret = ") or line:find("attribute%.[hpra]") then print((line:gsub("%d%d%d%d+", "PORT"))) end
      end
      tool:close()
      """
    let lines = try await runs(
      [Self.get, Self.give + look, Self.get, "http.shared:reset()" + look + Self.get], server, bus, home: home)
    #expect(lines[0] == ["401"])
    #expect(lines[1].first == "200")
    #expect(
      Set(lines[1].dropFirst()) == [
        "secret = p4ss", "attribute.host = 127.0.0.1", "attribute.port = PORT", "attribute.protocol = http",
        "attribute.realm = r", "attribute.authentication_method = basic",
      ])
    #expect(lines[2] == ["200"])
    #expect(lines[3] == ["401"])
    #expect(!FileManager.default.fileExists(atPath: home.path + "/httpscript/credentials.sqlite"))
  }

  @Test("a storage of one's own with keyring = true: what one has the other finds")
  func methods() async throws {
    let bus = try SessionBus(.keyring)
    let script = """
      local function storage() return http.credential_storage { keyring = true } end
      local space = { host = "h.test", port = 80, protocol = "http", realm = "r", authentication_method = "basic" }
      local function list()
        local found = {}
        for i, c in ipairs(storage():credentials(space)) do
          found[i] = (c.user or c.certificate or "") .. "=" .. tostring(c.password or c.token)
        end
        print(table.concat(found, " "), (storage():default(space) or {}).user)
      end
      local function keep(fields, where, method)
        fields.persistence = "permanent"
        local one = storage()
        one[method or "set"](one, http.credential(fields), where or space)
      end
      keep { user = "a", password = "1" }
      keep({ user = "b", password = "ü" }, nil, "set_default")
      keep { user = "a", password = "2" }
      list()
      keep({ user = "a", password = "3" }, nil, "set_default")
      list()
      keep({ certificate = "/c.pem" }, { host = "h.test" })
      keep({ certificate = "/d.pem", password = "x" }, { host = "h.test" })
      keep({ token = "t" }, { host = "h.test" })
      list()
      local one = storage()
      one:set(http.credential { user = "c", password = "passing" }, space)
      list()
      print(storage():remove(http.credential { user = "a" }, space), storage():remove(http.credential { user = "x" }, space))
      one:set(http.credential { user = "b", password = "passing" }, space)
      list()
      -- Where nothing can wait it raises at once.
      print((select(2, pcall(table.sort, { 1, 2 }, function() one:default(space) end)):match("cannot wait here")))
      one:clear()
      list()
      """
    let result = try await runScript(script, [""]) { $0.environment = bus.environment }
    #expect(
      result.lines == [
        "a=2 b=ü\tb", "a=3 b=ü\ta", "a=3 b=ü =t /d.pem=x /c.pem=nil\ta", "a=3 b=ü =t /d.pem=x /c.pem=nil\ta",
        "true\tfalse", "=t /d.pem=x /c.pem=nil\tnil", "cannot wait here", "\tnil",
      ], "\(result)")
    #expect(result.ending == .exited(0) && result.stderr == "", "\(result)")
  }

  @Test("what the keyring has is proposed to a handler, and comes before a command")
  func proposed() async throws {
    let bus = try SessionBus(.keyring)
    let server = try CredentialStorageTests.server()
    let script = """
      local port = math.tointeger(tonumber(base:match("%d+$")))
      local keep = http.credential_storage { keyring = true }
      keep:set(http.credential { user = "u", password = "p4ss", persistence = "permanent" }, { host = "127.0.0.1", port = port })
      local function session(delegate)
        return http.session(http.configuration.ephemeral {
          credential_storage = http.credential_storage { keyring = true, credential_command = "echo wrong; touch asked" },
        }, delegate)
      end
      print(assert(session():get(base)).status, io.open("asked") == nil)
      local seen
      print(assert(session { did_receive_challenge = function(_, _, challenge)
        seen = challenge.proposed_credential.user
      end }:get(base)).status, seen)
      keep:clear()
      print(assert(session():get(base)).status, io.open("asked") ~= nil)
      """
    let result = try await runScript(script, [server.url]) { $0.environment = bus.environment }
    #expect(result.lines == ["200\ttrue", "200\tu", "401\ttrue"], "\(result)")
  }

  enum Absence: String, CaseIterable {
    case noService, noBus, noLibrary
  }

  @Test("where there is no keyring, the file is used and nothing said", arguments: Absence.allCases)
  func absent(_ absence: Absence) async throws {
    let server = try CredentialStorageTests.server()
    let home = try TemporaryDirectory()
    let bus = try SessionBus(absence == .noLibrary ? .keyring : .nobody)
    let libraries = try TemporaryDirectory()
    try libraries.write("libsecret-1.so.0", "no library")
    for (script, status) in [(Self.get, "401"), (Self.give, "200"), (Self.get, "200")] {
      let result = try await expectScript(script, [server.url], prints: [status]) { run in
        run.environment["XDG_STATE_HOME"] = home.path
        run.environment["DBUS_SESSION_BUS_ADDRESS"] = absence == .noBus ? "unix:path=/nowhere" : bus.address
        if absence == .noLibrary { run.environment["LD_LIBRARY_PATH"] = libraries.path }
      }
      #expect(result.stderr == "", "\(result)")
    }
    let mode = try FileManager.default.attributesOfItem(atPath: home.path + "/httpscript/credentials.sqlite")
    #expect(mode[.posixPermissions] as? Int == 0o600)
  }

  @Test("a keyring that does not answer holds up nothing but who waits for it")
  func silent() async throws {
    let bus = try SessionBus(.silent)
    let server = try ScriptedServer { request in
      request.path == "/open"
        ? Reply("open") : Reply(status: "401 No", fields: [("WWW-Authenticate", "Basic realm=\"r\"")])
    }
    let script = """
      local waiting = http.spawn(function() return http.with_timeout(1, function() return http.get(base) end) end)
      http.sleep(0.1)
      print(assert(http.get(base .. "/open")).body)
      print(select(2, waiting:wait()).code)
      """
    let result = try await runScript(script, [server.url]) { run in
      run.environment = bus.environment
      // The bus gives up after 25 seconds.
      run.deadline = 20
    }
    #expect(result.lines == ["open", "timed_out"], "\(result)")
    #expect(result.ending == .exited(0), "\(result)")
  }
}
