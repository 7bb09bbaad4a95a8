import Foundation

/// A server of lines that can go to TLS and back, or a real SMTP server that offers STARTTLS, on loopback.
public final class StreamServer: Sendable {
  public enum Kind: Sendable {
    /// Answers each line with itself. STARTTLS and STOPTLS are answered with OK and done, INJECT is a STARTTLS whose
    /// answer has clear text behind it, and CUT ends the connection without ending TLS.
    case lines
    /// The same, and the other side must show a certificate of the same authority's, which is what HELLO is answered
    /// with. TLS 1.2 or 1.3.
    case verifying(String)
    /// aiosmtpd, which takes mail only through TLS.
    case smtp
    /// HTTPS that answers with 101 and five bytes in one piece, and then sends back what it gets.
    case upgrade
  }

  /// The port it listens on.
  public let port: Int
  /// PEM file of the authority that signed the certificate, which is for localhost and 127.0.0.1.
  public var authority: String { identity.certificate }
  /// PEM file of a certificate for clients, with its key.
  public func clientCertificate() throws -> String { try identity.leaf("client", "DNS:client.test").both }
  private let identity: TestAuthority
  private let directory: TemporaryDirectory
  private let program: LaunchedProgram

  /// Makes the certificates and starts to listen.
  public init(_ kind: Kind) throws {
    identity = try TestAuthority()
    directory = try TemporaryDirectory()
    port = try Listener.freePort()
    let leaf = try identity.leaf("localhost", "DNS:localhost,IP:127.0.0.1")
    let script = try directory.write("server.py", Self.script(kind))
    program = try LaunchedProgram(
      ["/usr/bin/python3", script, "\(port)", leaf.both, identity.certificate], in: directory, ports: [port])
  }

  private static func script(_ kind: Kind) -> String {
    switch kind {
    case .lines: lines
    case .verifying(let version):
      lines.replacing(
        "\n\ndef line",
        with: """

          context.maximum_version = ssl.TLSVersion.\(version)
          context.verify_mode = ssl.CERT_REQUIRED
          context.load_verify_locations(sys.argv[3])

          def line
          """)
    case .smtp: smtp
    case .upgrade: upgrade
    }
  }

  private static let upgrade = """
    import socket, ssl, sys, threading

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(sys.argv[2])

    def serve(connection):
        try:
            connection = context.wrap_socket(connection, server_side=True)
            head = b""
            while b"\\r\\n\\r\\n" not in head:
                head += connection.recv(65536)
            connection.sendall(
                b"HTTP/1.1 101 Switching Protocols\\r\\nUpgrade: echo\\r\\nConnection: Upgrade\\r\\n\\r\\nearly")
            while data := connection.recv(65536):
                connection.sendall(data)
            connection.unwrap()
        except OSError:
            pass

    listener = socket.create_server(("127.0.0.1", int(sys.argv[1])))
    while True:
        threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()
    """

  private static let lines = """
    import socket, ssl, sys, threading

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(sys.argv[2])

    def line(connection):
        text = b""
        while not text.endswith(b"\\n"):
            byte = connection.recv(1)
            if not byte:
                return None
            text += byte
        return text

    def serve(connection):
        while True:
            text = line(connection)
            if text is None:
                break
            if text in (b"STARTTLS\\n", b"INJECT\\n"):
                connection.sendall(b"OK\\n" if text == b"STARTTLS\\n" else b"OK\\nEVIL\\n")
                connection = context.wrap_socket(connection, server_side=True)
            elif text == b"HELLO\\n":
                connection.sendall(str(connection.getpeercert()["subject"]).encode() + b"\\n")
            elif text == b"STOPTLS\\n":
                connection.sendall(b"OK\\n")
                connection = connection.unwrap()
                connection.sendall(b"PLAIN\\n")
            elif text == b"CUT\\n":
                break
            else:
                connection.sendall(text)
        connection.close()

    def guarded(connection):
        try:
            serve(connection)
        except OSError:
            pass

    listener = socket.create_server(("127.0.0.1", int(sys.argv[1])))
    while True:
        threading.Thread(target=guarded, args=(listener.accept()[0],), daemon=True).start()
    """

  private static let smtp = """
    import asyncio, ssl, sys
    from aiosmtpd.smtp import SMTP

    class Handler:
        async def handle_DATA(self, server, session, envelope):
            return "250 OK %d" % len(envelope.content)

    async def main():
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(sys.argv[2])
        loop = asyncio.get_running_loop()
        server = await loop.create_server(
            lambda: SMTP(Handler(), tls_context=context, require_starttls=True, hostname="test"),
            "127.0.0.1", int(sys.argv[1]))
        await server.serve_forever()

    asyncio.run(main())
    """
}
