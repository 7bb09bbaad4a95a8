/// squid as a forward proxy on loopback, optionally asking for a password.
public final class Proxy: Sendable {
  /// The port it listens on.
  public let port: Int
  /// Its address for `http_proxy`.
  public var url: String { "http://127.0.0.1:\(port)" }
  private let program: LaunchedProgram

  /// Starts an instance.
  ///
  /// - Parameter password: with one, clients must give it for any user name of their choice ("user").
  public init(password: String? = nil) throws {
    let directory = try TemporaryDirectory()
    port = try Listener.freePort()
    let helper = try directory.write(
      "check.sh", "while read -r user word; do [ \"$word\" = \"\(password ?? "")\" ] && echo OK || echo ERR; done\n")
    let access =
      password == nil
      ? "http_access allow all"
      : """
      auth_param basic program /bin/sh \(helper)
      auth_param basic realm proxy
      acl known proxy_auth REQUIRED
      http_access allow known
      http_access deny all
      """
    try directory.write("squid.conf", Proxy.configuration(port: port, access: access, prefix: directory.path))
    program = try LaunchedProgram(
      ["squid", "-N", "-f", directory.path + "/squid.conf"], in: directory, ports: [port])
  }

  private static func configuration(port: Int, access: String, prefix: String) -> String {
    """
    http_port 127.0.0.1:\(port)
    cache_effective_user root
    \(access)
    cache deny all
    access_log none
    cache_log \(prefix)/cache.log
    pid_filename \(prefix)/squid.pid
    coredump_dir \(prefix)
    netdb_filename none
    pinger_enable off
    shutdown_lifetime 0 seconds
    """
  }
}
