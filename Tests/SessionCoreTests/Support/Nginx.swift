import Glibc

@testable import SessionCore

/// nginx with TLS and HTTP/2 on loopback, for what a scripted server cannot speak.
final class Nginx {
  static let isInstalled = access("/usr/sbin/nginx", X_OK) == 0 && access("/usr/bin/openssl", X_OK) == 0

  let port: Int
  let plainPort: Int
  private let directory: TemporaryDirectory
  private var process: pid_t = 0

  var certificate: String { "\(directory.path)/cert.pem" }

  init() throws {
    directory = try TemporaryDirectory()
    (port, plainPort) = (try Self.freePort(), try Self.freePort())
    try makeCertificate(days: "2", name: "cert")
    _ = directory.write("k", "over TLS")
    let configuration = directory.write("nginx.conf", text)
    process = try Self.spawn(["/usr/sbin/nginx", "-c", configuration, "-p", directory.path])
    try waitForPort()
  }

  deinit {
    kill(process, SIGTERM)
    var status: Int32 = 0
    waitpid(process, &status, 0)
  }

  private var text: String {
    let path = directory.path
    let scratch = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map { "\($0)_temp_path \(path)/\($0);" }
    return """
      daemon off; master_process off; pid \(path)/pid; error_log \(path)/error.log;
      events {}
      http { access_log off; \(scratch.joined(separator: " "))
      server { listen 127.0.0.1:\(port) ssl http2; root \(path); ssl_protocols TLSv1.2 TLSv1.3;
      ssl_certificate \(path)/cert.pem;
      ssl_certificate_key \(path)/cert.key; location /post { proxy_pass http://127.0.0.1:\(plainPort)/echo; } }
      server { listen 127.0.0.1:\(plainPort) http2; root \(path); } }
      """
  }

  private func makeCertificate(days: String, name: String) throws {
    let process = try Self.spawn([
      "/usr/bin/openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", days, "-subj", "/CN=localhost",
      "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-keyout", "\(directory.path)/\(name).key", "-out",
      "\(directory.path)/\(name).pem",
    ])
    var status: Int32 = 0
    waitpid(process, &status, 0)
    guard status == 0 else { throw SocketFailure(number: status) }
  }

  /// nginx listens a moment after it starts; connecting is how that is seen.
  private func waitForPort() throws {
    let limit = MonotonicClock.now + 10
    while MonotonicClock.now < limit {
      let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
      defer { close(descriptor) }
      var address = sockaddr_in()
      address.sin_family = sa_family_t(AF_INET)
      address.sin_port = UInt16(port).bigEndian
      address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
      let length = socklen_t(MemoryLayout<sockaddr_in>.size)
      let result = withUnsafePointer(to: &address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(descriptor, $0, length) }
      }
      if result == 0 { return }
      sched_yield()
    }
    throw SocketFailure(number: ETIMEDOUT)
  }

  private static func freePort() throws -> Int {
    let server = try ScriptedServer { _ in }
    defer { server.stop() }
    return server.port
  }

  private static func spawn(_ arguments: [String]) throws -> pid_t {
    var files = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&files)
    defer { posix_spawn_file_actions_destroy(&files) }
    for descriptor: Int32 in 0...2 {
      posix_spawn_file_actions_addopen(&files, descriptor, "/dev/null", O_RDWR, 0)
    }
    var pointers = arguments.map { strdup($0) } + [nil]
    defer { pointers.forEach { free($0) } }
    var process: pid_t = 0
    // The test's thread may have signals blocked, which the child would inherit.
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var mask = sigset_t()
    sigemptyset(&mask)
    posix_spawnattr_setsigmask(&attributes, &mask)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
    let result = posix_spawn(&process, arguments[0], &files, &attributes, &pointers, environ)
    guard result == 0 else { throw SocketFailure(number: result) }
    return process
  }
}
