/// squid as a forward proxy on loopback that asks for user "user" and password "pw".
public final class Squid: Sendable {
  /// How it asks.
  public enum Scheme: String, Sendable {
    case basic
    case digest
    /// With a helper that takes any name and password.
    case ntlm
  }

  /// The port it listens on.
  public let port: Int
  /// Its address for `connection_proxy`.
  public var url: String { "http://127.0.0.1:\(port)" }
  private let program: LaunchedProgram

  /// Starts an instance whose realm is "proxy".
  public init(_ scheme: Scheme) throws {
    let directory = try TemporaryDirectory()
    port = try Listener.freePort()
    try directory.write("basic", "user:\(Squid.passwordHash)\n")
    try directory.write("digest", "user:pw\n")
    let file = try directory.write("squid.conf", Squid.configuration(scheme, port: port, directory: directory.path))
    // Its shared memory goes by this name.
    program = try LaunchedProgram(
      ["squid", "-N", "-n", "auth\(port)", "-f", file], in: directory, ports: [port])
  }

  /// "pw", as `openssl passwd -apr1 -salt abcdefgh` writes it.
  private static let passwordHash = "$apr1$abcdefgh$5VEbMkemELfbhC5ck.U.z1"

  private static func configuration(_ scheme: Scheme, port: Int, directory: String) -> String {
    let helpers = "/usr/lib/squid"
    let authentication =
      switch scheme {
      case .basic: "program \(helpers)/basic_ncsa_auth \(directory)/basic"
      case .digest: "program \(helpers)/digest_file_auth \(directory)/digest"
      case .ntlm: "program \(helpers)/ntlm_fake_auth"
      }
    return """
      http_port 127.0.0.1:\(port)
      auth_param \(scheme.rawValue) \(authentication)
      auth_param \(scheme.rawValue) children 2 startup=1 idle=1
      \(scheme == .ntlm ? "" : "auth_param \(scheme.rawValue) realm proxy")
      acl users proxy_auth REQUIRED
      http_access allow users
      http_access deny all
      cache deny all
      access_log none
      cache_log /dev/null
      pid_filename none
      cache_effective_user proxy
      shutdown_lifetime 0 seconds
      netdb_filename none
      pinger_enable off

      """
  }
}
