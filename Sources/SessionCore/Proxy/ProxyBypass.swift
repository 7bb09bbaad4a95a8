import Glibc

/// A no_proxy list: hosts that are reached directly. Entries are separated by commas or white space: a name (which
/// covers its subdomains), an address, a network in CIDR form, or `*` for everything. A port in an entry makes it a name
/// that no host has, as in curl.
struct ProxyBypass {
  private enum Entry {
    case name(String)
    case address(Address, prefix: Int)
  }

  private struct Address: Equatable {
    var bytes: [UInt8]

    /// An IPv4 or IPv6 address (without brackets) in network order.
    init?(_ text: String) {
      var v4 = in_addr()
      var v6 = in6_addr()
      if inet_pton(AF_INET, text, &v4) == 1 {
        bytes = withUnsafeBytes(of: &v4) { Array($0) }
      } else if inet_pton(AF_INET6, text, &v6) == 1 {
        bytes = withUnsafeBytes(of: &v6) { Array($0) }
      } else {
        return nil
      }
    }

    func matches(_ other: Address, prefix: Int) -> Bool {
      guard bytes.count == other.bytes.count, prefix <= bytes.count * 8 else { return false }
      let whole = prefix / 8
      guard bytes[..<whole] == other.bytes[..<whole] else { return false }
      let rest = prefix % 8
      return rest == 0 || (bytes[whole] ^ other.bytes[whole]) >> (8 - rest) == 0
    }
  }

  private var entries: [Entry] = []
  private var matchesAll = false

  init(_ list: String) {
    let items = list.split { $0 == "," || $0 == " " || $0 == "\t" }
    matchesAll = items.contains("*")
    entries = items.compactMap(Self.entry)
  }

  /// `host` as in a URL, IPv6 with its brackets.
  func matches(_ host: String) -> Bool {
    if matchesAll { return true }
    if entries.isEmpty { return false }
    let bare = host.hasPrefix("[") && host.hasSuffix("]") ? String(host.dropFirst().dropLast()) : host
    let name = Self.withoutFinalDot(bare.lowercased())
    let address = Address(name)
    return entries.contains { entry in
      switch entry {
      case .name(let suffix): return address == nil && (name == suffix || name.hasSuffix(".\(suffix)"))
      case .address(let network, let prefix): return address.map { $0.matches(network, prefix: prefix) } ?? false
      }
    }
  }

  private static func entry(_ item: Substring) -> Entry? {
    let parts = item.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
    if let address = Address(String(parts[0])) {
      guard parts.count == 2 else { return .address(address, prefix: address.bytes.count * 8) }
      guard let prefix = Int(parts[1]), prefix >= 0 else { return nil }
      return .address(address, prefix: prefix)
    }
    let name = withoutFinalDot(item.lowercased())
    let bare = name.hasPrefix(".") ? String(name.dropFirst()) : name
    return bare.isEmpty ? nil : .name(bare)
  }

  private static func withoutFinalDot(_ name: String) -> String {
    name.hasSuffix(".") ? String(name.dropLast()) : name
  }
}
