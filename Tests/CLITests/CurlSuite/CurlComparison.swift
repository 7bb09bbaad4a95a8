import Foundation
import TestSupport

/// Compares requests as curl made them with requests as another tool may make them.
///
/// Left out of account: User-Agent, `Accept: */*`, Accept-Encoding, Proxy-Connection, the order of
/// fields, how a chunked body is cut up, the order of cookies, which curl sends newest first where RFC 6265bis has
/// the oldest first, and braces in URLs, which curl sends as they are and browsers percent-encode.
struct CurlComparison {
  let patterns: [String]

  /// The requests in wire order, each as one comparable text.
  func normal(_ wire: String) -> [String] {
    var rest = Array(wire.unicodeScalars)[...]
    var requests: [String] = []
    while let end = rest.firstRange(of: Array("\r\n\r\n".unicodeScalars)) {
      let head = text(rest[..<end.lowerBound])
      rest = rest[end.upperBound...]
      requests.append(normal(head: head) + "\n\n" + body(of: head, &rest))
    }
    if !rest.isEmpty { requests.append("left over: " + text(rest)) }
    return requests
  }

  private func text(_ scalars: ArraySlice<Unicode.Scalar>) -> String {
    var text = ""
    text.unicodeScalars.append(contentsOf: scalars)
    return text
  }

  private func normal(head: String) -> String {
    var lines = head.components(separatedBy: "\r\n")
    let first = lines.removeFirst().replacing("{", with: "%7B").replacing("}", with: "%7D")
    let kept = lines.filter { line in
      let name = line.prefix { $0 != ":" }.lowercased()
      return !["user-agent", "accept-encoding", "proxy-connection"].contains(name)
        && line.lowercased() != "accept: */*" && !isStripped(line)
    }
    return ([first] + kept.map(normal(field:)).sorted()).joined(separator: "\n")
  }

  private func normal(field line: String) -> String {
    guard let colon = line.firstIndex(of: ":") else { return line }
    let value = line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces)
    let name = line[..<colon].lowercased()
    if name == "cookie" { return name + ": " + value.components(separatedBy: "; ").sorted().joined(separator: "; ") }
    return name + ": " + value
  }

  private func isStripped(_ line: String) -> Bool {
    patterns.contains { line.range(of: $0, options: .regularExpression) != nil }
  }

  private func body(of head: String, _ rest: inout ArraySlice<Unicode.Scalar>) -> String {
    let lower = head.lowercased()
    if lower.contains("transfer-encoding: chunked") { return chunks(&rest) }
    let length = lower.firstMatch(of: /content-length: *(\d+)/).flatMap { Int($0.1) } ?? 0
    let body = text(rest.prefix(length))
    rest = rest.dropFirst(length)
    return body
  }

  private func chunks(_ rest: inout ArraySlice<Unicode.Scalar>) -> String {
    var body = ""
    while let end = rest.firstRange(of: ["\r", "\n"]) {
      let size = Int(text(rest[..<end.lowerBound]), radix: 16) ?? 0
      rest = rest[end.upperBound...]
      body += text(rest.prefix(size))
      rest = rest.dropFirst(size + 2)
      if size == 0 { break }
    }
    return body
  }
}
