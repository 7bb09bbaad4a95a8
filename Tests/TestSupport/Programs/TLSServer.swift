/// A small HTTPS server with a certificate made for the occasion.
///
/// It answers every request with 200 and the request's method and target as the body. A query `header=Name: value` adds a
/// field to the response, `echo=Name` makes that field of the request the body.
public final class TLSServer: Sendable {
  /// The port it listens on.
  public let port: Int
  /// Its origin, without a final slash; the certificate is for localhost and 127.0.0.1.
  public var url: String { "https://localhost:\(port)" }
  /// PEM file of the authority that signed the certificate.
  public var authority: String { directory.path + "/ca.pem" }
  private let directory: TemporaryDirectory
  private let program: LaunchedProgram

  /// Makes the certificates and starts to listen.
  public init() throws {
    directory = try TemporaryDirectory()
    port = try Listener.freePort()
    try TLSServer.makeCertificates(directory)
    let script = try directory.write("server.py", TLSServer.script)
    program = try LaunchedProgram(
      ["/usr/bin/python3", script, "\(port)", directory.path + "/server.pem"], in: directory, ports: [port])
  }

  private static func makeCertificates(_ directory: TemporaryDirectory) throws {
    try shell(certificates, in: directory, purpose: "openssl could not make the certificates")
  }

  private static let certificates = """
    new='openssl req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes'
    $new -x509 -days 2 -subj '/CN=Test Authority' -keyout ca.key -out ca.pem
    $new -subj /CN=localhost -keyout server.key -out server.csr
    printf 'subjectAltName=DNS:localhost,IP:127.0.0.1' >san
    openssl x509 -req -in server.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -extfile san -out server.crt
    cat server.crt server.key >server.pem
    """

  private static let script = """
    import http.server, ssl, sys
    from urllib.parse import parse_qsl, urlsplit

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self):
            length = int(self.headers.get("Content-Length", 0))
            self.rfile.read(length)
            body = f"{self.command} {self.path}".encode()
            self.send_response(200)
            for key, value in parse_qsl(urlsplit(self.path).query):
                if key == "header":
                    self.send_header(*value.split(": ", 1))
                elif key == "echo":
                    body = self.headers.get(value, "").encode()
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        do_POST = do_PUT = do_GET

        def log_message(self, *arguments):
            pass

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(sys.argv[2])
    server = http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler)
    server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    server.serve_forever()
    """
}
