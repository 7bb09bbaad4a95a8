import Glibc
import TestSupport
import Testing

extension String {
  fileprivate var beforePrompt: String { String(dropLast(hasSuffix(">> ") ? 3 : 2)) }
}

/// `httpscript` without a script on a terminal (api.md, section 12).
@Suite struct DialogueTests {
  /// With line editing, and on a terminal that has no use for it.
  static let terminals = ["xterm", "dumb"]
  static let hasEditing = dlopen("libedit.so.2", RTLD_NOW) != nil

  /// Somebody at a terminal in a dialogue.
  struct Person {
    let terminal: TerminalProcess

    /// Types a line, and answers what is written between its echo and the next prompt.
    func enter(_ line: String) -> String? {
      terminal.type(line + "\n")
      guard line.isEmpty || terminal.read(until: line) != nil else { return nil }
      return answer()
    }

    /// What is written from the next line on up to the next prompt.
    func answer() -> String? {
      terminal.read(until: "\n> ", "\n>> ").map { String($0.drop { $0 != "\n" }.dropFirst()) }?.beforePrompt
    }

    /// Ctrl-D; how the process then ended and what it wrote.
    func leave() -> (output: String, ending: Ending) {
      terminal.type("\u{4}")
      return terminal.finish()
    }
  }

  @discardableResult
  static func dialogue<Value: Sendable>(
    _ name: String, options: [String] = [], environment: [String: String] = [:],
    _ body: @escaping @Sendable (Person) throws -> Value
  ) async throws -> Value {
    var run = Executable(.none)
    run.options = options
    run.environment = environment.merging(["TERM": name]) { $1 }
    return try await run.onTerminal { terminal, _ in
      let banner = terminal.read(until: "> ")
      #expect(banner?.contains("Ctrl-D") == true && banner?.hasPrefix("httpscript ") == true)
      return try body(Person(terminal: terminal))
    }
  }

  static let values: [(typed: String, shown: String)] = [
    ("1 + 1", "2\n"), ("= 7 // 2, 7 / 2", "3\t3.5\n"), ("\"a\\tb\"", "\"a\\tb\"\n"), ("nil", "nil\n"), ("", ""),
    ("x = 5", ""), ("x", "5\n"), ("local y = 1", ""), ("y", "nil\n"), ("-- nothing", ""),
    ("{ 1, { a = 'b' } }, true", "{ 1, { a = \"b\" } }\ttrue\n"), ("print('out')", "out\n"),
    ("json.decode('[1, null, {}]')", "{ 1, json.null, {} }\n"),
    ("rawget(_G, 'http'), rawget(_G, 'json')", "nil\tnil\n"),
    ("_G.x", "5\n"), ("http == require 'http'", "true\n"), ("http.spawn(print, 'job'):wait()", "job\n"),
    ("local t = {} t.t = t return t", "{ t = <the table around it> }\n"), ("'ü€'", "\"ü€\"\n"),
    ("select(2, http.get('http://127.0.0.1:1/')).code", "\"cannot_connect_to_host\"\n"),
    ("coroutine.wrap(function() http.sleep(0) return 'slept' end)()", "\"slept\"\n"),
    ("io.write('no line end')", "no line end"),
  ]

  @Test("values are shown", arguments: terminals)
  func values(terminal: String) async throws {
    try await Self.dialogue(terminal) { person in
      for value in Self.values {
        let shown = person.enter(value.typed)
        // io.write gives the file back, which is a value too.
        if value.typed.hasPrefix("io.") {
          #expect(shown?.hasPrefix(value.shown + "file (") == true)
        } else {
          #expect(shown == value.shown, "\(value.typed)")
        }
      }
      #expect(person.leave().ending == .exited(0))
    }
  }

  @Test("a chunk may take several lines", arguments: terminals)
  func lines(terminal: String) async throws {
    try await Self.dialogue(terminal) { person in
      for line in ["for i = 1, 2 do", "  print(i)"] { #expect(person.enter(line)?.isEmpty == true) }
      #expect(person.enter("end") == "1\n2\n")
      #expect(person.enter("{ 'a',")?.isEmpty == true)
      #expect(person.enter("'b' }") == "{ \"a\", \"b\" }\n")
      #expect(person.enter("[[long")?.isEmpty == true)
      #expect(person.enter("string]]") == "\"long\\nstring\"\n")
    }
  }

  @Test("an error is shown with its traceback, and the dialogue goes on", arguments: terminals)
  func errors(terminal: String) async throws {
    try await Self.dialogue(terminal) { person in
      #expect(
        person.enter("error('boom')")
          == "stdin:1: boom\nstack traceback:\n\t[C]: in function 'error'\n\tstdin:1: in main chunk\n")
      #expect(person.enter("x y") == "stdin:1: syntax error near 'y'\n")
      #expect(person.enter("error({})")?.hasPrefix("(error object is a table value)\n") == true)
      let failed = person.enter("assert(http.get('http://127.0.0.1:1/'))")
      #expect(failed?.hasPrefix("cannot_connect_to_host: ") == true && failed?.contains("table: ") == false)
      #expect(person.enter("setmetatable({}, { __tostring = error })")?.contains("__tostring failed") == true)
      #expect(person.enter("local function f() return f() + 1 end f()")?.contains("stack overflow") == true)
      #expect(person.enter("1") == "1\n")
      #expect(person.leave().ending == .exited(0))
    }
  }

