/// What the command line asks for.
struct Options: Equatable {
  enum Source: Equatable {
    case file(String)
    case code(String)
    case standardInput
    case interactive
    case version
    case help
  }

  var source: Source
  /// The script's own arguments.
  var arguments: [String] = []
  /// Seconds after which the whole process ends with status 124.
  var timeout: Double?
  /// Requests and responses on standard error.
  var verbose = false
}

/// Wrong use: one line for standard error, exit status 2.
struct UsageError: Error, Equatable {
  let message: String
}

extension Options {
  /// Parses what follows the program's name. Options end at the script, at `-`, after `-e code`, or at `--`.
  /// - Parameter isTerminal: whether standard input is a terminal, so that no script means a dialogue.
  static func parse(_ words: [String], isTerminal: Bool) throws(UsageError) -> Options {
    var options = Options(source: isTerminal ? .interactive : .standardInput)
    var index = 0
    while index < words.count {
      let word = words[index]
      index += 1
      switch word {
      case "-h", "--help": return Options(source: .help)
      case "-V", "--version": return Options(source: .version)
      case "-v", "--verbose": options.verbose = true
      case "-e", "--eval":
        options.source = .code(try value(of: word, in: words, at: index))
        return options.with(arguments: words[(index + 1)...])
      case "--timeout":
        options.timeout = try seconds(value(of: word, in: words, at: index), option: word)
        index += 1
      case "-":
        options.source = .standardInput
        return options.with(arguments: words[index...])
      case "--":
        return options.withScript(words[index...])
      case _ where word.hasPrefix("--timeout="):
        options.timeout = try seconds(String(word.dropFirst("--timeout=".count)), option: "--timeout")
      case _ where word.hasPrefix("-"):
        throw UsageError(message: "unknown option '\(word)'\(suggestion(for: word)); try 'httpscript --help'")
      default:
        return options.withScript(words[(index - 1)...])
      }
    }
    return options
  }

  private func with(arguments: ArraySlice<String>) -> Options {
    var copy = self
    copy.arguments = Array(arguments)
    return copy
  }

  private func withScript(_ rest: ArraySlice<String>) -> Options {
    guard let script = rest.first else { return self }
    var copy = with(arguments: rest.dropFirst())
    copy.source = .file(script)
    return copy
  }

  private static func value(of option: String, in words: [String], at index: Int) throws(UsageError) -> String {
    guard index < words.count else { throw UsageError(message: "option '\(option)' needs a value") }
    return words[index]
  }

  private static func seconds(_ text: String, option: String) throws(UsageError) -> Double {
    guard let value = Double(text), value > 0, value.isFinite else {
      throw UsageError(message: "option '\(option)' needs a number of seconds above 0, not '\(text)'")
    }
    return value
  }

  /// The known option that begins like it the longest.
  private static func suggestion(for word: String) -> String {
    let known = ["--help", "--version", "--verbose", "--eval", "--timeout"]
    let common = known.map { option in zip(option, word).prefix { $0 == $1 }.count }
    guard let most = common.max(), most >= 4, let index = common.firstIndex(of: most) else { return "" }
    return " (did you mean '\(known[index])'?)"
  }
}
