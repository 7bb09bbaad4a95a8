import Glibc
import Synchronization

/// A server for one test: plain sockets, one thread for each connection, every byte decided by the test.
final class ScriptedServer: Sendable {
  typealias Script = @Sendable (Peer) -> Void

  let port: Int
  private let listener: Int32
  private let script: Script
  private let state = Mutex(State())

  private struct State {
    var requests: [ReceivedRequest] = []
    var connections = 0
  }

  /// Runs `script` for each connection; the connection is closed when it returns.
  init(family: Int32 = AF_INET, _ script: @escaping Script) throws {
    self.script = script
    listener = socket(family, Int32(SOCK_STREAM.rawValue), 0)
    port = try Self.listen(listener, family)
    try startAccepting()
  }

  /// Listens on a Unix socket; the port is 0.
  init(unixPath: String, _ script: @escaping Script) throws {
    self.script = script
    listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: unixPath.utf8) }
    port = try Self.bindAndListen(listener, &address) { _ in 0 }
    try startAccepting()
  }

  private func startAccepting() throws {
    let context = Unmanaged.passRetained(self)
    var thread = pthread_t()
    pthread_create(
      &thread, nil,
      { context in
        guard let context else { return nil }
        let server = Unmanaged<ScriptedServer>.fromOpaque(context).takeRetainedValue()
        server.acceptAll()
        return nil
      }, context.toOpaque())
    pthread_detach(thread)
  }

  /// Answers each request, in order of arrival over all connections, by the function's bytes.
  static func answering(_ answer: @escaping @Sendable (ReceivedRequest, Int) -> String) throws -> ScriptedServer {
    let count = Atomic<Int>(0)
    let counter = Counter(count)
    return try ScriptedServer { peer in
      while let request = peer.readRequest() {
        peer.send(answer(request, counter.next()))
      }
    }
  }

  func stop() { shutdown(listener, Int32(SHUT_RDWR)) }

  func url(_ path: String = "/") -> String { "http://127.0.0.1:\(port)\(path)" }

  var requests: [ReceivedRequest] { state.withLock { $0.requests } }
  var connectionCount: Int { state.withLock { $0.connections } }

  fileprivate func record(_ request: ReceivedRequest) { state.withLock { $0.requests.append(request) } }

  private func acceptAll() {
    while true {
      let descriptor = accept(listener, nil, nil)
      guard descriptor >= 0 else { break }
      let index = state.withLock { state in
        state.connections += 1
        return state.connections - 1
      }
      let peer = Peer(descriptor, server: self, index: index)
      let context = Unmanaged.passRetained(peer)
      var thread = pthread_t()
      pthread_create(
        &thread, nil,
        { context in
          guard let context else { return nil }
          Unmanaged<Peer>.fromOpaque(context).takeRetainedValue().run()
          return nil
        }, context.toOpaque())
      pthread_detach(thread)
    }
    close(listener)
  }

  fileprivate func play(_ peer: Peer) { script(peer) }

  private static func listen(_ descriptor: Int32, _ family: Int32) throws -> Int {
    if family == AF_INET6 {
      var address = sockaddr_in6()
      address.sin6_family = sa_family_t(AF_INET6)
      address.sin6_addr = in6addr_loopback
      return try bindAndListen(descriptor, &address) { Int(UInt16(bigEndian: $0.sin6_port)) }
    }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    return try bindAndListen(descriptor, &address) { Int(UInt16(bigEndian: $0.sin_port)) }
  }

  private static func bindAndListen<Address>(
    _ descriptor: Int32, _ address: inout Address, _ port: (Address) -> Int
  ) throws -> Int {
    var length = socklen_t(MemoryLayout<Address>.size)
    let result = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        bind(descriptor, address, length) == 0 && Glibc.listen(descriptor, 128) == 0
          && getsockname(descriptor, address, &length) == 0
      }
    }
    guard result else { throw SocketFailure(number: errno) }
    return port(address)
  }
}

struct SocketFailure: Error {
  let number: Int32
}

/// A counter that threads share.
final class Counter: Sendable {
  private let value: Mutex<Int>
  init(_ start: consuming Atomic<Int>) { value = Mutex(start.load(ordering: .relaxed)) }
  func next() -> Int {
    value.withLock { value in
      value += 1
      return value - 1
    }
  }
}

