/// Refuses what would put other text on the wire than the caller meant, before anything is connected.
enum RequestCheck {
  /// The error for a request that must not be sent, naming the field. `look`: at its URL.
  static func problem(with request: Request, look: URLLook) -> TaskError? {
    guard request.method == "GET" || isToken(request.method) else {
      return TaskError(.badURL, "the method is not a token (RFC 9110 §9.1): \(printable(request.method))")
    }
    if look.hasControlCharacter {
      return TaskError(.badURL, "control character in the URL", aboutURL: printable(request.url))
    }
    return request.headers.isEmpty ? nil : problem(with: request.headers)
  }

  /// A token goes into a field as it is, and so does a user in most schemes; RFC 7617 §2 has no control characters in
  /// passwords either.
  static func problem(with authentication: Authentication) -> TaskError? {
    switch authentication {
    case .none: return nil
    case .bearer(let token):
      return isFieldText(token) ? nil : TaskError(.badURL, "control character in the bearer token")
    case .basic(let user, _) where !isBasicUser(user): return TaskError(.badURL, colonInUser)
    case .basic(let user, let password), .scheme(_, let user, let password), .any(let user, let password):
      return isFieldText(user) && isFieldText(password)
        ? nil : TaskError(.badURL, "control character in the user or the password")
    }
  }

  /// Whether it can be part of a field's value as it is.
  static func isFieldText(_ text: Octets) -> Bool {
    !text.bytes.contains { $0 < 0x20 || $0 == 0x7F }
  }

  /// Whether a server would find the user again in what Basic sends: the first colon ends it (RFC 7617 §2).
  static func isBasicUser(_ user: Octets) -> Bool { !user.bytes.contains(UInt8(ascii: ":")) }

  /// What is said of one that is none.
  static let colonInUser = "a user with a colon cannot be sent by Basic (RFC 7617 §2)"

  /// The same for fields alone.
  static func problem(with headers: [HeaderField]) -> TaskError? {
    for field in headers {
      guard isToken(field.name) else {
        return TaskError(.badURL, "the header name is not a token (RFC 9110 §5.1): \(printable(field.name))")
      }
      if field.value.contains(where: { $0 == 0x0D || $0 == 0x0A || $0 == 0 }) {
        return TaskError(.badURL, "CR, LF or NUL in the value of the header \(field.name)")
      }
    }
    return nil
  }

  /// RFC 9110 §5.6.2.
  static func isToken(_ text: String) -> Bool {
    !text.isEmpty && text.utf8.allSatisfy(isTokenByte)
  }

  static func isTokenByte(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: return true
    // ! # $ % & ' * + - . ^ _ ` | ~
    case 0x21, 0x23, 0x24, 0x25, 0x26, 0x27, 0x2A, 0x2B, 0x2D, 0x2E, 0x5E, 0x5F, 0x60, 0x7C, 0x7E: return true
    default: return false
    }
  }

  /// Methods that may be repeated without asking (RFC 9110 §9.2.2).
  static func isIdempotent(_ method: String) -> Bool {
    switch method {
    case "GET", "HEAD", "PUT", "DELETE", "OPTIONS", "TRACE": return true
    default: return HeaderText.equalNames(method, "HEAD")
    }
  }

  private static func printable(_ text: String) -> String {
    text.unicodeScalars.reduce(into: "") { $0 += $1.value < 0x20 ? $1.escaped(asASCII: false) : String($1) }
  }
}
