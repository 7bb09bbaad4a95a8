/// nginx over a directory of files, with a few fixed answers beside it.
public final class Nginx: Sendable {
  /// The documentation of Python 3.11 from the Debian package: a real site of some 500 pages.
  public static let documentation = Result { try Nginx(root: "/usr/share/doc/python3.11/html") }

  /// The port it listens on.
  public let port: Int
  /// Its origin, without a final slash.
  public var url: String { "http://127.0.0.1:\(port)" }
  private let program: LaunchedProgram

  /// Serves the files under `root`; `/-/ok` answers "ok" and `/-/status` nginx's own counters.
  public init(root: String) throws {
    let directory = try TemporaryDirectory()
    port = try Listener.freePort()
    try directory.write("nginx.conf", Nginx.configuration(root: root, port: port, prefix: directory.path))
    program = try LaunchedProgram(
      ["nginx", "-p", directory.path, "-c", directory.path + "/nginx.conf", "-e", directory.path + "/error.log"],
      in: directory, ports: [port])
  }

  private static func configuration(root: String, port: Int, prefix: String) -> String {
    let temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
      .map { "\($0)_temp_path \(prefix)/\($0);" }.joined(separator: "\n  ")
    return """
      user root;
      daemon off;
      worker_processes 1;
      pid \(prefix)/nginx.pid;
      events { worker_connections 4096; }
      http {
        \(temporary)
        include /etc/nginx/mime.types;
        access_log off;
        keepalive_requests 100000;
        server {
          listen 127.0.0.1:\(port) backlog=4096;
          root \(root);
          location = /-/ok { default_type text/plain; return 200 "ok"; }
          location = /-/status { stub_status; }
        }
      }
      """
  }
}
