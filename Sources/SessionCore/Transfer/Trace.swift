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
  static func note(_ text: String) { write("* \(shown(text))\n") }

  /// The lines of a head, each behind its mark, the values of secret fields and of secret parameters in URLs replaced.
  /// An authentication scheme stays to be seen.
  static func marked(_ head: UnsafeRawBufferPointer, with mark: String) -> String {
    var result = ""
    for line in head.split(separator: 0x0A, omittingEmptySubsequences: true) {
      let text = line.last == 0x0D ? line.dropLast() : line
      result += mark + masked(UnsafeRawBufferPointer(rebasing: text)) + "\n"
    }
    return result
  }

  private static func masked(_ line: UnsafeRawBufferPointer) -> String {
    let text = String(decoding: line, as: UTF8.self)
    guard !isStartLine(text), let name = text.split(separator: ":", maxSplits: 1).first else { return shown(text) }
    for field in ["authorization", "proxy-authorization"] as [StaticString] {
      guard let value = HeaderText.value(of: field, in: line) else { continue }
      let scheme = value.prefix { $0 != 0x20 }
      return "\(name): \(scheme.count < value.count ? String(decoding: scheme, as: UTF8.self) + " " : "")***"
    }
    return SecretName.isField(name) ? "\(name): ***" : shown(text)
  }

  /// Whether it is a request line or a status line. A field line has its colon before any space; where a server writes
  /// a space before the colon, it is a field line all the same.
  private static func isStartLine(_ text: String) -> Bool {
    if text.hasPrefix("HTTP/") { return true }
    let words = text.split(separator: " ")
    return words.count == 3 && words[2].hasPrefix("HTTP/") && !words[0].utf8.contains(UInt8(ascii: ":"))
      && words[1].utf8.first != UInt8(ascii: ":")
  }

  private static func shown(_ text: String) -> String { MaskedURL.maskingParameters(MaskedURL.masking(text)) }

  /// One write for each text, so that lines of several transfers do not mix.
  private static func write(_ text: String) {
    var text = text
    text.withUTF8 { _ = Glibc.write(STDERR_FILENO, $0.baseAddress, $0.count) }
  }
}
