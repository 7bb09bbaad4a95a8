import TestSupport
import Testing

/// TLS that begins and ends in the middle of a stream.
@Suite struct StreamSecurityTests {
  /// `say(text)` sends a line and prints the answer.
  static let talk = """
    local function line()
      local text = ""
      repeat
        local byte, err = task:read{ max = 1 }
        if not byte then return nil, err.code end
        text = text .. byte
      until byte == "" or byte == "\\n"
      return (text:gsub("%c+$", ""))
    end
    local function say(text) task:write(text .. "\\n") print(line()) end

    """

  static let cases = [
    ScriptCase(
      "to TLS and back, twice",
      """
      say "one" say "STARTTLS"
      task:start_secure_connection()
      say "two" say "STOPTLS"
      task:stop_secure_connection()
      print(line()) say "three" say "STARTTLS"
      task:start_secure_connection()
      say "four"
      task:close_write()
      print(task:read())
      print(task:wait())
      local t = task.metrics.transaction_metrics[1]
      print(t.negotiated_tls_protocol_version, t.secure_connection_end >= t.secure_connection_start)
      """, prints: "one", "OK", "two", "OK", "PLAIN", "three", "OK", "four", "\ttrue", "true", "TLSv1.3\ttrue"),
    ScriptCase(
      "a quarter of a megabyte each way through TLS",
      """
      say "STARTTLS"
      task:start_secure_connection()
      local text = (("0123456789abcdef"):rep(255) .. "\\n"):rep(64)
      http.spawn(task.write, task, text)
      print(task:read{ min = #text, max = #text } == text)
      """, prints: "OK", "true"),
    ScriptCase(
      "clear text that came before TLS is never taken for something that came through it",
      """
      task:write("INJECT\\n")
      print(task:read{ min = 3, max = 3 })
      task:start_secure_connection()
      print(line())
      print(select(2, task:wait()).code)
      """, prints: "OK", "\tfalse", "nil\tsecure_connection_failed", "secure_connection_failed"),
    ScriptCase(
      "an end without the end of TLS is an error",
      """
      say "STARTTLS"
      task:start_secure_connection()
      say "CUT"
      print(select(2, task:wait()).code)
      """, prints: "OK", "nil\tnetwork_connection_lost", "network_connection_lost"),
  ]

  @Test("STARTTLS and its opposite", arguments: cases)
  func lines(_ one: ScriptCase) async throws {
    let server = try StreamServer(.lines)
    try await StreamTaskTests.run(
      Self.talk + one.script, port: server.port, host: "localhost", authority: server.authority, prints: one.prints)
  }

  @Test("A server that does not speak TLS")
  func plain() async throws {
    let server = try StreamTaskTests.echo()
    let script = "task:start_secure_connection() task:write('x') print(select(2, task:wait()).code)"
    try await StreamTaskTests.run(script, port: server.port, prints: ["secure_connection_failed"])
  }

  @Test("A certificate that is not trusted, and one for another name")
  func trust() async throws {
    let server = try StreamServer(.lines)
    let script = """
      say "STARTTLS"
      task:start_secure_connection()
      say "secret"
      print(select(2, task:wait()).code)
      """
    let code = "server_certificate_has_unknown_root"
    try await StreamTaskTests.run(
      Self.talk + script, port: server.port, host: "localhost", prints: ["OK", "nil\t\(code)", code])
    try await StreamTaskTests.run(
      Self.talk + script, port: server.port, host: "name.localhost", authority: server.authority,
      prints: ["OK", "nil\tserver_certificate_untrusted", "server_certificate_untrusted"])
  }

  static let answers = [
    ("'use_credential', http.credential{ trust = space.server_trust }", "two"),
    ("'perform_default_handling'", "nil\tserver_certificate_has_unknown_root"),
    ("'cancel_authentication_challenge'", "nil\tuser_cancelled_authentication"),
    ("'reject_protection_space'", "nil\tserver_certificate_has_unknown_root"),
    ("nil", "nil\tserver_certificate_has_unknown_root"),
  ]

  @Test("A handler decides about the server, and may take its time", arguments: answers)
  func challenge(_ answer: String, _ line: String) async throws {
    let server = try StreamServer(.lines)
    let script = """
      local asked = http.session(http.configuration.ephemeral(), {
        session_did_receive_challenge = function(_, challenge)
          local space = challenge.protection_space
          print(space.authentication_method, space.host, space.port == port, challenge.error.code)
          http.sleep(0.05)
          return \(answer)
        end,
      })
      task:cancel()
      task = asked:stream_task(host, port)
      task:resume()
      say "STARTTLS"
      task:start_secure_connection()
      say "two"
      """
    try await StreamTaskTests.run(
      Self.talk + script, port: server.port, host: "localhost",
      prints: ["OK", "server_trust\tlocalhost\ttrue\tserver_certificate_has_unknown_root", line])
  }

