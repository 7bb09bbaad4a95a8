import TestSupport
import Testing

/// Authenticators: what the option `auth` takes besides a name and password.
@Suite struct AuthenticatorTests {
  /// Takes "Bearer t<n>" with n as the field X-Want says; `/token` counts up. `/bare` refuses without naming a scheme.
  static func server() throws -> ScriptedServer {
    try ScriptedServer { request in
      if request.path == "/token" { return Reply("pw") }
      if request["Authorization"] == "Bearer t\(request["X-Want"] ?? "1")" { return Reply("in \(request.bodyText)") }
      let isBare = request.path == "/bare"
      return Reply(status: "401 Unauthorized", fields: isBare ? [] : [("WWW-Authenticate", "Bearer")], "denied")
    }
  }

  static let tokens = [
    ScriptCase(
      "twenty calls at once fetch one token; later ones carry it; a refused one is replaced",
      """
      local auth, fetched = require "http.auth", 0
      local session = http.session(http.configuration.ephemeral())
      local token = auth.token { fetch = function(own)
        assert(own == session and assert(own:get(base .. "/token")).body == "pw")
        fetched = fetched + 1
        return "t" .. fetched
      end }
      local items = {}
      for i = 1, 20 do items[i] = i end
      local function get(want, path)
        return assert(session:post(base .. (path or "/"), { auth = token, body = "x", headers = { ["X-Want"] = want } }))
      end
      local statuses = http.map(items, 20, function() return get("1").status end)
      print(table.concat(statuses, " ") == ("200 "):rep(19) .. "200", fetched)
      print(get("1").body, fetched, get("2", "/bare").body, fetched)
      """, prints: "true\t1", "in x\t1\tin x\t2"),
    ScriptCase(
      "a new token that is refused too gives the 401, and an error of fetch is the call's",
      """
      local auth = require "http.auth"
      local wrong = auth.token { fetch = function() return "no" end }
      print(assert(http.get(base .. "/", { auth = wrong })).status)
      local none = auth.token { fetch = function() return nil, "the vault is closed" end, early = true }
      local r, err = http.get(base .. "/", { auth = none })
      print(r, err.code, err.message)
      """, prints: "401", "nil\tuser_authentication_required\tthe vault is closed"),
    ScriptCase(
      "a signer sees each request before it goes",
      """
      local auth = require "http.auth"
      local signer = auth.signer(function(request)
        request.headers["Authorization"] = "Bearer t" .. #request.method - 3
      end)
      print(assert(http.post(base .. "/", { auth = signer, body = "x" })).body)
      """, prints: "in x"),
    ScriptCase(
      "an authenticator of the script's own, and the delegate where it has no answer",
      """
      local asked = 0
      local session = http.session(http.configuration.ephemeral(), {
        did_receive_challenge = function()
          asked = asked + 1
          return "use_credential", http.credential { token = "t1" }
        end,
      })
      local silent = { challenge = function() end }
      print(assert(session:get(base .. "/", { auth = silent })).status, asked)
      print((pcall(http.get, base .. "/", { auth = { challenge = 1 } })))
      """, prints: "200\t1", "false"),
  ]

  @Test(arguments: tokens)
  func token(_ one: ScriptCase) async throws {
    let server = try Self.server()
    try await check(one, server.url)
  }
}
