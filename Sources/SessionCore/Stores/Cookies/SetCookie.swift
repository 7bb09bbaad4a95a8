/// A Set-Cookie field taken apart (RFC 6265bis §5.6), and the cookie that it makes of the place it came from (§5.7).
struct SetCookie {
  var name: [UInt8] = []
  var value: [UInt8] = []
  /// The last one that is not empty, in lower case, without a leading dot.
  var domain: [UInt8]?
  /// The last one; nil for the default, which an unusable one asks for as well.
  var path: String?
  var hasPath = false
  var expires: Double?
  var maxAge: Double?
  var isSecure = false
  var isHTTPOnly = false
  var sameSite = Cookie.SameSite.unspecified

  /// Name and value together have no more bytes than this.
  static let sizeLimit = 4096
  /// An attribute whose value has more bytes is not looked at.
  private static let attributeLimit = 1024
  /// No cookie lives longer than 400 days without being set again.
  static let longestAge = 400.0 * 24 * 3600

  static func parse(_ field: UnsafeRawBufferPointer) -> Result<SetCookie, CookieRefusal> {
    if field.contains(where: isControl) { return .failure(.controlCharacter) }
    var result = SetCookie()
    var parts = field.split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false)[...]
    if let pair = parts.popFirst() { result.takePair(pair) }
    if result.name.isEmpty, result.value.isEmpty { return .failure(.empty) }
    if result.name.count + result.value.count > sizeLimit { return .failure(.tooLarge) }
    for part in parts {
      let (name, value) = split(part)
      let text = value.map { trimmed($0) } ?? UnsafeRawBufferPointer(start: nil, count: 0)
      if text.count <= attributeLimit { result.takeAttribute(trimmed(name), text) }
    }
    return .success(result)
  }

  /// A tab is none.
  static func isControl(_ byte: UInt8) -> Bool { byte < 0x20 && byte != 0x09 || byte == 0x7F }

  private mutating func takePair(_ pair: Slice<UnsafeRawBufferPointer>) {
    let (first, second) = Self.split(pair)
    if let second {
      name = Array(Self.trimmed(first))
      value = Array(Self.trimmed(second))
    } else {
      value = Array(Self.trimmed(first))
    }
  }

  private mutating func takeAttribute(_ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) {
    switch String(decoding: name, as: UTF8.self).lowercased() {
    case "expires":
      if let date = HTTPDate.parse(String(decoding: value, as: UTF8.self)) { expires = date }
    case "max-age": if let age = Self.age(value) { maxAge = age }
    case "domain": takeDomain(value)
    case "path":
      hasPath = true
      path = value.first == UInt8(ascii: "/") ? String(decoding: value, as: UTF8.self) : nil
    case "secure": isSecure = true
    case "httponly": isHTTPOnly = true
    case "samesite":
      sameSite = Cookie.SameSite(rawValue: String(decoding: value, as: UTF8.self).lowercased()) ?? .unspecified
    default: break
    }
  }

  /// An empty one is as good as none.
  private mutating func takeDomain(_ value: UnsafeRawBufferPointer) {
    guard !value.isEmpty else { return }
    let name = value.first == UInt8(ascii: ".") ? value.dropFirst() : value[...]
    domain = name.map(HeaderText.lower)
  }

  /// Seconds, or nil for what is no whole number. More digits than an age can have are as many.
  private static func age(_ text: UnsafeRawBufferPointer) -> Double? {
    let isNegative = text.first == UInt8(ascii: "-")
    let digits = isNegative ? UnsafeRawBufferPointer(rebasing: text.dropFirst()) : text
    guard !text.isEmpty, digits.allSatisfy({ HeaderText.digit($0) != nil }) else { return nil }
    if isNegative { return 0 }
    return HeaderText.number(digits).map(Double.init) ?? .infinity
  }

  private static func split(
    _ part: Slice<UnsafeRawBufferPointer>
  ) -> (UnsafeRawBufferPointer, UnsafeRawBufferPointer?) {
    let whole = UnsafeRawBufferPointer(rebasing: part)
    guard let equals = whole.firstIndex(of: UInt8(ascii: "=")) else { return (whole, nil) }
    return (
      UnsafeRawBufferPointer(rebasing: whole[..<equals]), UnsafeRawBufferPointer(rebasing: whole[(equals + 1)...])
    )
  }

  private static func trimmed(_ text: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer { HeaderText.trimmed(text) }

  // MARK: The cookie

  /// The cookie that this place may set with it.
  func cookie(from place: CookiePlace, now: Double) -> Result<Cookie, CookieRefusal> {
    var cookie = Cookie(name: name, value: value, domain: place.host, path: path ?? place.defaultPath, created: now)
    cookie.expires = lifetime(now)
    cookie.isSecure = isSecure
    cookie.isHTTPOnly = isHTTPOnly
    cookie.sameSite = sameSite
    if let refusal = apply(domain, to: &cookie, place) { return .failure(refusal) }
    if isSecure, !place.isSecure { return .failure(.needsSecureOrigin) }
    guard CookieRules.keepsPromise(cookie) else { return .failure(.prefix) }
    return .success(cookie)
  }

  /// Max-Age comes before Expires.
  private func lifetime(_ now: Double) -> Double? {
    if let maxAge { return maxAge <= 0 ? 0 : now + min(maxAge, Self.longestAge) }
    return expires.map { min($0, now + Self.longestAge) }
  }

  private func apply(_ domain: [UInt8]?, to cookie: inout Cookie, _ place: CookiePlace) -> CookieRefusal? {
    guard let domain else { return nil }
    guard let name = HostName.ascii(String(decoding: domain, as: UTF8.self)) else { return .otherDomain }
    if CookieRules.isPublicSuffix(name) {
      // A suffix's own site may set cookies for itself alone.
      return name == place.host ? nil : .publicSuffix
    }
    guard CookieRules.host(place.host, isIn: name) else { return .otherDomain }
    cookie.domain = name
    cookie.isHostOnly = false
    return nil
  }
}
