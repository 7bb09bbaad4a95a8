import Foundation

/// A proxy that is itself spoken to by TLS and knows CONNECT only.
public final class TLSProxy: Sendable {
  /// The port it listens on.
  public let port: Int
  /// Its address.
  public var url: String { "https://127.0.0.1:\(port)" }
  /// PEM file of the authority that signed its certificate, where that is known.
  public let authority: String
  private let program: LaunchedProgram

  /// Starts one with a certificate of an authority of its own.
  public convenience init() throws {
    let identity = try TestAuthority(name: "Proxy Authority")
    try self.init(try identity.leaf("proxy", "IP:127.0.0.1"), authority: identity)
  }

  /// Starts one with this certificate.
  public init(_ leaf: TestAuthority.Leaf, authority: TestAuthority? = nil) throws {
    let directory = try TemporaryDirectory()
    self.authority =
      try authority.map {
        try directory.write("authority.pem", Array(Data(contentsOf: URL(fileURLWithPath: $0.certificate))))
      } ?? ""
    port = try Listener.freePort()
    let certificate = try directory.write("proxy.pem", Array(Data(contentsOf: URL(fileURLWithPath: leaf.both))))
    let script = try directory.write("proxy.py", TLSProxy.script)
    program = try LaunchedProgram(["/usr/bin/python3", script, "\(port)", certificate], in: directory, ports: [port])
  }

  private static let script = """
    import select, socket, socketserver, ssl, sys

    class Handler(socketserver.BaseRequestHandler):
        def handle(self):
            try:
                client = context.wrap_socket(self.request, server_side=True)
            except OSError:
                return
            head = b""
            while b"\\r\\n\\r\\n" not in head:
                piece = client.recv(4096)
                if not piece:
                    return
                head += piece
            port = int(head.split()[1].rsplit(b":", 1)[1])
            server = socket.create_connection(("127.0.0.1", port))
            client.sendall(b"HTTP/1.1 200 OK\\r\\n\\r\\n")
            while True:
                ready = [client] if client.pending() else select.select([client, server], [], [])[0]
                for one in ready:
                    piece = one.recv(16384)
                    if not piece:
                        return
                    (server if one is client else client).sendall(piece)

    class Server(socketserver.ThreadingTCPServer):
        daemon_threads = True

        def handle_error(self, request, address):
            pass

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(sys.argv[2])
    Server(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
    """
}
