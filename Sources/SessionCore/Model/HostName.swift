import CCurlShim
import Glibc

/// Looks at the names of hosts.
enum HostName {
  /// The form on the wire, in lower case: an international name in its ASCII form (IDNA 2008). Nil where there is none.
  static func ascii(_ host: String) -> String? {
    guard host.utf8.contains(where: { $0 >= 0x80 }) else { return host.lowercased() }
    guard let name = hs_host_to_ascii(host) else { return nil }
    defer { free(name) }
    return String(cString: name).lowercased()
  }

  /// An IPv4 or IPv6 address and no name.
  static func isAddress(_ host: String) -> Bool {
    if host.utf8.contains(UInt8(ascii: ":")) { return true }
    guard let last = host.utf8.split(separator: UInt8(ascii: ".")).last else { return false }
    return last.allSatisfy { HeaderText.digit($0) != nil }
  }
}
