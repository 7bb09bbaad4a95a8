import Foundation

/// Apache httpd with places that ask for credentials.
///
/// `/digest/` takes user "user" and password "pw" in realm "r" (Digest), `/kerberos/` members of a Kerberos realm
/// (Negotiate). Both have a file `page`.
public final class Apache: Sendable {
  /// The port it listens on.
  public let port: Int
  /// Its origin, without a final slash.
  public var url: String { "http://localhost:\(port)" }
  private let program: LaunchedProgram

  /// Starts an instance; with a realm, `/kerberos/` is there.
  public init(_ kerberos: Kerberos? = nil) throws {
    let directory = try TemporaryDirectory()
    port = try Listener.freePort()
    try directory.write("www/digest/page", "by digest")
    try directory.write("www/kerberos/page", "by ticket")
    try directory.write("digest", "user:r:\(md5(Array("user:r:pw".utf8)))\n")
    let configuration = Apache.configuration(port: port, directory: directory.path, keytab: kerberos?.keytab)
    let file = try directory.write("httpd.conf", configuration)
    program = try LaunchedProgram(
      ["apache2", "-f", file, "-DFOREGROUND"], in: directory, environment: kerberos?.environmentWithoutTicket ?? [:],
      ports: [port])
  }

  private static func configuration(port: Int, directory: String, keytab: String?) -> String {
    let modules = [
      "mpm_event", "authn_core", "authn_file", "authz_core", "authz_user", "auth_digest", "auth_gssapi", "dir",
    ]
    return """
      ServerRoot \(directory)
      ServerName localhost
      PidFile \(directory)/httpd.pid
      Listen 127.0.0.1:\(port)
      ErrorLog \(directory)/error.log
      DefaultRuntimeDir \(directory)
      Mutex file:\(directory) default
      \(modules.map { "LoadModule \($0)_module /usr/lib/apache2/modules/mod_\($0).so" }.joined(separator: "\n"))
      User www-data
      Group www-data
      StartServers 1
      DocumentRoot \(directory)/www
      <Location /digest>
        AuthType Digest
        AuthName r
        AuthDigestProvider file
        AuthDigestDomain /digest/
        AuthUserFile \(directory)/digest
        Require valid-user
      </Location>
      \(keytab.map(gssapi) ?? "")

      """
  }

  private static func gssapi(_ keytab: String) -> String {
    """
    <Location /kerberos>
      AuthType GSSAPI
      AuthName kerberos
      GssapiCredStore keytab:\(keytab)
      Require valid-user
    </Location>
    """
  }
}

/// Apache httpd over TLS, which asks for a client certificate when it has seen that a page below `/closed/` is wanted.
public final class SecureApache: Sendable {
  /// The port it listens on.
  public let port: Int
  /// Its origin, without a final slash.
  public var url: String { "https://localhost:\(port)" }
  private let program: LaunchedProgram

  /// `clients`: PEM file of the authority whose certificates it takes. `/open/page` and `/closed/page` are there.
  public init(_ leaf: TestAuthority.Leaf, clients: String) throws {
    let directory = try TemporaryDirectory()
    port = try Listener.freePort()
    try directory.write("www/open/page", "open")
    try directory.write("www/closed/page", "closed")
    let modules = ["mpm_event", "authz_core", "socache_shmcb", "ssl"]
    let configuration = """
      ServerRoot \(directory.path)
      ServerName localhost
      PidFile \(directory.path)/httpd.pid
      Listen 127.0.0.1:\(port)
      ErrorLog \(directory.path)/error.log
      DefaultRuntimeDir \(directory.path)
      Mutex file:\(directory.path) default
      \(modules.map { "LoadModule \($0)_module /usr/lib/apache2/modules/mod_\($0).so" }.joined(separator: "\n"))
      User www-data
      Group www-data
      StartServers 1
      DocumentRoot \(directory.path)/www
      SSLEngine on
      SSLCertificateFile \(leaf.certificate)
      SSLCertificateKeyFile \(leaf.key)
      SSLCACertificateFile \(clients)
      <Location /closed>
        SSLVerifyClient require
      </Location>

      """
    let file = try directory.write("httpd.conf", configuration)
    program = try LaunchedProgram(["apache2", "-f", file, "-DFOREGROUND"], in: directory, ports: [port])
  }
}
