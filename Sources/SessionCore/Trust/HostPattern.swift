/// Names of hosts in policies: a host, or `*.` and a domain for all that is below it.
enum HostPattern {
  /// A host as it is compared: in lower case, without brackets, zone and final dot.
  static func normalized(_ host: String) -> String {
    var name = Substring(host.lowercased())
    if name.hasPrefix("["), name.hasSuffix("]") { name = name.dropFirst().dropLast() }
    if name.contains(":"), let zone = name.firstIndex(of: "%") { name = name[..<zone] }
    if name.hasSuffix("."), name.count > 1 { name = name.dropLast() }
    return String(name)
  }

  /// The value of the pattern that says the most of a host: itself, else the longest of the wildcards.
  static func best<Value>(_ entries: [(pattern: String, value: Value)], for host: String) -> Value? {
    let name = normalized(host)
    var found: (length: Int, value: Value)?
    for entry in entries {
      let pattern = normalized(entry.pattern)
      if pattern == name { return entry.value }
      guard pattern.hasPrefix("*."), isBelow(name, pattern.dropFirst(2)) else { continue }
      if pattern.utf8.count > found?.length ?? 0 { found = (pattern.utf8.count, entry.value) }
    }
    return found?.value
  }

  /// Whether a host is in a domain, and not the domain itself. Both in their normal form.
  static func isBelow(_ name: String, _ domain: Substring) -> Bool {
    guard !domain.isEmpty, name.utf8.count > domain.utf8.count + 1, name.hasSuffix(domain) else { return false }
    return name.dropLast(domain.count).hasSuffix(".")
  }
}
