import TestSupport

/// An independent look at a Digest `Authorization` field (RFC 7616, algorithm MD5).
struct DigestCheck {
  /// The parameters, quotes removed.
  let parameters: [String: String]

  init(field: String) {
    var parameters: [String: String] = [:]
    for match in field.matches(of: /([A-Za-z]+)=(?:"([^"]*)"|([^,\s]+))/) {
      parameters[String(match.1)] = String(match.2 ?? match.3 ?? "")
    }
    self.parameters = parameters
  }

  /// Whether user "user" with password "pw" in realm "r" and nonce "n1" made it for this request.
  func accepts(_ request: ReceivedRequest) -> Bool {
    func value(_ name: String) -> String { parameters[name] ?? "" }
    var second = "\(request.method):\(request.target)"
    if value("qop") == "auth-int" { second += ":" + md5(request.body) }
    let middle = ["n1", value("nc"), value("cnonce"), value("qop")].joined(separator: ":")
    let expected = md5(Array("\(md5(Array("user:r:pw".utf8))):\(middle):\(md5(Array(second.utf8)))".utf8))
    return value("uri") == request.target && value("response") == expected
  }
}