/// A request as it arrived.
struct ReceivedRequest: Sendable {
  var head: String
  var body: [UInt8]

  var line: String { String(head.prefix { $0 != "\r\n" }) }
  var target: String { line.split(separator: " ").dropFirst().first.map { String($0) } ?? "" }
  var method: String { line.split(separator: " ").first.map { String($0) } ?? "" }
  var text: String { String(decoding: body, as: UTF8.self) }

  /// The values of all fields of the name.
  func fields(_ name: String) -> [String] {
    head.split(separator: "\r\n").dropFirst().compactMap { line in
      let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
      guard parts.count == 2, parts[0].lowercased() == name.lowercased() else { return nil }
      return String(parts[1].drop { $0 == " " })
    }
  }

  func field(_ name: String) -> String? { fields(name).first }
}

/// The server's end of a connection.
final class Peer: Sendable {
  let descriptor: Int32
  /// 0 for the server's first connection.
  let index: Int
  private let server: ScriptedServer
  private let buffered = Mutex<[UInt8]>([])

  init(_ descriptor: Int32, server: ScriptedServer, index: Int) {
    self.descriptor = descriptor
    self.server = server
    self.index = index
  }

  fileprivate func run() {
    server.play(self)
    close(descriptor)
  }

  /// The next request with its whole body; nil when the client has closed.
  func readRequest() -> ReceivedRequest? {
    guard var request = readHead() else { return nil }
    if request.field("transfer-encoding")?.lowercased() == "chunked" {
      guard let body = readChunks() else { return nil }
      request.body = body
    } else if let length = request.field("content-length").flatMap({ Int($0) }), length > 0 {
      guard let body = read(length) else { return nil }
      request.body = body
    }
    server.record(request)
    return request
  }

  /// A request's head alone.
  func readHead() -> ReceivedRequest? {
    guard let bytes = read(through: Array("\r\n\r\n".utf8)) else { return nil }
    return ReceivedRequest(head: String(decoding: bytes, as: UTF8.self), body: [])
  }

  func readChunks() -> [UInt8]? {
    var body: [UInt8] = []
    while true {
      guard let line = read(through: Array("\r\n".utf8)) else { return nil }
      let size = Int(String(decoding: line.dropLast(2), as: UTF8.self), radix: 16) ?? 0
      guard let chunk = read(size + 2) else { return nil }
      if size == 0 { return body }
      body += chunk.dropLast(2)
    }
  }

  func read(_ count: Int) -> [UInt8]? {
    while buffered.withLock({ $0.count }) < count {
      guard fill() else { return nil }
    }
    return buffered.withLock { buffered in
      defer { buffered.removeFirst(count) }
      return Array(buffered.prefix(count))
    }
  }

  private func read(through mark: [UInt8]) -> [UInt8]? {
    while true {
      let found = buffered.withLock { buffered -> [UInt8]? in
        guard buffered.count >= mark.count else { return nil }
        for start in 0...(buffered.count - mark.count) where Array(buffered[start..<(start + mark.count)]) == mark {
          defer { buffered.removeFirst(start + mark.count) }
          return Array(buffered.prefix(start + mark.count))
        }
        return nil
      }
      if let found { return found }
      guard fill() else { return nil }
    }
  }

  private func fill() -> Bool {
    var piece = [UInt8](repeating: 0, count: 65536)
    let count = Glibc.recv(descriptor, &piece, piece.count, 0)
    guard count > 0 else { return false }
    buffered.withLock { $0 += piece.prefix(count) }
    return true
  }

  /// True when all was sent.
  @discardableResult
  func send(_ text: String) -> Bool { send(Array(text.utf8)) }

  @discardableResult
  func send(_ bytes: [UInt8]) -> Bool {
    var offset = 0
    while offset < bytes.count {
      let count = bytes[offset...].withUnsafeBytes {
        Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
      }
      guard count > 0 else { return false }
      offset += count
    }
    return true
  }

  /// Waits until the client closes.
  func waitForEnd() { while fill() {} }
}
