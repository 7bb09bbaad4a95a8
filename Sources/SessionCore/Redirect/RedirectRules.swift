/// What a redirect response means (RFC 9110 §15.4, Fetch §4.4), as a pure function.
enum RedirectRules {
  enum Outcome {
    /// It is no redirect that can be followed: the response stands for itself.
    case response
    /// Make this request. `keepsBody`: the body goes along. `crossesOrigin`: credentials stay behind.
    case follow(Request, keepsBody: Bool, crossesOrigin: Bool)
    case failure(TaskError)
  }

  static func isRedirect(_ status: Int) -> Bool {
    switch status {
    case 301, 302, 303, 307, 308: return true
    default: return false
    }
  }

  /// - Parameters:
  ///   - url: The URL the request went to, with its fragment, without user and password.
  ///   - location: The Location field's bytes.
  ///   - allowsAnyScheme: A URL of another scheme than HTTP's may be loaded, by whoever knows it; but never what is
  ///     on this machine or in the URL itself.
  static func evaluate(
    _ request: Request, url: String, status: Int, location: UnsafeRawBufferPointer, allowsAnyScheme: Bool = false
  ) -> Outcome {
    guard isRedirect(status), !location.isEmpty else { return .response }
    let reference = encodedReference(location, against: url)
    guard case .success(var target) = URLParts.resolve(reference, against: url) else {
      return .failure(unparsable(reference, url))
    }
    if let scheme = URLParts.leadingScheme(target).map({ String($0) }), !isWeb(scheme) {
      guard allowsAnyScheme, !["data", "file"].contains(where: { HeaderText.equalNames($0, scheme) }) else {
        let shown = MaskedURL.text(target)
        return .failure(TaskError(.unsupportedURL, "redirect to a URL of an unsupported scheme: \(shown)", url: url))
      }
      return follow(request, status: status, target: target, crossesOrigin: true)
    }
    guard case .success(let to) = URLParts.parse(target), case .success(let from) = URLParts.parse(url) else {
      return .failure(unparsable(reference, url))
    }
    if to.fragment == nil, let fragment = from.fragment { target += "#\(fragment)" }
    return follow(request, status: status, target: target, crossesOrigin: !sameOrigin(from, to))
  }

  private static func follow(_ request: Request, status: Int, target: String, crossesOrigin: Bool) -> Outcome {
    var next = request
    next.url = target
    let method = methodAfter(status, request.method)
    let keepsBody = method == nil
    if let method {
      next.method = method
      next.body = .none
      next.headers.removeAll { isContentField($0.name) }
    }
    if crossesOrigin { next.headers.removeAll { isBoundToOrigin($0.name) } }
    return .follow(next, keepsBody: keepsBody, crossesOrigin: crossesOrigin)
  }

  /// The method to change to, or nil where method and body stay as they are.
  static func methodAfter(_ status: Int, _ method: String) -> String? {
    switch status {
    case 301, 302: return method == "POST" ? "GET" : nil
    case 303: return method == "GET" || HeaderText.equalNames(method, "HEAD") ? nil : "GET"
    default: return nil
    }
  }

  /// Applies the rules on credentials to a request a handler made itself: a field bound to the origin stays behind
  /// unless the handler gave it another value than the old request had.
  static func guarded(_ request: Request, previous: Request, crossesOrigin: Bool) -> Request {
    guard crossesOrigin else { return request }
    var result = request
    result.headers.removeAll { isBoundToOrigin($0.name) && previous.headers.contains($0) }
    return result
  }

  /// True when both URLs have one scheme, host and port.
  static func sameOrigin(_ a: URLParts, _ b: URLParts) -> Bool {
    a.scheme == b.scheme && HeaderText.equalNames(a.host ?? "", b.host ?? "")
      && (a.port ?? URLParts.defaultPort(a.scheme)) == (b.port ?? URLParts.defaultPort(b.scheme))
  }

  static func isBoundToOrigin(_ name: String) -> Bool {
    ["authorization", "cookie", "proxy-authorization", "host"].contains { HeaderText.equalNames($0, name) }
  }

  static func isContentField(_ name: String) -> Bool {
    if HeaderText.equalNames(name, "transfer-encoding") || HeaderText.equalNames(name, "expect") { return true }
    let prefix = "content-"
    return name.utf8.count > prefix.utf8.count && HeaderText.equalNames(String(name.prefix(prefix.count)), prefix)
  }

  static func isWeb(_ scheme: String) -> Bool {
    HeaderText.equalNames(scheme, "http") || HeaderText.equalNames(scheme, "https")
  }

  /// A Location's bytes as a reference whose raw bytes mean what they mean to browsers (URL standard): control
  /// characters, spaces and bytes beyond ASCII are percent-encoded, whatever their character set; for http and https, a
  /// backslash before the query is a slash, and tabs are nothing. The rest is up to the parser (`URLTail`).
  static func encodedReference(_ location: UnsafeRawBufferPointer, against base: String) -> String {
    guard location.contains(where: { isRaw($0) || $0 == UInt8(ascii: "\\") }) else {
      return String(decoding: location, as: UTF8.self)
    }
    let scheme = URLParts.leadingScheme(String(decoding: location, as: UTF8.self)) ?? URLParts.leadingScheme(base)
    let bytes = scheme.map { isWeb(String($0)) } ?? false ? slashed(location) : Array(location)
    var result: [UInt8] = []
    for byte in bytes {
      if isRaw(byte) { PercentEncoding.append(byte, to: &result) } else { result.append(byte) }
    }
    return String(decoding: result, as: UTF8.self)
  }

  /// No part of a URL can have it.
  private static func isRaw(_ byte: UInt8) -> Bool { byte <= 0x20 || byte >= 0x7F }

  private static func slashed(_ location: UnsafeRawBufferPointer) -> [UInt8] {
    var isBeforeQuery = true
    var result: [UInt8] = []
    for byte in location where byte != 0x09 {
      if byte == 0x3F || byte == 0x23 { isBeforeQuery = false }
      result.append(byte == 0x5C && isBeforeQuery ? 0x2F : byte)
    }
    return result
  }

  private static func unparsable(_ reference: String, _ url: String) -> TaskError {
    TaskError(
      .redirectToNonexistentLocation, "the redirect's Location is no URL: \(MaskedURL.text(reference))", url: url)
  }
}