  static let certificates = [
    ("'use_credential', http.credential{ certificate = select(4, ...) }", "((('commonName', 'client'),),)"),
    ("'perform_default_handling'", "nil\tclient_certificate_required"),
    ("'cancel_authentication_challenge'", "nil\tuser_cancelled_authentication"),
    ("'use_credential', http.credential{ certificate = select(3, ...) }", "nil\tclient_certificate_rejected"),
  ]

  @Test("A handler shows a certificate, and may take its time", arguments: ["TLSv1_2", "TLSv1_3"], certificates)
  func clientCertificate(version: String, _ answer: (String, String)) async throws {
    let server = try StreamServer(.verifying(version))
    let script = """
      local certificate, authority = select(4, ...), select(3, ...)
      local asked = http.session(http.configuration.ephemeral { ca_file = authority }, {
        session_did_receive_challenge = function(_, challenge)
          local space = challenge.protection_space
          if space.authentication_method ~= "client_certificate" then return end
          print(space.host, space.port == port, challenge.previous_failure_count)
          http.sleep(0.05)
          return \(answer.0.replacing("select(4, ...)", with: "certificate").replacing("select(3, ...)", with: "authority"))
        end,
      })
      task:cancel()
      task = asked:stream_task(host, port)
      task:resume()
      say "STARTTLS"
      task:start_secure_connection()
      say "HELLO"
      """
    try await StreamTaskTests.run(
      Self.talk + script, port: server.port, host: "localhost", authority: server.authority,
      more: [try server.clientCertificate()], prints: ["OK", "localhost\ttrue\t0", answer.1])
  }

  @Test("The certificate of the configuration is shown without a question")
  func configuredCertificate() async throws {
    let server = try StreamServer(.verifying("TLSv1_3"))
    let script = """
      task:cancel()
      task = http.session{ ca_file = select(3, ...), client_certificate = select(4, ...) }:stream_task(host, port)
      task:resume()
      say "STARTTLS"
      task:start_secure_connection()
      say "HELLO"
      """
    try await StreamTaskTests.run(
      Self.talk + script, port: server.port, host: "localhost", authority: server.authority,
      more: [try server.clientCertificate()], prints: ["OK", "((('commonName', 'client'),),)"])
  }

  @Test("Pins hold for streams too")
  func pins() async throws {
    let server = try StreamServer(.lines)
    let script = """
      for _, pin in ipairs{ select(3, ...), "sha256//" .. ("A"):rep(43) .. "=" } do
        task:cancel()
        task = http.session{
          ca_file = select(3, ...),
          security_policy = http.security_policy{ pinning = "certificate", certificates = { pin } },
        }:stream_task(host, port)
        task:resume()
        task:write("STARTTLS\\n")
        task:read{ min = 3 }
        task:start_secure_connection()
        say "pinned"
      end
      """
    try await StreamTaskTests.run(
      Self.talk + script, port: server.port, host: "localhost", authority: server.authority,
      prints: ["pinned", "nil\tserver_certificate_untrusted"])
  }

  @Test("A real SMTP server takes mail after STARTTLS")
  func smtp() async throws {
    let server = try StreamServer(.smtp)
    let script = """
      local function reply()
        local text repeat text = assert(line()) until not text:match("^%d%d%d%-")
        return text
      end
      print(reply())
      for _, command in ipairs { "EHLO me", "STARTTLS", "EHLO me", "MAIL FROM:<a@b.test>", "RCPT TO:<c@d.test>", "DATA",
          "Subject: x\\r\\n\\r\\nhello\\r\\n.", "QUIT" } do
        task:write(command .. "\\r\\n")
        print(reply())
        if command == "STARTTLS" then task:start_secure_connection() end
      end
      print(task:read())
      task:close_write()
      print(task:wait())
      """
    try await StreamTaskTests.run(
      Self.talk + script, port: server.port, host: "localhost", authority: server.authority,
      prints: [
        "220 test Python SMTP 1.4.3", "250 HELP", "220 Ready to start TLS", "250 HELP", "250 OK", "250 OK",
        "354 End data with <CR><LF>.<CR><LF>", "250 OK 21", "221 Bye", "\ttrue", "true",
      ])
  }
}
