/// tinyproxy as a forward proxy on loopback, optionally asking for a password.
public final class Proxy: Sendable {
  /// The port it listens on.
  public let port: Int
  /// Its address for `http_proxy`.
  public var url: String { "http://127.0.0.1:\(port)" }
  private let program: LaunchedProgram

  /// Starts an instance.
  ///
  /// - Parameter password: with one, clients must give it for the user name "user".
  public init(password: String? = nil) throws {
    let directory = try TemporaryDirectory()
    port = try Listener.freePort()
    let configuration = """
      Port \(port)
      Listen 127.0.0.1
      Timeout 60
      MaxClients 100
      LogLevel Error
      \(password.map { "BasicAuth user \($0)" } ?? "")

      """
    let file = try directory.write("tinyproxy.conf", configuration)
    program = try LaunchedProgram(["tinyproxy", "-d", "-c", file], in: directory, ports: [port])
  }
}
