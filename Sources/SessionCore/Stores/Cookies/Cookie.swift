/// A cookie as it is kept (RFC 6265bis §5.7). Name and value are bytes, since servers send whatever they like.
public struct Cookie: Equatable, Sendable {
  /// Empty for a nameless cookie, whose value alone is sent.
  public var name: [UInt8]
  public var value: [UInt8]
  /// In lower case, without a leading dot.
  public var domain: String
  public var path: String
  /// Unix seconds; nil for a session cookie, which is not kept on disk.
  public var expires: Double?
  /// Sent over https only.
  public var isSecure = false
  /// Kept and told, but of no consequence: there are no documents whose scripts it could be hidden from.
  public var isHTTPOnly = false
  /// Sent to `domain` alone and not to hosts below it.
  public var isHostOnly = true
  /// Kept and told, but of no consequence: a script's requests have no site they come from.
  public var sameSite = SameSite.unspecified
  /// Unix seconds; of two with equally long paths the older one is sent first.
  public var created: Double
  /// When it was last sent or set: what has not been for longest goes first when there are too many.
  var accessed: Double

  public enum SameSite: String, Sendable {
    case unspecified = ""
    case none, lax, strict
  }

  public init(name: [UInt8], value: [UInt8], domain: String, path: String = "/", created: Double) {
    self.name = name
    self.value = value
    self.domain = domain
    self.path = path
    self.created = created
    accessed = created
  }

  /// What two cookies must have in common for the later one to replace the earlier.
  struct Key: Hashable {
    let name: [UInt8]
    let domain: String
    let path: String
    let isHostOnly: Bool
  }

  /// Whether a script may make a cookie of this: it must be possible to send it, and to write it down.
  public static func isUsable(
    name: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer, domain: String, path: String
  ) -> Bool {
    func isText(_ bytes: some Sequence<UInt8>) -> Bool {
      bytes.allSatisfy { !SetCookie.isControl($0) && $0 != UInt8(ascii: ";") }
    }
    guard isText(name), isText(value), !name.contains(UInt8(ascii: "=")) else { return false }
    return !domain.isEmpty && domain.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: ";") }
      && path.hasPrefix("/") && isText(path.utf8)
  }

  var key: Key { Key(name: name, domain: domain, path: path, isHostOnly: isHostOnly) }

  func isExpired(_ now: Double) -> Bool { expires.map { $0 <= now } ?? false }

  /// As it stands in the Cookie field.
  func appendPair(to field: inout [UInt8]) {
    if !field.isEmpty { field += [UInt8(ascii: ";"), UInt8(ascii: " ")] }
    if !name.isEmpty {
      field += name
      field.append(UInt8(ascii: "="))
    }
    field += value
  }

  /// Whether it goes with a request to this place.
  func matches(_ place: CookiePlace) -> Bool {
    if isSecure, !place.isSecure { return false }
    let isHere = isHostOnly ? domain == place.host : CookieRules.host(place.host, isIn: domain)
    return isHere && CookieRules.path(place.path, isUnder: path)
  }
}

/// Why a cookie was not taken.
public enum CookieRefusal: String, Error, Sendable {
  case controlCharacter = "it has a control character in it"
  case empty = "it has neither name nor value"
  case tooLarge = "name and value together have more than 4096 bytes"
  case otherDomain = "its Domain does not hold the host that sent it"
  case publicSuffix = "its Domain is a public suffix"
  case needsSecureOrigin = "Secure cookies are taken over https only"
  case wouldHideSecure = "a Secure cookie of that name is there, and http must not hide it"
  case prefix = "the prefix of its name promises what it does not keep"
  case policy = "the accept policy forbids it"
  case unusable = "name, value, domain or path hold what no cookie can"
}
