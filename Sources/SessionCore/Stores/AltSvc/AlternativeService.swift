/// One place where an origin can be had as well (RFC 7838): what an Alt-Svc field offers.
struct AlternativeService: Equatable {
  /// As ALPN has it: "h2", "http/1.1".
  var protocolName: String
  /// The origin's own where the field names none.
  var host: String
  var port: Int
  /// Seconds for which it holds.
  var maxAge: Double

  /// Without another word it holds for a day (§3.1).
  private static let usualAge = 24.0 * 3600

  /// What a field offers, the server's favourite first; nil for `clear`, which takes everything back. What is not
  /// understood is left out.
  static func parse(_ field: String, origin: String) -> [AlternativeService]? {
    if HeaderText.equalNames(field, "clear") { return nil }
    return split(field, at: UInt8(ascii: ",")).compactMap { item in
      let parts = split(item, at: UInt8(ascii: ";"))
      guard let first = parts.first, let (name, authority) = pair(first),
        let colon = authority.utf8.lastIndex(of: UInt8(ascii: ":")),
        let port = Int(authority[authority.index(after: colon)...]), (1...65535).contains(port)
      else { return nil }
      let host = authority[..<colon]
      var service = AlternativeService(
        protocolName: PercentEncoding.decode(name), host: host.isEmpty ? origin : host.lowercased(), port: port,
        maxAge: usualAge)
      for parameter in parts.dropFirst() {
        guard let (key, value) = pair(parameter), key.lowercased() == "ma", let age = Double(value), age >= 0 else {
          continue
        }
        service.maxAge = age
      }
      return service
    }
  }

  /// Name and value, without quotes around it.
  private static func pair(_ text: String) -> (String, String)? {
    guard let equals = text.utf8.firstIndex(of: UInt8(ascii: "=")) else { return nil }
    let value = text[text.index(after: equals)...]
    let isQuoted = value.utf8.count >= 2 && value.hasPrefix("\"") && value.hasSuffix("\"")
    return (trimmed(text[..<equals]), isQuoted ? String(value.dropFirst().dropLast()) : trimmed(value))
  }

  /// The pieces between separators that stand outside quotes, without white space around them.
  private static func split(_ text: String, at separator: UInt8) -> [String] {
    var pieces: [String] = []
    var start = text.startIndex
    var isQuoted = false
    for index in text.utf8.indices {
      if text.utf8[index] == UInt8(ascii: "\"") { isQuoted.toggle() }
      if text.utf8[index] == separator, !isQuoted {
        pieces.append(trimmed(text[start..<index]))
        start = text.utf8.index(after: index)
      }
    }
    return pieces + [trimmed(text[start...])]
  }

  private static func trimmed(_ text: Substring) -> String {
    var text = text
    while text.first == " " || text.first == "\t" { text.removeFirst() }
    while text.last == " " || text.last == "\t" { text.removeLast() }
    return String(text)
  }
}
