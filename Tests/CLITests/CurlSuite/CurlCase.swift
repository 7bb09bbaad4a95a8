import Foundation
import TestSupport

/// One of curl's own HTTP tests, with its variables filled in for a server at `port`.
struct CurlCase: Sendable {
  let number: Int
  let name: String
  let command: String
  let reply: [String: String]
  let checksBody: Bool
  let protocolText: String?
  let stripPatterns: [String]
  let errorCode: Int?
  let standardInput: String
  let files: [(name: String, content: String)]
  let environment: [String: String]
  /// The test is about a configuration file that curl finds by itself.
  let hasConfigurationHome: Bool
  /// Replies that need the server to misbehave in a way the replay does not know.
  let hasServerCommand: Bool

  init(_ json: JSONValue, port: Int, directory: String) {
    let number = json["num"].integer ?? 0
    let fill = CurlVariables(number: number, port: port, directory: directory)
    func text(_ value: JSONValue) -> String? { (value["content"].string ?? value.string).map(fill.callAsFunction) }
    self.number = number
    name = json["name"].string ?? ""
    command = fill(json["command"].string ?? "")
    reply = json["reply"].object.compactMapValues(text)
    checksBody = !json["reply"].object.values.contains { $0["attrs"]["nocheck"].string == "yes" }
    let wanted = json["verify"]["protocol"]
    let isBare = wanted["attrs"]["nonewline"].string == "yes"
    protocolText = text(wanted).map { isBare && $0.hasSuffix("\n") ? String($0.unicodeScalars.dropLast()) : $0 }
    stripPatterns = (text(json["verify"]["strip"]) ?? "").split(separator: "\n").map(String.init)
    errorCode = text(json["verify"]["errorcode"]).flatMap { Int($0.trimmingCharacters(in: .whitespacesAndNewlines)) }
    standardInput = text(json["stdin"]) ?? ""
    files = json["client_files"].array.map { (fill($0["name"].string ?? ""), fill($0["content"].string ?? "")) }
    hasServerCommand = !json["reply"]["servercmd"].isNull
    hasConfigurationHome = json["setenv"].array.contains { $0.string?.hasPrefix("CURL_HOME") == true }
    environment = Dictionary(
      json["setenv"].array.compactMap { fill($0.string ?? "").firstMatch(of: /^(\w+_\w+|\w+PROXY)=(.*)$/) }
        .map { (String($0.1), String($0.2)) }.filter { $0.0.lowercased().hasSuffix("_proxy") },
      uniquingKeysWith: { $1 })
  }

  /// The body curl writes in the end: what follows the last head in the text its test compares with.
  var expectedBody: String? {
    guard checksBody, let all = reply["datacheck"] ?? reply["data"] else { return nil }
    let scalars = Array(all.unicodeScalars)
    guard let start = scalars.ranges(of: Array("HTTP/".unicodeScalars)).last?.lowerBound else { return nil }
    let last = scalars[start...]
    let ends = ["\r\n\r\n", "\n\n"].compactMap { last.firstRange(of: Array($0.unicodeScalars))?.upperBound }
    guard let end = ends.min() else { return nil }
    return last[end...].reduce(into: "") { $0.unicodeScalars.append($1) }
  }
}

/// Fills in what curl's runner calls variables and macros.
struct CurlVariables {
  let number: Int
  let port: Int
  let directory: String

  func callAsFunction(_ text: String) -> String {
    var text = text
    let values = [
      ("%TESTNUMBER", "\(number)"), ("%HOSTIP", "127.0.0.1"), ("%HTTPPORT", "\(port)"), ("%VERSION", "7.88.1"),
      ("%LOGDIR", directory), ("%FILE_PWD", directory), ("%PWD", directory), ("%DEV_NULL", "/dev/null"),
      ("%NOLISTENPORT", "1"), ("%PROXYPORT", "1"),
    ]
    for (name, value) in values { text = text.replacingOccurrences(of: name, with: value) }
    text = text.replacing(/%repeat\[(\d+) x ([^\]]*)\]%/) { match in
      let piece = String(match.2).replacingOccurrences(of: "%0a", with: "\n")
      return String(repeating: piece, count: Int(match.1) ?? 0)
    }
    return text.replacing(/%b64\[([^\]]*)\]b64%/) { match in
      Data(latin1Bytes(String(match.1).replacingOccurrences(of: "%0a", with: "\n"))).base64EncodedString()
    }
  }
}
