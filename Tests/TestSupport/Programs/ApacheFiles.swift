import Foundation

/// Apache httpd over a directory of files, with WebDAV below `/dav/`.
public final class ApacheFiles: Sendable {
  /// The port it listens on.
  public let port: Int
  /// Its origin, without a final slash.
  public var url: String { "http://127.0.0.1:\(port)" }
  private let program: LaunchedProgram

  /// Serves the files under `root`, and takes PUT into `root`/dav, which it makes.
  public init(root: String) throws {
    let directory = try TemporaryDirectory()
    port = try Listener.freePort()
    try FileManager.default.createDirectory(
      atPath: root + "/dav", withIntermediateDirectories: true, attributes: [.posixPermissions: 0o777])
    try FileManager.default.createDirectory(
      atPath: directory.path + "/locks", withIntermediateDirectories: true, attributes: [.posixPermissions: 0o777])
    let file = try directory.write(
      "httpd.conf", ApacheFiles.configuration(root: root, port: port, prefix: directory.path))
    program = try LaunchedProgram(
      ["apache2", "-d", directory.path, "-f", file, "-D", "FOREGROUND"], in: directory, ports: [port])
  }

  private static func configuration(root: String, port: Int, prefix: String) -> String {
    let modules = ["mpm_event", "authz_core", "dav", "dav_fs", "mime"]
      .map { "LoadModule \($0)_module /usr/lib/apache2/modules/mod_\($0).so" }.joined(separator: "\n")
    return """
      \(modules)
      ServerName localhost
      Listen 127.0.0.1:\(port)
      PidFile \(prefix)/httpd.pid
      ErrorLog \(prefix)/error.log
      DefaultRuntimeDir \(prefix)
      User www-data
      Group www-data
      TypesConfig /etc/mime.types
      DocumentRoot \(root)
      DavLockDB \(prefix)/locks/dav
      <Directory \(root)>
        Require all granted
      </Directory>
      <Location /dav>
        Dav On
      </Location>
      """
  }
}
