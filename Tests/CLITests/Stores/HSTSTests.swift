import TestSupport
import Testing

/// Hosts that want https only, and what is kept for https.
@Suite struct HSTSTests {
  @Test("a host that asked for it is spoken to over https only, in later runs too")
  func persistence() async throws {
    let server = try TLSServer()
    let home = try TemporaryDirectory()
    let session = """
      local function session(kind)
        return http.session(http.configuration[kind or "default"] { ca_file = arg[1], resolve = {} })
      end
      local plain = base:gsub("^https", "http")
      """
    let learn = "?header=Strict-Transport-Security:%20max-age=100"
    let runs: [(script: String, prints: [String])] = [
      ("print(session('ephemeral'):get(base .. '/\(learn)').status)", ["200"]),
      ("print(session():get(plain .. '/x', { timeout = 20 }) == nil)", ["true"]),
      (
        """
        local s = session()
        print(s:get(base .. '/\(learn)').status)
        local r = assert(s:get(plain .. '/x#f'))
        print(r.body, r.url == base .. '/x#f')
        """, ["200", "GET /x\ttrue"]
      ),
      ("print(assert(session():get(plain .. '/x')).body)", ["GET /x"]),
      (
        """
        local strict = { ca_file = arg[1], transport_security = { allows_arbitrary_loads = false } }
        print(assert(http.session(strict):get(plain .. '/x')).body)
        """, ["GET /x"]
      ),
      ("print(session('ephemeral'):get(plain .. '/x', { timeout = 20 }) == nil)", ["true"]),
      ("local s = session() s:reset() print(s:get(plain .. '/x', { timeout = 20 }) == nil)", ["true"]),
      ("print(session():get(plain .. '/x', { timeout = 20 }) == nil)", ["true"]),
    ]
    for (script, lines) in runs {
      var run = Executable(.file("local http, base = require 'http', arg[2]\n" + session + "\n" + script))
      run.arguments = [server.authority, server.url]
      run.environment = ["XDG_STATE_HOME": home.path]
      let result = try await run.run()
      #expect(result.lines == lines, "\(script)\n\(result)")
    }
  }

  @Test("Secure cookies are taken and sent over https only")
  func secureCookies() async throws {
    let server = try TLSServer()
    let plain = try ScriptedServer { request in Reply(request["Cookie"] ?? "none") }
    let script = """
      local s = http.session(http.configuration.ephemeral { ca_file = arg[2] })
      local url = arg[1]
      local function get(query) return assert(s:get(url .. "/" .. query)).body end
      get "?header=Set-Cookie:%20s=1;Secure;Path=/"
      get "?header=Set-Cookie:%20__Host-h=1;Secure;Path=/"
      print(get "?echo=Cookie")
      print(assert(s:get("http://localhost:" .. arg[3])).body)
      """
    let result = try await expectScript(
      script, [server.url, server.authority, "\(plain.port)"], prints: ["s=1; __Host-h=1", "none"])
    #expect(result.stderr == "")
  }
}
