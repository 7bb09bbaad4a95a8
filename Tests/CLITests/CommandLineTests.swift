import TestSupport
import Testing

/// The command line (api.md, section 12).
@Suite struct CommandLineTests {
  static func run(_ arguments: [String], input: String = "") async throws -> RunResult {
    var run = Executable(.none, arguments: arguments)
    run.input = Array(input.utf8)
    return try await run.run()
  }

  @Test("-e, - and a file")
  func ways() async throws {
    #expect(try await Self.run(["-e", "print(1)"]).stdout == "1\n")
    #expect(try await Self.run(["-"], input: "print(2, ...)").stdout == "2\n")
    #expect(try await Self.run(["-", "a"], input: "print(2, ...)").stdout == "2\ta\n")
    let silent = try await Self.run(["-e", ""])
    #expect(silent.ending == .exited(0) && silent.output.isEmpty && silent.errors.isEmpty, "\(silent)")
    try await expectScript("print(3)", prints: ["3"])
  }

  @Test("arg and ... are as in lua")
  func arguments() async throws {
    let script = """
      print(select("#", ...), ...)
      print(#arg, arg[1], arg[2], arg[3], arg[0]:match("script%.lua$"), arg[-1] ~= nil)
      """
    let result = try await Executable(.file(script), arguments: ["a b", "", "--timeout"]).run()
    #expect(result.lines == ["3\ta b\t\t--timeout", "3\ta b\t\t--timeout\tscript.lua\ttrue"], "\(result)")
  }

  @Test("a first line with #! is skipped")
  func shebang() async throws {
    let result = try await Executable(.file("#!/usr/bin/env httpscript\nprint('ran') error('x')")).run()
    #expect(result.lines == ["ran"] && result.stderr.contains("script.lua:2: x"), "\(result)")
  }

  @Test("--version names what it is made of")
  func version() async throws {
    let result = try await Self.run(["--version"])
    #expect(result.ending == .exited(0))
    for part in ["httpscript", "Lua 5.4", "libcurl", "OpenSSL", "jansson", "libxml2", "SQLite 3"] {
      #expect(result.stdout.lowercased().contains(part.lowercased()), "\(result)")
    }
  }

