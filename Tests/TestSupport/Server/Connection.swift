import CTestShim
import Foundation
import Glibc

/// The peer went away or the server was stopped while a handler was reading or writing.
public struct ConnectionClosed: Error {}

/// One accepted connection, used by the handler's thread alone.
public final class Connection {
  /// Which connection of its server this is, counted from 0.
  public let index: Int
  let descriptor: Int32
  private let record: (ReceivedRequest) -> Void
  private var buffer: [UInt8] = []
  private var isClosed = false

  init(descriptor: Int32, index: Int, record: @escaping (ReceivedRequest) -> Void) {
    self.descriptor = descriptor
    self.index = index
    self.record = record
  }

  // MARK: Reading

  /// Reads one request, body included, and records it with the server.
  ///
  /// - Returns: nil when the peer closed before a further request began.
  public func readRequest() throws -> ReceivedRequest? {
    guard var request = try readHead() else { return nil }
    try readBody(of: &request)
    record(request)
    return request
  }

  /// Reads request line and fields; the body stays unread and nothing is recorded.
  ///
  /// - Returns: nil when the peer closed before a further request began.
  public func readHead() throws -> ReceivedRequest? {
    let end: [UInt8] = [13, 10, 13, 10]
    while true {
      if let position = buffer.firstRange(of: end) {
        let head = Array(buffer[..<position.upperBound])
        buffer.removeSubrange(..<position.upperBound)
        return ReceivedRequest(head: head, connection: index)
      }
      if try !fill() {
        if buffer.isEmpty { return nil }
        throw ConnectionClosed()
      }
    }
  }

  /// Reads the body that the request's fields announce: chunked, by length, or none.
  public func readBody(of request: inout ReceivedRequest) throws {
    if request["Transfer-Encoding"]?.lowercased().contains("chunked") == true {
      try readChunks(into: &request)
    } else if let length = request["Content-Length"].flatMap({ Int($0) }), length > 0 {
      request.body = try read(count: length)
      request.rawBody = request.body
    }
  }

  /// Records a request that was read with `readHead`, as far as it was read.
  public func recordNow(_ request: ReceivedRequest) { record(request) }

  private func readChunks(into request: inout ReceivedRequest) throws {
    while true {
      let line = try readLine()
      request.rawBody += line
      let size = latin1(line).prefix { $0.isHexDigit }
      guard let count = Int(size, radix: 16) else { throw ConnectionClosed() }
      if count == 0 { break }
      let data = try read(count: count)
      request.body += data
      request.rawBody += data + (try read(count: 2))
    }
    var trailer: [UInt8]
    repeat {
      trailer = try readLine()
      request.rawBody += trailer
    } while trailer.count > 2
  }

  private func readLine() throws -> [UInt8] {
    while true {
      if let newline = buffer.firstIndex(of: 10) {
        let line = Array(buffer[...newline])
        buffer.removeSubrange(...newline)
        return line
      }
      if try !fill() { throw ConnectionClosed() }
    }
  }

  /// Reads exactly `count` bytes.
  public func read(count: Int) throws -> [UInt8] {
    while buffer.count < count {
      if try !fill() { throw ConnectionClosed() }
    }
    let bytes = Array(buffer[..<count])
    buffer.removeSubrange(..<count)
    return bytes
  }

  /// Reads what there is, at least one byte; nil when the peer has closed.
  public func readSome() throws -> [UInt8]? {
    if buffer.isEmpty, try !fill() { return nil }
    defer { buffer = [] }
    return buffer
  }

  /// Reads `count` bytes and keeps none of them.
  public func discard(count: Int) throws {
    var left = count - min(count, buffer.count)
    buffer.removeFirst(min(count, buffer.count))
    let chunk = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 16)
    defer { chunk.deallocate() }
    while left > 0 {
      let received = recv(descriptor, chunk.baseAddress, min(chunk.count, left), 0)
      if received > 0 {
        left -= received
      } else if received == 0 || errno != EINTR {
        throw ConnectionClosed()
      }
    }
  }

  /// Reads until the peer closes.
  public func readToEnd() throws -> [UInt8] {
    while try fill() {}
    defer { buffer = [] }
    return buffer
  }

  private func fill() throws -> Bool {
    var chunk = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = recv(descriptor, &chunk, chunk.count, 0)
      if count > 0 {
        buffer += chunk[..<count]
        return true
      }
      if count == 0 { return false }
      if errno != EINTR { throw ConnectionClosed() }
    }
  }

  // MARK: Writing

  /// Sends all bytes.
  public func send(_ bytes: some Collection<UInt8>) throws {
    let bytes = Array(bytes)
    var sent = 0
    while sent < bytes.count {
      let count = bytes[sent...].withUnsafeBytes { raw in
        Glibc.send(descriptor, raw.baseAddress, raw.count, Int32(MSG_NOSIGNAL))
      }
      if count > 0 {
        sent += count
      } else if errno != EINTR {
        throw ConnectionClosed()
      }
    }
  }

  /// Sends text as UTF-8.
  public func send(_ text: String) throws { try send(Array(text.utf8)) }

  /// Sends a whole reply.
  public func send(_ reply: Reply, to request: ReceivedRequest? = nil) throws {
    try send(reply.bytes(withBody: request?.method != "HEAD"))
  }

  /// Sends slices one after another and waits at each gate before the slice that follows it.
  public func send(slices: [[UInt8]], gates: [Gate]) throws {
    for (index, slice) in slices.enumerated() {
      if index > 0, index <= gates.count, !gates[index - 1].wait() { throw ConnectionClosed() }
      try send(slice)
    }
  }

  /// Sends slices with a pause before each but the first.
  public func send(slices: [[UInt8]], every seconds: Double) throws {
    for (index, slice) in slices.enumerated() {
      if index > 0 { try pause(seconds) }
      try send(slice)
    }
  }

  /// Lets time pass; ends early, by throwing, when the peer closes or the server stops.
  public func pause(_ seconds: Double) throws {
    let deadline = ProcessInfo.processInfo.systemUptime + seconds
    while true {
      let left = deadline - ProcessInfo.processInfo.systemUptime
      if left <= 0 { return }
      if ctest_wait_for_hangup(descriptor, Int32(left * 1000) + 1) > 0 { throw ConnectionClosed() }
    }
  }

  /// Stays silent until the peer closes, the server stops, or the time has passed.
  public func waitForClose(seconds: Double = 30) {
    try? pause(seconds)
  }

  // MARK: Ending

  /// Says that no more bytes will be sent; reading still works.
  public func finishSending() { shutdown(descriptor, Int32(SHUT_WR)) }

  /// Closes in the ordinary way.
  public func close() {
    if isClosed { return }
    isClosed = true
    shutdown(descriptor, Int32(SHUT_RDWR))
  }

  /// Closes with a reset: the peer sees ECONNRESET.
  public func reset() {
    var option = linger(l_onoff: 1, l_linger: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
    isClosed = true
  }
}

extension pollfd {
  init(descriptor: Int32, events: Int16) {
    self.init(fd: descriptor, events: events, revents: 0)
  }
}
