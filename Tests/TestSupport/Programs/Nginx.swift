import Foundation

/// nginx over a directory of files, with a few fixed answers beside it.
public final class Nginx: Sendable {
  /// The documentation of Python 3.11 from the Debian package: a real site of some 500 pages.
  public static let documentation = Result { try Nginx(root: "/usr/share/doc/python3.11/html") }

  /// The port it listens on.
  public let port: Int
  /// Its origin, without a final slash.
  public var url: String { "http://127.0.0.1:\(port)" }
  /// The same by HTTP/2 in clear text.
  public var http2URL: String { "http://127.0.0.1:\(http2Port)" }
  /// The same by HTTP/2 over TLS; only of an instance made with `secure`.
  public var secureURL: String { "https://localhost:\(securePort)" }
  /// The certificate of `secureURL`, which signs itself.
  public var certificate: String { directory.path + "/server.crt" }
  private let http2Port: Int
  private let securePort: Int
  private let directory: TemporaryDirectory
  private let program: LaunchedProgram

  /// Serves the files under `root`, and takes PUT below `/dav/`; `/-/ok` answers "ok" and `/-/status` nginx's own counters.
  /// What is below `/gzip/` has been coded: of `/gzip/x` the file is `gzip/x.gz`.
  public init(root: String, secure: Bool = false) throws {
    directory = try TemporaryDirectory()
    port = try Listener.freePort()
    http2Port = try Listener.freePort()
    securePort = try Listener.freePort()
    if secure { try Nginx.makeCertificate(directory) }
    let configuration = Nginx.configuration(
      root: root, ports: [port, http2Port] + (secure ? [securePort] : []), prefix: directory.path)
    try directory.write("nginx.conf", configuration)
    program = try LaunchedProgram(
      ["nginx", "-p", directory.path, "-c", directory.path + "/nginx.conf", "-e", directory.path + "/error.log"],
      in: directory, ports: [port, http2Port])
  }

  private static func makeCertificate(_ directory: TemporaryDirectory) throws {
    let command = """
      openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=localhost \
      -addext subjectAltName=DNS:localhost -keyout server.key -out server.crt 2>/dev/null
      """
    let openssl = Process()
    openssl.executableURL = URL(fileURLWithPath: "/bin/sh")
    openssl.arguments = ["-c", command]
    openssl.currentDirectoryURL = URL(fileURLWithPath: directory.path)
    try openssl.run()
    openssl.waitUntilExit()
  }

  private static func configuration(root: String, ports: [Int], prefix: String) -> String {
    let temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
      .map { "\($0)_temp_path \(prefix)/\($0);" }.joined(separator: "\n  ")
    let secure = """
      listen 127.0.0.1:\(ports.last ?? 0) ssl http2;
          ssl_certificate \(prefix)/server.crt;
          ssl_certificate_key \(prefix)/server.key;
      """
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
          listen 127.0.0.1:\(ports[0]) backlog=4096;
          listen 127.0.0.1:\(ports[1]) http2;
          \(ports.count > 2 ? secure : "")
          root \(root);
          location = /-/ok { default_type text/plain; return 200 "ok"; }
          location = /-/status { stub_status; }
          location /gzip/ { gzip_static always; }
          location /dav/ {
            dav_methods PUT;
            create_full_put_path on;
            client_max_body_size 0;
          }
        }
      }
      """
  }
}
