import CCurlShim
import Glibc

/// Looks at the names of hosts.
public enum HostName {
  /// The form on the wire, in lower case: an international name in its ASCII form (IDNA 2008). Nil where there is none.
  static func ascii(_ host: String) -> String? {
    guard host.utf8.contains(where: { $0 >= 0x80 }) else { return host.lowercased() }
    guard let name = hs_host_to_ascii(host) else { return nil }
    defer { free(name) }
    return String(cString: name).lowercased()
  }

  /// An IPv4 or IPv6 address as sockets take it, without brackets or a zone.
  public static func isNumericAddress(_ text: String) -> Bool {
    guard !text.utf8.contains(0) else { return false }
    var address = in6_addr()
    return inet_pton(AF_INET, text, &address) == 1 || inet_pton(AF_INET6, text, &address) == 1
  }

  /// An IPv4 or IPv6 address and no name, of what a URL can have as its host.
  static func isAddress(_ host: String) -> Bool {
    if host.utf8.contains(UInt8(ascii: ":")) { return true }
    guard let last = host.utf8.split(separator: UInt8(ascii: ".")).last else { return false }
    return last.allSatisfy { HeaderText.digit($0) != nil }
  }
}
