import CPSL

/// The public suffix list: names under which anybody may register one of their own, as `co.uk`. It is libpsl's, which
/// takes the system's list where that is newer than its own.
public enum PublicSuffix {
  /// Whether a name (in lower case, ASCII or UTF-8) is a public suffix. A name of one label always is. The root's dot
  /// at the end makes no other name of it.
  public static func isPublicSuffix(_ name: String) -> Bool {
    psl_is_public_suffix(list.pointer, name.hasSuffix(".") ? String(name.dropLast()) : name) == 1
  }

  /// The suffix and one label more, in lower case: what one owner has. Nil for a suffix itself and for what is no name.
  public static func registrableDomain(of host: String) -> String? {
    guard !host.hasPrefix("."), let domain = host.lowercased().withCString({ registrable($0) }) else { return nil }
    return domain
  }

  private static func registrable(_ host: UnsafePointer<CChar>) -> String? {
    psl_registrable_domain(list.pointer, host).map { String(cString: $0) }
  }

  /// Read once and never changed or freed.
  private struct List: @unchecked Sendable {
    let pointer: OpaquePointer?
  }

  private static let list = List(pointer: psl_latest(nil) ?? psl_builtin())
}
