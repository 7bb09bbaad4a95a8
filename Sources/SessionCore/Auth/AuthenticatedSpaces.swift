/// Where a session has been let in, so that later requests carry credentials at once.
///
/// As RFC 7617 §2.2 and RFC 7616 §3.6 have it: what a challenge for a path let in holds for everything at or below the
/// path's last directory; a Digest challenge says itself where (`domain`), or means all of the server; NTLM, Negotiate
/// and a proxy's credentials hold for the whole place.
final class AuthenticatedSpaces {
  struct Entry {
    let realm: Octets
    let method: String
    let credential: Credential
    let answer: AuthAnswer
    /// Directories, each ending in "/".
    var directories: [String]

    func covers(_ path: String) -> Bool { directories.contains { path.hasPrefix($0) } }
  }

  private var servers: [Place: [Entry]] = [:]
  private var proxies: [Place: Entry] = [:]

  var isEmpty: Bool { servers.isEmpty && proxies.isEmpty }

  func removeAll() {
    servers.removeAll()
    proxies.removeAll()
  }

  /// The entry for a path, the longest match first.
  func server(_ place: Place, path: String) -> Entry? {
    servers[place]?.filter { $0.covers(path) }.max { depth($0, path) < depth($1, path) }
  }

  func proxy(_ place: Place) -> Entry? { proxies[place] }

  private func depth(_ entry: Entry, _ path: String) -> Int {
    entry.directories.filter { path.hasPrefix($0) }.map(\.utf8.count).max() ?? 0
  }

  /// A server has accepted credentials for a path.
  func accept(_ entry: Entry, at place: Place) {
    var entries = servers[place] ?? []
    var entry = entry
    if let index = entries.firstIndex(where: { $0.realm == entry.realm && $0.method == entry.method }) {
      let known = entries.remove(at: index)
      entry.directories += known.directories.filter { !entry.directories.contains($0) }
    }
    entries.append(entry)
    servers[place] = entries
  }

  func acceptProxy(_ entry: Entry, at place: Place) { proxies[place] = entry }

  /// They have been refused: later requests do not carry them.
  func forget(_ credential: Credential, at place: Place, isProxy: Bool) {
    if isProxy {
      if proxies[place]?.credential == credential { proxies[place] = nil }
      return
    }
    servers[place]?.removeAll { $0.credential == credential }
    if servers[place]?.isEmpty == true { servers[place] = nil }
  }

  /// Where credentials that answered a challenge hold.
  ///
  /// - Parameter path: of the request that was challenged.
  static func directories(_ offer: AuthenticationChallenge, path: String, url: String) -> [String] {
    switch offer.scheme {
    case "digest": return domain(offer.parameter("domain") ?? "", url: url)
    case "ntlm", "negotiate": return ["/"]
    default: return [directory(path)]
    }
  }

  /// A Digest challenge's `domain`: URIs that the space begins with, those of other servers left out.
  private static func domain(_ list: String, url: String) -> [String] {
    guard let place = Place(url) else { return ["/"] }
    let paths = list.split(separator: " ").compactMap { reference -> String? in
      guard case .success(let whole) = URLParts.resolve(String(reference), against: url), Place(whole) == place,
        case .success(let parts) = URLParts.parse(whole)
      else { return nil }
      return parts.path
    }
    return paths.isEmpty ? ["/"] : paths
  }

  private static func directory(_ path: String) -> String {
    guard let slash = path.lastIndex(of: "/") else { return "/" }
    return String(path[...slash])
  }
}
