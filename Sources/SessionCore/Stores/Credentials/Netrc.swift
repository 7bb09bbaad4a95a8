/// A netrc file, read as curl reads it: words between white space, in double quotes with `\n`, `\r`, `\t` and a
/// backslash before any other character; what begins with `#` is a comment to the end of its line; macros are passed
/// over. The first entry for a host counts, and `default` is for every host from where it stands.
struct Netrc {
  struct Entry: Equatable {
    /// nil for `default`.
    var machine: String?
    var login = ""
    var password = ""
    /// A word of it is not UTF-8, or has NUL in it, so that it cannot be what it says.
    var isUnreadable = false
  }

  private(set) var entries: [Entry] = []

  /// Nil for a file that does not hold to the syntax: a quote without its end.
  init?(_ text: [UInt8]) {
    var words = Words(text)
    while case .word(let word) = words.next() { take(word.lowercased(), &words) }
    if words.isBroken { return nil }
  }

  /// The login and password for a host: the first entry for it, of this user where one is given.
  func entry(for host: String, user: String? = nil) -> Entry? {
    entries.first { entry in
      let isHosts = entry.machine.map { HeaderText.equalNames($0, host) } ?? true
      return isHosts && (user == nil || entry.login.isEmpty || entry.login == user)
    }.map { entry in
      var entry = entry
      if let user { entry.login = user }
      return entry
    }
  }

  private mutating func take(_ keyword: String, _ words: inout Words) {
    switch keyword {
    case "machine": if case .word(let name) = words.next() { entries.append(Entry(machine: name)) }
    case "default": entries.append(Entry(machine: nil))
    case "login": takeWord(\.login, &words)
    case "password": takeWord(\.password, &words)
    case "account": _ = words.next()
    case "macdef": words.skipMacro()
    default: break
    }
  }

  private mutating func takeWord(_ part: WritableKeyPath<Entry, String>, _ words: inout Words) {
    guard case .word(let word) = words.next(), !entries.isEmpty else { return }
    entries[entries.count - 1][keyPath: part] = word
    if words.isLastUnreadable { entries[entries.count - 1].isUnreadable = true }
  }

  /// The words of the text.
  private struct Words {
    private let text: [UInt8]
    private var index = 0
    /// A quote has no end: there are no more words.
    private(set) var isBroken = false
    private(set) var isLastUnreadable = false

    enum Next {
      case word(String)
      case end
    }

    init(_ text: [UInt8]) { self.text = text }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }

    mutating func next() -> Next {
      while index < text.count {
        if Self.isSpace(text[index]) {
          index += 1
        } else if text[index] == UInt8(ascii: "#") {
          skipLine()
        } else {
          return text[index] == UInt8(ascii: "\"") ? quoted() : plain()
        }
      }
      return .end
    }

    private mutating func plain() -> Next {
      let start = index
      while index < text.count, !Self.isSpace(text[index]) { index += 1 }
      return word(text[start..<index])
    }

    private mutating func word(_ bytes: ArraySlice<UInt8>) -> Next {
      let text = bytes.contains(0) ? nil : String(validating: bytes, as: UTF8.self)
      isLastUnreadable = text == nil
      return .word(text ?? String(decoding: bytes, as: UTF8.self))
    }

    /// Within its line.
    private mutating func quoted() -> Next {
      var word: [UInt8] = []
      index += 1
      while index < text.count, text[index] != 0x0A {
        var byte = text[index]
        index += 1
        if byte == UInt8(ascii: "\"") { return self.word(word[...]) }
        if byte == UInt8(ascii: "\\") {
          guard index < text.count else { break }
          byte = Self.escapes[text[index]] ?? text[index]
          index += 1
        }
        word.append(byte)
      }
      isBroken = true
      index = text.count
      return .end
    }

    private static let escapes: [UInt8: UInt8] = [
      UInt8(ascii: "n"): 0x0A, UInt8(ascii: "r"): 0x0D, UInt8(ascii: "t"): 0x09,
    ]

    /// The rest of the line, and all lines up to an empty one.
    mutating func skipMacro() {
      skipLine()
      while index < text.count {
        let isEmpty = text[index] == 0x0A || text[index] == 0x0D
        skipLine()
        if isEmpty { return }
      }
    }

    private mutating func skipLine() {
      while index < text.count, text[index] != 0x0A { index += 1 }
      index += 1
    }
  }
}