  @Test("a call waits for its answer", arguments: terminals)
  func call(terminal: String) async throws {
    let server = try ScriptedServer { _ in Reply(fields: [("Content-Type", "application/json")], "{\"n\":[1,2]}") }
    let url = server.url
    try await Self.dialogue(terminal) { person in
      #expect(person.enter("r = assert(http.get('\(url)/a'))")?.isEmpty == true)
      #expect(person.enter("r") == "http.response: 200 \(url)/a\n")
      #expect(person.enter("(r:json())") == "{ n = { 1, 2 } }\n")
    }
    #expect(server.lines == ["GET /a"])
  }

  @Test("a job goes on while the prompt waits, and the line that is being typed stays", arguments: terminals)
  func job(terminal: String) async throws {
    let gate = Gate()
    let server = try ScriptedServer { _ in
      gate.wait()
      return Reply("body")
    }
    let url = server.url
    try await Self.dialogue(terminal) { person in
      let spawn = "http.spawn(function() print('got', http.get('\(url)').body) end)"
      #expect(person.enter(spawn) == "http.job: running\n")
      person.terminal.type("1 +")
      #expect(person.terminal.read(until: "1 +") != nil)
      gate.open()
      #expect(person.terminal.read(until: "got\tbody\n> ") != nil)
      person.terminal.type(" 1\n")
      #expect(person.terminal.read(until: "1\n2\n> ") != nil)
    }
  }

  @Test("a key that is not complete holds up nobody", .enabled(if: hasEditing))
  func halfKey() async throws {
    let gate = Gate()
    let server = try ScriptedServer { _ in
      gate.wait()
      return Reply("body")
    }
    let url = server.url
    try await Self.dialogue("xterm") { person in
      _ = person.enter("http.spawn(function() print('got', http.get('\(url)').body) end)")
      person.terminal.type("1\u{1B}")
      #expect(person.terminal.read(until: "1") != nil)
      gate.open()
      #expect(person.terminal.read(until: "got\tbody\n> 1") != nil)
      person.terminal.type("[D2\n")
      #expect(person.terminal.read(until: "\n21\n> ") != nil)
    }
  }

  @Test("the line is there again after Ctrl-Z and fg, or in a window of another size", .enabled(if: hasEditing))
  func redraw() async throws {
    try await Self.dialogue("xterm") { person in
      person.terminal.type("1 +")
      for signals in [[], [SIGSTOP, SIGCONT], [SIGWINCH]] {
        signals.forEach(person.terminal.signal)
        #expect(person.terminal.read(until: "1 +") != nil)
      }
      person.terminal.type(" 1\n")
      #expect(person.terminal.read(until: "\n2\n> ") != nil)
    }
  }

  static let endless = [
    "http.sleep(100)", "http.sleep(math.huge)", "while true do end", "http.spawn(http.sleep, 100):wait()",
    "coroutine.wrap(function() http.sleep(100) end)()", "http.map({ 1, 2 }, 2, function() http.sleep(100) end)",
  ]

  @Test("Ctrl-C ends a chunk, not the dialogue", arguments: endless)
  func interrupt(chunk: String) async throws {
    try await Self.dialogue("xterm") { person in
      person.terminal.type("print('be' .. 'gun') \(chunk)\n")
      #expect(person.terminal.read(until: "begun\n") != nil)
      person.terminal.type("\u{3}")
      #expect(person.terminal.read(until: "interrupted") != nil)
      #expect(person.answer() != nil)
      #expect(person.enter("1") == "1\n")
      #expect(person.leave().ending == .exited(0))
    }
  }

  @Test("Ctrl-C again ends a chunk that does not heed the first")
  func interruptAgain() async throws {
    try await Self.dialogue("xterm") { person in
      person.terminal.type("while true do pcall(function() print('be' .. 'gun') http.sleep(100) end) end\n")
      for _ in 1...2 {
        #expect(person.terminal.read(until: "begun\n") != nil)
        person.terminal.type("\u{3}")
      }
      #expect(person.terminal.read(until: "interrupted\n> ") != nil)
      #expect(person.enter("1") == "1\n")
    }
  }

  @Test("Ctrl-C leaves jobs of other chunks alone")
  func otherJobs() async throws {
    try await Self.dialogue("xterm") { person in
      #expect(person.enter("j = http.spawn(http.sleep, 100)")?.isEmpty == true)
      person.terminal.type("print('be' .. 'gun') http.sleep(100)\n")
      #expect(person.terminal.read(until: "begun\n") != nil)
      person.terminal.type("\u{3}")
      #expect(person.terminal.read(until: "interrupted\n> ") != nil)
      #expect(person.enter("j.state") == "\"running\"\n")
    }
  }

