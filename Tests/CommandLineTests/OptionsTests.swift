import Testing

@testable import httpscript

/// What the command line means.
@Suite struct OptionsTests {
  struct Case: Sendable, CustomTestStringConvertible {
    let words: [String]
    let options: Options
    var isTerminal = false
    var testDescription: String { words.joined(separator: " ") }

    init(
      _ words: [String], _ source: Options.Source, isTerminal: Bool = false,
      change: (inout Options) -> Void = { _ in }
    ) {
      self.words = words
      var options = Options(source: source)
      change(&options)
      self.options = options
      self.isTerminal = isTerminal
    }
  }

  static let right = [
    Case([], .standardInput),
    Case([], .interactive, isTerminal: true),
    Case(["-"], .standardInput, isTerminal: true),
    Case(["-", "-v", "a"], .standardInput) { $0.arguments = ["-v", "a"] },
    Case(["s.lua"], .file("s.lua"), isTerminal: true),
    Case(["s.lua", "-h", "--", "x"], .file("s.lua")) { $0.arguments = ["-h", "--", "x"] },
    Case(["--", "-s.lua", "x"], .file("-s.lua")) { $0.arguments = ["x"] },
    Case(["--"], .standardInput),
    Case(["--"], .interactive, isTerminal: true),
    Case(["-e", "return 1"], .code("return 1"), isTerminal: true),
    Case(["--eval", "", "-e", "x"], .code("")) { $0.arguments = ["-e", "x"] },
    Case(["-e", "-h"], .code("-h")),
    Case(["-v", "s.lua"], .file("s.lua")) { $0.verbose = true },
    Case(["--verbose", "-"], .standardInput) { $0.verbose = true },
    Case(["-v"], .interactive, isTerminal: true) { $0.verbose = true },
    Case(["--timeout", "2.5", "s.lua"], .file("s.lua")) { $0.timeout = 2.5 },
    Case(["--timeout=3", "-v", "-e", "x"], .code("x")) {
      $0.timeout = 3
      $0.verbose = true
    },
    Case(["-h"], .help), Case(["-v", "--help", "--nonsense"], .help),
    Case(["-V"], .version), Case(["--version", "s.lua"], .version),
    Case([""], .file("")),
  ]

  @Test("right use", arguments: right)
  func right(use: Case) throws {
    #expect(try Options.parse(use.words, isTerminal: use.isTerminal) == use.options)
  }

  static let wrong: [(words: [String], message: String)] = [
    (["-e"], "option '-e' needs a value"),
    (["-v", "--eval"], "option '--eval' needs a value"),
    (["--timeout"], "option '--timeout' needs a value"),
    (["--timeout", "soon"], "option '--timeout' needs a number of seconds above 0, not 'soon'"),
    (["--timeout", "0"], "option '--timeout' needs a number of seconds above 0, not '0'"),
    (["--timeout", "-1"], "option '--timeout' needs a number of seconds above 0, not '-1'"),
    (["--timeout=inf"], "option '--timeout' needs a number of seconds above 0, not 'inf'"),
    (["--timeout=nan"], "option '--timeout' needs a number of seconds above 0, not 'nan'"),
    (["--timeout="], "option '--timeout' needs a number of seconds above 0, not ''"),
    (["-x"], "unknown option '-x'; try 'httpscript --help'"),
    (["--nonsense"], "unknown option '--nonsense'; try 'httpscript --help'"),
    (["--verbos", "s.lua"], "unknown option '--verbos' (did you mean '--verbose'?); try 'httpscript --help'"),
    (["--timeot"], "unknown option '--timeot' (did you mean '--timeout'?); try 'httpscript --help'"),
    (["-v", "-y", "s.lua"], "unknown option '-y'; try 'httpscript --help'"),
  ]

  @Test("wrong use", arguments: 0..<wrong.count)
  func wrong(index: Int) {
    let use = Self.wrong[index]
    #expect(throws: UsageError(message: use.message)) { try Options.parse(use.words, isTerminal: true) }
  }
}
