/// Where origins can be had as well (RFC 7838), in memory and in a file where there is one.
///
/// libcurl has an engine of its own for this, one for each handle, each of which writes the whole file; so the
/// alternatives are remembered here, and libcurl is told to connect to one (`CURLOPT_CONNECT_TO`). The certificate must
/// be the origin's all the same.
public final class AlternativeServiceStorage {
  /// An origin; always https.
  struct Origin: Hashable {
    let host: String
    let port: Int
  }

  private struct Entry {
    let service: AlternativeService
    let expires: Double
  }

  private let file: StoreFile
  private var entries: [Origin: Entry] = [:]
  private var lastLook = -Double.infinity
  private var lastVersion: Int?

  private static let staleness = 1.0

  public init(_ place: StorePlace = .memory) { file = StoreFile(place) }

  /// That of default sessions, in the user's state directory.
  public static func standard(_ directories: Directories = .standard) -> AlternativeServiceStorage {
    guard let state = directories.state else { return AlternativeServiceStorage(.nowhere) }
    return AlternativeServiceStorage(.file(Self.file(state + "/altsvc.sqlite", makesDirectory: true)))
  }

  static func file(_ path: String, makesDirectory: Bool = false) -> DatabaseFile {
    DatabaseFile(
      path: path, subject: "Alt-Svc storage", version: 1,
      schema: [
        """
        CREATE TABLE services(origin_host TEXT NOT NULL, origin_port INTEGER NOT NULL, protocol TEXT NOT NULL,
          host TEXT NOT NULL, port INTEGER NOT NULL, expires REAL NOT NULL, PRIMARY KEY(origin_host, origin_port))
        WITHOUT ROWID
        """
      ], makesDirectory: makesDirectory)
  }

  /// The place to connect to in an origin's stead.
  func service(for origin: Origin, now: Double) -> AlternativeService? {
    if now - lastLook > Self.staleness { look(now) }
    if entries.isEmpty { return nil }
    guard let entry = entries[origin], entry.expires > WallClock.now else { return nil }
    return entry.service
  }

  /// Takes what an origin offers; `protocols`: those that can be spoken. Nil is `clear`.
  func learn(_ offer: [AlternativeService]?, of origin: Origin, protocols: Set<String>) {
    let service = offer?.first { protocols.contains($0.protocolName) && $0.maxAge > 0 }
    // An offer of the origin itself is none, but takes the others back.
    guard let service, service.host != origin.host || service.port != origin.port else { return forget(origin) }
    let expires = WallClock.now + service.maxAge
    if let known = entries[origin], known.service == service, abs(known.expires - expires) < service.maxAge / 20 {
      return
    }
    entries[origin] = Entry(service: service, expires: expires)
    file.use(making: !file.place.isMemory) { database throws(DatabaseProblem) in
      try database.run("DELETE FROM services WHERE expires <= ?", .real(WallClock.now))
      try database.run(
        "INSERT OR REPLACE INTO services VALUES (?, ?, ?, ?, ?, ?)", .text(origin.host), .integer(origin.port),
        .text(service.protocolName), .text(service.host), .integer(service.port), .real(expires))
    }
  }

  /// It cannot be reached, or has been taken back.
  func forget(_ origin: Origin) {
    guard entries.removeValue(forKey: origin) != nil else { return }
    file.use { database throws(DatabaseProblem) in
      try database.run(
        "DELETE FROM services WHERE origin_host = ? AND origin_port = ?", .text(origin.host), .integer(origin.port))
    }
  }

  /// Forgets everything.
  public func removeAll() {
    entries.removeAll()
    file.use { database throws(DatabaseProblem) in try database.run("DELETE FROM services") }
  }

  private func look(_ now: Double) {
    lastLook = now
    file.use { database throws(DatabaseProblem) in
      let version = try database.integer("PRAGMA data_version")
      guard version != lastVersion else { return }
      lastVersion = version
      entries.removeAll()
      let columns = "origin_host, origin_port, protocol, host, port, expires"
      try database.query("SELECT \(columns) FROM services") { row in
        let service = AlternativeService(protocolName: row.text(2), host: row.text(3), port: row.integer(4), maxAge: 0)
        entries[Origin(host: row.text(0), port: row.integer(1))] = Entry(service: service, expires: row.real(5))
        return true
      }
    }
  }
}
