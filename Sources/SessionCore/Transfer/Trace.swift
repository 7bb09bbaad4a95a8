import CCurlShim
import Glibc

/// The heads of requests and responses on standard error, as curl's `-v` shows them, without the secrets.
enum Trace {
  static func install(on curl: UnsafeMutableRawPointer) {
    hs_easy_set_debug_callback(curl, tell)
    hs_easy_set_long(curl, CURLOPT_VERBOSE, 1)
  }

  private static let tell: curl_debug_callback = { _, kind, data, size, _ in
    guard let data else { return 0 }
    let text = UnsafeRawBufferPointer(start: data, count: size)
    switch kind {
    case CURLINFO_HEADER_OUT: write(marked(text, with: "> "))
    case CURLINFO_HEADER_IN: write(marked(text, with: "< "))
    default: break
    }
    return 0
  }

  /// Something that is no head of libcurl's.
  static func note(_ text: String) { write("* \(text)\n") }

  /// The lines of a head, each behind its mark, the values of secret fields replaced. An authentication scheme stays
  /// to be seen.
  static func marked(_ head: UnsafeRawBufferPointer, with mark: String) -> String {
    var result = ""
    for line in head.split(separator: 0x0A, omittingEmptySubsequences: true) {
      let text = line.last == 0x0D ? line.dropLast() : line
      result += mark + masked(UnsafeRawBufferPointer(rebasing: text)) + "\n"
    }
    return result
  }

  private static func masked(_ line: UnsafeRawBufferPointer) -> String {
    for name in ["authorization", "proxy-authorization"] as [StaticString] {
      guard let value = HeaderText.value(of: name, in: line) else { continue }
      let scheme = value.prefix { $0 != 0x20 }
      return "\(name): \(scheme.count < value.count ? String(decoding: scheme, as: UTF8.self) + " " : "")***"
    }
    let text = String(decoding: line, as: UTF8.self)
    guard let name = text.split(separator: ":", maxSplits: 1).first?.lowercased(), isSecret(name) else {
      return MaskedURL.masking(text)
    }
    return "\(name): ***"
  }

  /// Whether a field of this name (in lower case) carries a secret: those of HTTP, and what services call theirs.
  private static func isSecret(_ name: String) -> Bool {
    ["cookie", "token", "secret", "password", "api-key", "apikey"].contains { holds(name, $0) }
  }

  private static func holds(_ name: String, _ word: String) -> Bool {
    var rest = name[...]
    while !rest.isEmpty {
      if rest.hasPrefix(word) { return true }
      rest = rest.dropFirst()
    }
    return false
  }

  /// One write for each text, so that lines of several transfers do not mix.
  private static func write(_ text: String) {
    var text = text
    text.withUTF8 { _ = Glibc.write(STDERR_FILENO, $0.baseAddress, $0.count) }
  }
}
