/// python3-httpbin under gunicorn: a real HTTP service with known answers.
public final class Httpbin: Sendable {
  /// The one instance of a test run.
  public static let shared = Result { try Httpbin() }

  /// The port it listens on.
  public let port: Int
  /// Its origin, without a final slash.
  public var url: String { "http://127.0.0.1:\(port)" }
  private let program: LaunchedProgram

  /// Starts an instance with enough threads for the tests that keep it waiting.
  public init() throws {
    let directory = try TemporaryDirectory()
    port = try Listener.freePort()
    program = try LaunchedProgram(
      [
        "/usr/bin/python3", "/usr/bin/gunicorn", "--worker-class", "gthread", "--threads", "16", "--bind",
        "127.0.0.1:\(port)", "--worker-tmp-dir", directory.path, "--keep-alive", "5", "httpbin:app",
      ],
      in: directory, ports: [port])
  }
}
