import Testing

@testable import httpscript

/// What the command line means.
@Suite struct OptionsTests {
  struct Use: Sendable, CustomTestStringConvertible {
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

  static let rightUses: [Use] = [
    Use([], .standardInput),
    Use([], .interactive, isTerminal: true),
    Use(["-"], .standardInput, isTerminal: true),
    Use(["-", "-v", "a"], .standardInput) { $0.arguments = ["-v", "a"] },
    Use(["s.lua"], .file("s.lua"), isTerminal: true),
    Use(["s.lua", "-h", "--", "x"], .file("s.lua")) { $0.arguments = ["-h", "--", "x"] },
    Use(["--", "-s.lua", "x"], .file("-s.lua")) { $0.arguments = ["x"] },
    Use(["--"], .standardInput),
    Use(["--"], .interactive, isTerminal: true),
    Use(["-e", "return 1"], .code("return 1"), isTerminal: true),
    Use(["--eval", "", "-e", "x"], .code("")) { $0.arguments = ["-e", "x"] },
    Use(["-e", "-h"], .code("-h")),
    Use(["-v", "s.lua"], .file("s.lua")) { $0.verbose = true },
    Use(["--verbose", "-"], .standardInput) { $0.verbose = true },
    Use(["-v"], .interactive, isTerminal: true) { $0.verbose = true },
    Use(["--timeout", "2.5", "s.lua"], .file("s.lua")) { $0.timeout = 2.5 },
    Use(["--timeout=3", "-v", "-e", "x"], .code("x")) {
      $0.timeout = 3
      $0.verbose = true
    },
    Use(["-h"], .help), Use(["-v", "--help", "--nonsense"], .help),
    Use(["-V"], .version), Use(["--version", "s.lua"], .version),
    Use([""], .file("")),
  ]

  @Test("right use", arguments: rightUses)
  func right(use: Use) throws {
    #expect(try Options.parse(use.words, isTerminal: use.isTerminal) == use.options)
  }

  static let wrongUses: [(words: [String], message: String)] = [
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
    (["--versoin"], "unknown option '--versoin' (did you mean '--version'?); try 'httpscript --help'"),
    (["--evl"], "unknown option '--evl' (did you mean '--eval'?); try 'httpscript --help'"),
    (["--timeot"], "unknown option '--timeot' (did you mean '--timeout'?); try 'httpscript --help'"),
    (["-v", "-y", "s.lua"], "unknown option '-y'; try 'httpscript --help'"),
  ]

  @Test("wrong use", arguments: 0..<wrongUses.count)
  func wrong(index: Int) {
    let use = Self.wrongUses[index]
    #expect(throws: UsageError(message: use.message)) { try Options.parse(use.words, isTerminal: true) }
  }
}
