import Foundation

/// WebSocket servers on loopback: Python's `websockets`, which sends messages back, and one that sends whatever frames
/// the path asks for and prints what it gets.
public final class WebSocketServer: Sendable {
  /// Of `websockets`; it offers the protocols "chat" and "superchat", and compression.
  public let port: Int
  /// The same in TLS, with a certificate for localhost.
  public let securePort: Int
  /// Sends the frames that the path lists in hexadecimal digits, then sends back each frame it gets, unmasked, as a
  /// binary message, until a close frame. With "end-" before the digits it closes the connection after these frames.
  public let rawPort: Int
  /// PEM file of the authority that signed the certificate.
  public var authority: String { identity.certificate }
  private let identity: TestAuthority
  private let directory: TemporaryDirectory
  private let program: LaunchedProgram

  /// Makes the certificates and starts to listen.
  public init() throws {
    identity = try TestAuthority()
    directory = try TemporaryDirectory()
    let ports = try (0..<3).map { _ in try Listener.freePort() }
    (port, securePort, rawPort) = (ports[0], ports[1], ports[2])
    let leaf = try identity.leaf("localhost", "DNS:localhost,IP:127.0.0.1")
    let script = try directory.write("server.py", Self.script)
    program = try LaunchedProgram(
      ["/usr/bin/python3", script, leaf.both] + ports.map(String.init), in: directory, ports: ports
    )
  }

  private static let script = """
    import asyncio, base64, hashlib, socket, ssl, struct, sys, threading
    import websockets

    async def serve(connection):
        try:
            async for message in connection:
                if message == "close":
                    await connection.close(4001, "as asked")
                    return
                if message == "ping":
                    await (await connection.ping(b"abc"))
                    await connection.send("ponged")
                elif message == "fragments":
                    await connection.send(["one ", "two ", "three"])
                elif message == "drop":
                    connection.transport.abort()
                else:
                    await connection.send(message)
        except websockets.ConnectionClosed:
            pass

    def exactly(connection, count):
        data = b""
        while len(data) < count:
            piece = connection.recv(count - len(data))
            if not piece:
                raise OSError
            data += piece
        return data

    def raw(connection):
        head = b""
        while not head.endswith(b"\\r\\n\\r\\n"):
            head += exactly(connection, 1)
        fields = dict(line.split(b": ", 1) for line in head.split(b"\\r\\n")[1:-2])
        accept = hashlib.sha1(fields[b"Sec-WebSocket-Key"] + b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11").digest()
        path, _, query = head.split(b" ")[1].decode()[1:].partition("?")
        frames = path.removeprefix("end-")
        answer = b"HTTP/1.1 101 Switching Protocols\\r\\nUpgrade: WebSocket\\r\\nConnection: keep-alive, upgrade\\r\\n"
        answer += b"Sec-WebSocket-Accept: " + base64.b64encode(accept) + b"\\r\\n"
        if query:
            answer += b"Sec-WebSocket-Extensions: " + query.replace("+", " ").encode() + b"\\r\\n"
        connection.sendall(answer + b"\\r\\n" + bytes.fromhex(frames))
        if frames != path:
            return
        while True:
            first, second = exactly(connection, 2)
            length = second & 127
            if length == 126:
                length, = struct.unpack("!H", exactly(connection, 2))
            elif length == 127:
                length, = struct.unpack("!Q", exactly(connection, 8))
            mask = exactly(connection, 4)
            data = bytes(byte ^ mask[i % 4] for i, byte in enumerate(exactly(connection, length)))
            echo = bytes([first]) + data
            if first & 15 == 8:
                connection.sendall(bytes([0x88, len(data)]) + data)
                connection.shutdown(socket.SHUT_WR)
                while connection.recv(1000):
                    pass
                return
            connection.sendall(bytes([0x82, len(echo)]) + echo)

    def guarded(connection):
        try:
            raw(connection)
        except (OSError, ValueError):
            pass
        connection.close()

    def listen(port):
        listener = socket.create_server(("127.0.0.1", port))
        while True:
            threading.Thread(target=guarded, args=(listener.accept()[0],), daemon=True).start()

    async def main():
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(sys.argv[1])
        threading.Thread(target=listen, args=(int(sys.argv[4]),), daemon=True).start()
        options = dict(subprotocols=["chat", "superchat"], max_size=None)
        await websockets.serve(serve, "127.0.0.1", int(sys.argv[2]), **options)
        await websockets.serve(serve, "127.0.0.1", int(sys.argv[3]), ssl=context, **options)
        await asyncio.Future()

    asyncio.run(main())
    """
}
