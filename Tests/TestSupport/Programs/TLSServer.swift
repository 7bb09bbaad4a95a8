import Foundation

/// A small HTTPS server of OpenSSL's (by way of Python).
///
/// It answers every request with 200 and the request's method and target as the body; the field `X-Client` names the
/// client by its certificate. A GET of /count answers with the number of requests before. A query `header=Name: value`
/// adds a field to the response, `echo=Name` makes that field of the request the body, `status=407` is another status.
public final class TLSServer: Sendable {
  /// What it asks of clients.
  public struct Terms: Sendable {
    /// PEM file of the authority whose certificates clients must show; nil: it asks for none.
    public var clientAuthority: String?
    /// A client without a certificate is served all the same.
    public var certificateIsOptional = false
    /// "1.2" or "1.3" where it speaks no other.
    public var version: String?

    /// Asks for nothing.
    public init(clientAuthority: String? = nil, version: String? = nil) {
      self.clientAuthority = clientAuthority
      self.version = version
    }
  }

  /// The port it listens on.
  public let port: Int
  /// Its origin, without a final slash.
  public var url: String { "https://localhost:\(port)" }
  /// PEM file of the authority that signed the certificate.
  public let authority: String
  private let directory: TemporaryDirectory
  private let program: LaunchedProgram

  /// Starts one with a certificate for localhost and 127.0.0.1 by an authority of its own.
  public convenience init() throws {
    let authority = try TestAuthority()
    try self.init(authority.leaf("localhost", "DNS:localhost,IP:127.0.0.1"), authority: authority.certificate)
  }

  /// Starts one with this certificate.
  public init(_ leaf: TestAuthority.Leaf, authority: String = "", terms: Terms = Terms()) throws {
    directory = try TemporaryDirectory()
    port = try Listener.freePort()
    self.authority = try directory.write(
      "authority.pem", authority.isEmpty ? [] : Array(Data(contentsOf: URL(fileURLWithPath: authority))))
    let certificate = try directory.write("server.pem", Array(Data(contentsOf: URL(fileURLWithPath: leaf.both))))
    let script = try directory.write("server.py", TLSServer.script)
    var command = ["/usr/bin/python3", script, "\(port)", certificate, terms.version ?? ""]
    if let clients = terms.clientAuthority {
      let file = try directory.write("clients.pem", Array(Data(contentsOf: URL(fileURLWithPath: clients))))
      command += [file, terms.certificateIsOptional ? "optional" : "required"]
    }
    program = try LaunchedProgram(command, in: directory, ports: [port])
  }

  private static let script = """
    import http.server, ssl, sys
    from urllib.parse import parse_qsl, urlsplit

    port, certificate, version = sys.argv[1:4]
    count = 0

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self):
            global count
            length = int(self.headers.get("Content-Length", 0))
            self.rfile.read(length)
            body = f"{self.command} {self.path}".encode()
            if self.path == "/count":
                body = str(count).encode()
            count += 1
            query = parse_qsl(urlsplit(self.path).query)
            self.send_response(int(dict(query).get("status", 200)))
            for key, value in query:
                if key == "header":
                    self.send_header(*value.split(": ", 1))
                elif key == "echo":
                    body = self.headers.get(value, "").encode()
            self.send_header("Content-Length", str(len(body)))
            shown = self.connection.getpeercert()
            if shown:
                self.send_header("X-Client", shown["subject"][0][0][1])
            self.end_headers()
            self.wfile.write(body)

        do_POST = do_PUT = do_GET

        def log_message(self, *arguments):
            pass

    class Server(http.server.ThreadingHTTPServer):
        def handle_error(self, request, address):
            pass

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    if version:
        wanted = ssl.TLSVersion["TLSv" + version.replace(".", "_")]
        context.minimum_version = context.maximum_version = wanted
    if len(sys.argv) > 4:
        context.load_verify_locations(sys.argv[4])
        context.verify_mode = ssl.CERT_OPTIONAL if sys.argv[5] == "optional" else ssl.CERT_REQUIRED
    server = Server(("127.0.0.1", int(port)), Handler)
    server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    server.serve_forever()
    """
}

/// OpenSSL's own server, for what others do not do: a stapled OCSP response. It answers with a page about the
/// connection.
public final class OpenSSLServer: Sendable {
  /// The port it listens on.
  public let port: Int
  /// Its origin, without a final slash.
  public var url: String { "https://localhost:\(port)" }
  private let program: LaunchedProgram

  /// `options`: further options of `openssl s_server`.
  public init(_ leaf: TestAuthority.Leaf, _ options: [String]) throws {
    port = try Listener.freePort()
    let command = ["openssl", "s_server", "-accept", "\(port)", "-cert", leaf.certificate, "-key", leaf.key, "-www"]
    program = try LaunchedProgram(command + options, in: TemporaryDirectory(), ports: [port])
  }
}