  @Test("Ctrl-C at the prompt drops the line", arguments: terminals)
  func interruptLine(terminal: String) async throws {
    try await Self.dialogue(terminal) { person in
      #expect(person.enter("if true then")?.isEmpty == true)
      for _ in 1...3 {
        person.terminal.type("half a line")
        #expect(person.terminal.read(until: "half a line") != nil)
        person.terminal.type("\u{3}")
        #expect(person.terminal.read(until: "^C\n> ", "\n> ") != nil)
      }
      #expect(person.enter("1") == "1\n")
    }
  }

  @Test("Ctrl-D ends what is outstanding", arguments: terminals)
  func end(terminal: String) async throws {
    try await Self.dialogue(terminal) { person in
      _ = person.enter("http.spawn(function() print(select(2, pcall(http.sleep, 100)).code) end)")
      _ = person.enter("http.spawn(error, 'unheard')")
      let (output, ending) = person.leave()
      #expect(output.contains("cancelled\n") && output.contains("unheard"), "\(output)")
      #expect(output.contains("httpscript: ended with 1 job still running (stdin:1)\n"), "\(output)")
      #expect(!output.contains("cannot happen"), "\(output)")
      #expect(ending == .exited(0))
      #expect(person.terminal.isCooked)
    }
  }

  @Test("SIGTERM, os.exit and --timeout end it, and the terminal is as it was", arguments: terminals)
  func otherEnds(terminal: String) async throws {
    try await Self.dialogue(terminal) { person in
      person.terminal.signal(SIGTERM)
      #expect(person.terminal.finish().ending == .exited(128 + SIGTERM))
      #expect(person.terminal.isCooked)
    }
    try await Self.dialogue(terminal) { person in
      person.terminal.type("http.spawn(function() http.sleep(0) os.exit(3) end)\n")
      #expect(person.terminal.finish().ending == .exited(3))
      #expect(person.terminal.isCooked)
    }
    try await Self.dialogue(terminal, options: ["--timeout", "1"]) { person in
      #expect(person.terminal.finish().ending == .exited(124))
      #expect(person.terminal.isCooked)
    }
  }

  @Test("a chunk may read from the terminal", arguments: terminals)
  func input(terminal: String) async throws {
    try await Self.dialogue(terminal) { person in
      person.terminal.type("print('be' .. 'gun') return io.read()\n")
      #expect(person.terminal.read(until: "begun\n") != nil)
      #expect(person.enter("for the chunk") == "\"for the chunk\"\n")
      #expect(person.enter("1") == "1\n")
    }
  }

  @Test("lines are kept in a file that is the user's alone", arguments: terminals)
  func history(terminal: String) async throws {
    let state = try TemporaryDirectory()
    let file = state.path + "/httpscript/history"
    try await Self.dialogue(terminal, environment: ["XDG_STATE_HOME": state.path]) { person in
      for line in ["1 + 1", "1 + 1", " secret = 5", "for i = 1, 1 do", "end"] { _ = person.enter(line) }
      #expect(person.leave().ending == .exited(0))
    }
    #expect(state.read("httpscript/history") == Array("1 + 1\nfor i = 1, 1 do\nend\n".utf8))
    var status = stat()
    #expect(stat(file, &status) == 0 && status.st_mode & 0o777 == 0o600)
  }

  @Test("lines of a former dialogue can be called back", .enabled(if: hasEditing))
  func recall() async throws {
    let state = try TemporaryDirectory()
    for round in 1...2 {
      try await Self.dialogue("xterm", environment: ["XDG_STATE_HOME": state.path]) { person in
        if round == 1 {
          #expect(person.enter("6 * 7") == "42\n")
        } else {
          person.terminal.type("\u{1B}[A")
          #expect(person.terminal.read(until: "6 * 7") != nil)
          person.terminal.type("0\n")
          #expect(person.terminal.read(until: "0\n420\n> ") != nil)
        }
        #expect(person.leave().ending == .exited(0))
      }
    }
  }

  @Test("it works without a home and in a bare environment")
  func homeless() async throws {
    var run = Executable(.none)
    run.usesBareEnvironment = true
    for environment in [[:], ["TERM": "xterm"], ["TERM": "nonsense"]] {
      run.environment = environment
      try await run.onTerminal { terminal, home in
        #expect(terminal.read(until: "> ") != nil)
        #expect(Person(terminal: terminal).enter("'ü' .. 1") == "\"ü1\"\n")
        #expect(Person(terminal: terminal).leave().ending == .exited(0))
        #expect(home.names.isEmpty)
      }
    }
  }

  @Test("'-' on a terminal is a script, to the end of the input")
  func script() async throws {
    var run = Executable(.none)
    run.options = ["-"]
    try await run.onTerminal { terminal, _ in
      terminal.type("print('be' .. 'gun')\n\u{4}")
      let (output, ending) = terminal.finish()
      #expect(output.hasSuffix("begun\n") && !output.contains("> "), "\(output)")
      #expect(ending == .exited(0))
    }
  }
}
