import Foundation

/// Caddy over a directory of files: in clear text, and over TLS (and so HTTP/2) with a certificate of its own authority.
public final class Caddy: Sendable {
  /// The ports it listens on.
  public let port: Int
  public let tlsPort: Int
  /// Its origins, without a final slash.
  public var url: String { "http://localhost:\(port)" }
  public var tlsURL: String { "https://localhost:\(tlsPort)" }
  /// PEM file of its authority; there once the first TLS connection has been made.
  public let authority: String
  private let program: LaunchedProgram

  /// Serves the files under `root`.
  public init(root: String) throws {
    let directory = try TemporaryDirectory()
    port = try Listener.freePort()
    tlsPort = try Listener.freePort()
    authority = directory.path + "/data/caddy/pki/authorities/local/root.crt"
    let configuration = """
      {
        admin off
        auto_https disable_redirects
        skip_install_trust
      }
      http://localhost:\(port) {
        root * \(root)
        file_server
      }
      https://localhost:\(tlsPort) {
        tls internal
        root * \(root)
        file_server
      }

      """
    let file = try directory.write("Caddyfile", configuration)
    program = try LaunchedProgram(
      ["caddy", "run", "--config", file, "--adapter", "caddyfile"], in: directory,
      environment: ["XDG_DATA_HOME": directory.path + "/data", "XDG_CONFIG_HOME": directory.path + "/config"],
      ports: [port, tlsPort])
  }
}
