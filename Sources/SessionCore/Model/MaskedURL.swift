/// URLs as they may be shown: without what may be a password.
enum MaskedURL {
  /// A text that was to be a URL and may be none, so that nobody knows where its password ends: everything up to the
  /// last "@" goes.
  static func text(_ url: String) -> String {
    guard let at = url.utf8.lastIndex(of: UInt8(ascii: "@")) else { return url }
    let start = authorityStart(url[..<at]) ?? url.startIndex
    return String(url[..<start]) + "***" + url[at...]
  }

  /// Behind the scheme.
  private static func authorityStart(_ text: Substring) -> String.Index? {
    guard let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")) else { return nil }
    var start = text.utf8.index(after: colon)
    while start < text.endIndex, text.utf8[start] == UInt8(ascii: "/") { start = text.utf8.index(after: start) }
    return start
  }

  /// A URL without user and password, which nothing takes the place of.
  static func withoutCredentials(_ url: String) -> String {
    let authority = url[..<URLParts.authorityEnd(url)]
    guard let at = authority.utf8.lastIndex(of: UInt8(ascii: "@")), let start = authorityStart(authority) else {
      return url
    }
    return String(url[..<start]) + url[url.utf8.index(after: at)...]
  }

  /// A text in which there may be URLs: user and password of each are masked.
  static func masking(_ text: String) -> String {
    guard text.utf8.contains(UInt8(ascii: "@")) else { return text }
    let bytes = Array(text.utf8)
    var result: [UInt8] = []
    var index = 0
    while index < bytes.count {
      result.append(bytes[index])
      index += 1
      guard result.suffix(3).elementsEqual("://".utf8) else { continue }
      let end = bytes[index...].firstIndex(where: endsAuthority) ?? bytes.count
      guard let at = bytes[index..<end].lastIndex(of: UInt8(ascii: "@")) else { continue }
      result += Array("***".utf8)
      index = at
    }
    return String(decoding: result, as: UTF8.self)
  }

  /// A text in which there may be URLs: the values of parameters of a query or a fragment that carry a secret, to judge
  /// by their names, are masked.
  static func maskingParameters(_ text: String) -> String {
    guard text.utf8.contains(UInt8(ascii: "=")) else { return text }
    var result: [UInt8] = []
    var rest = Array(text.utf8)[...]
    while let start = rest.firstIndex(where: "?&;#".utf8.contains) {
      result += rest[...start]
      rest = rest[(start + 1)...]
      let parameter = rest.prefix { $0 > 0x20 && !"&#\"<>".utf8.contains($0) }
      guard let equals = parameter.firstIndex(of: UInt8(ascii: "=")),
        SecretName.isParameter(String(decoding: parameter[..<equals], as: UTF8.self)[...])
      else { continue }
      result += Array(parameter[...equals]) + Array("***".utf8)
      rest = rest[parameter.endIndex...]
    }
    return String(decoding: result + rest, as: UTF8.self)
  }

  private static func endsAuthority(_ byte: UInt8) -> Bool {
    byte <= 0x20 || "/?#\"'".utf8.contains(byte)
  }
}

extension TaskError {
  /// About a URL that is none, or none for us.
  init(_ code: Code, _ message: String, aboutURL url: String) {
    let shown = MaskedURL.text(url)
    self.init(code, "\(message): \(shown)", url: shown)
  }
}