  @Test("--help is for standard output")
  func help() async throws {
    let result = try await Self.run(["--help"])
    #expect(result.ending == .exited(0) && result.errors.isEmpty)
    for part in ["httpscript", "-e", "--timeout", "--version", "-v"] { #expect(result.stdout.contains(part)) }
  }

  static let wrong = [
    ["--nonsense"], ["-e"], ["--timeout"], ["--timeout", "soon", "-e", ""], ["--timeout", "-1", "-e", ""],
    ["-Z"],
  ]

  @Test("wrong use: one line and status 2", arguments: wrong)
  func wrongUse(arguments: [String]) async throws {
    let result = try await Self.run(arguments)
    #expect(result.ending == .exited(2), "\(result)")
    #expect(result.output.isEmpty)
    #expect(result.stderr.split(separator: "\n").count == 1, "\(result)")
  }

  @Test("a script that is not there: one line and a status that is not 0")
  func noScript() async throws {
    let result = try await Self.run(["/nonexistent/script.lua"])
    #expect([.exited(1), .exited(2)].contains(result.ending), "\(result)")
    #expect(result.stderr.split(separator: "\n").count == 1, "\(result)")
  }

  @Test("--timeout ends with 124")
  func timeout() async throws {
    for script in ["require('http').sleep(60)", "while true do end"] {
      let result = try await Self.run(["--timeout", "0.5", "-e", script])
      #expect(result.ending == .exited(124), "\(result)")
      #expect(result.seconds < 5)
    }
    #expect(try await Self.run(["--timeout", "20", "-e", "print(1)"]).ending == .exited(0))
  }

  @Test("-v traces requests on stderr without secrets")
  func verbose() async throws {
    let server = try ScriptedServer { _ in Reply(fields: [("Set-Cookie", "sid=s3cretcookie")], "body") }
    let script = """
      local host = base:gsub("//", "//us3r:s3cretword@")
      assert(http.get(host .. "/one"))
      assert(http.get(base .. "/two?token=s3cretquery", { headers = {
        Authorization = "Bearer s3crettoken", Cookie = "a=s3cretjar", ["Proxy-Authorization"] = "Basic s3cretproxy",
      } }))
      print("out")
      """
    let result = try await expectScript(script, [server.url], prints: ["out"]) { $0.options = ["-v"] }
    for text in ["GET", "/one", "> GET /two?token=*** HTTP/1.1\n", "200"] {
      #expect(result.stderr.contains(text), "\(result)")
    }
    #expect(!result.stderr.contains("s3cret"), "\(result)")
    #expect(!result.stderr.contains("dXMzcjpzM2NyZXR3b3Jk"), "\(result)")
    #expect(server.requests.first?["Authorization"] == "Basic dXMzcjpzM2NyZXR3b3Jk")
    #expect(server.requests.last?["Authorization"] == "Bearer s3crettoken")
  }

  @Test("standard output belongs to the script")
  func separation() async throws {
    let server = try ScriptedServer { _ in Reply("body") }
    let script = "io.stderr:write('e') io.write(assert(http.get(base, { progress = function() end })).body)"
    let result = try await runScript(script, [server.url])
    #expect(result.stdout == "body" && result.stderr == "e", "\(result)")
  }

  /// Wrong programs, with what the message must say; the fault is on line 3 of the script.
  static let mistakes: [(call: String, said: String)] = [
    ("http.get(base, { timout = 1 })", "unknown option 'timout' (did you mean 'timeout'?)"),
    ("http.get(base, { heders = {} })", "(did you mean 'headers'?)"),
    ("http.get(base, { params = {} })", "unknown option 'params' (here it is 'query')"),
    ("http.get(base, { timeout = 'long' })", "timeout"),
    ("http.get(base, { body = 'a', json = {} })", "body"),
    ("http.get()", "URL"),
    ("http.get(base, { body = true })", "body"),
    ("http.request({ url = base, metod = 'GET' })", "(did you mean 'method'?)"),
    ("http.configuration.default({ timeout_for_reqest = 1 })", "(did you mean 'timeout_for_request'?)"),
    ("http.spawn(5)", "function"),
    ("http.map({}, 0, print)", "limit"),
    ("http.sleep('x')", "number"),
  ]

  @Test("misuse raises at the caller's line", arguments: 0..<mistakes.count)
  func misuse(index: Int) async throws {
    let mistake = Self.mistakes[index]
    let script = "local ok, message = pcall(function()\n  local _ = \(mistake.call)\nend)\nprint(ok, tostring(message))"
    let result = try await runScript(script, ["http://127.0.0.1:9/"])
    #expect(result.stdout.hasPrefix("false\t"), "\(result)")
    #expect(result.stdout.contains("script.lua:3: "), "\(result)")
    #expect(result.stdout.contains(mistake.said), "\(result)")
  }

  @Test("system modules load, C modules too, and _G stays clean")
  func modules() async throws {
    let script = """
      local before = {}
      for name in pairs(_G) do before[#before + 1] = name end
      require "http.url" require "http.html"
      local after = 0
      for _ in pairs(_G) do after = after + 1 end
      print(#before == after, rawget(_G, "http"), package.path:find("5.4", 1, true) ~= nil, package.cpath ~= "")
      -- It is written in C, and needs functions of Lua's that the executable must have for it.
      print(require("lfs").attributes("/", "mode"))
      """
    try await expectScript(script, prints: ["true\tnil\ttrue\ttrue", "directory"])
  }

  @Test("without a terminal, standard input is the script")
  func pipedInput() async throws {
    let result = try await Self.run([], input: "print('piped')")
    #expect(result.stdout.contains("piped"), "\(result)")
    #expect(result.ending == .exited(0))
  }
}
