/// Splits a curl command line into words as a POSIX shell does.
func shellWords(_ command: String) -> [String] {
  var words: [String] = []
  var word: String?
  var quote: Unicode.Scalar?
  var scalars = Array(command.unicodeScalars)[...]
  func append(_ scalar: Unicode.Scalar) { word = (word ?? "") + String(scalar) }
  while let scalar = scalars.popFirst() {
    switch (scalar, quote) {
    case ("\\", nil): if let next = scalars.popFirst() { append(next) }
    case ("\\", "\""):
      if let next = scalars.first, ["\"", "\\", "$", "`"].contains(next) {
        append(scalars.removeFirst())
      } else {
        append(scalar)
      }
    case ("\"", nil), ("'", nil):
      quote = scalar
      word = word ?? ""
    case (_, let open?) where scalar == open: quote = nil
    case (" ", nil), ("\n", nil):
      word.map { words.append($0) }
      word = nil
    default: append(scalar)
    }
  }
  word.map { words.append($0) }
  return words
}

/// curl options in a normal form: the long name, with its value where it takes one.
struct CurlOption: Sendable {
  let name: String
  let value: String

  /// A short option's long name, and whether it takes a value.
  private static let short: [Character: (String, Bool)] = [
    "u": ("user", true), "d": ("data", true), "H": ("header", true), "L": ("location", false), "o": ("output", true),
    "x": ("proxy", true), "D": ("dump-header", true), "O": ("remote-name", false), "w": ("write-out", true),
    "b": ("cookie", true), "c": ("cookie-jar", true), "J": ("remote-header-name", false), "K": ("config", true),
    "i": ("include", false), "T": ("upload-file", true), "z": ("time-cond", true), "C": ("continue-at", true),
    "s": ("silent", false), "S": ("show-error", false), "U": ("proxy-user", true), "I": ("head", false),
    "F": ("form", true), "r": ("range", true), "f": ("fail", false), "j": ("junk-session-cookies", false),
    "A": ("user-agent", true), "m": ("max-time", true), "X": ("request", true), "4": ("ipv4", false),
    "0": ("http1.0", false), "#": ("progress-bar", false), "e": ("referer", true),
  ]

  /// Long options that take a value.
  private static let valued: Set<String> = [
    "user", "data", "data-binary", "data-urlencode", "header", "output", "output-dir", "proxy", "dump-header",
    "write-out", "cookie", "cookie-jar", "config", "upload-file", "time-cond", "continue-at", "proxy-user", "form",
    "range", "user-agent", "max-time", "request", "referer", "retry", "retry-max-time", "netrc-file", "etag-save",
    "etag-compare", "resolve", "noproxy", "libcurl", "connect-to", "json", "max-redirs", "max-filesize",
    "expect100-timeout", "expand-data", "variable", "stderr", "socks5", "request-target", "proto", "tls-max",
    "url-query", "oauth2-bearer",
  ]

  /// The operations of a command line: their URLs and options.
  static func operations(_ command: String) -> [(urls: [String], options: [CurlOption])] {
    var operations: [(urls: [String], options: [CurlOption])] = [([], [])]
    var words = shellWords(command)[...]
    while let word = words.popFirst() {
      if word == "--next" {
        operations.append(([], []))
      } else if word.hasPrefix("--") {
        let name = String(word.dropFirst(2))
        let value = valued.contains(name) ? words.popFirst() ?? "" : ""
        operations[operations.count - 1].options.append(CurlOption(name: name, value: value))
      } else if word.hasPrefix("-"), word.count > 1 {
        operations[operations.count - 1].options += cluster(word.dropFirst(), &words)
      } else {
        operations[operations.count - 1].urls.append(word)
      }
    }
    return operations
  }

  private static func cluster(_ letters: Substring, _ words: inout ArraySlice<String>) -> [CurlOption] {
    var letters = letters
    var options: [CurlOption] = []
    while let letter = letters.popFirst() {
      guard let (name, takesValue) = short[letter] else {
        options.append(CurlOption(name: String(letter), value: ""))
        continue
      }
      if !takesValue {
        options.append(CurlOption(name: name, value: ""))
      } else {
        options.append(CurlOption(name: name, value: letters.isEmpty ? words.popFirst() ?? "" : String(letters)))
        letters = ""
      }
    }
    return options
  }
}
