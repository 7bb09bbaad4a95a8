/// HTTP/2 frame by frame, in clear text and without a dynamic table: for tests that look at single frames.
public struct FrameReader {
  /// One frame.
  public struct Frame: Sendable {
    /// Its type: 0 DATA, 1 HEADERS, 2 PRIORITY, 4 SETTINGS.
    public let type: UInt8
    /// Its flags.
    public let flags: UInt8
    /// Its stream.
    public let stream: UInt32
    /// What it carries.
    public let payload: [UInt8]
  }

  private let connection: Connection

  /// Reads from a connection whose client knows that HTTP/2 is spoken.
  public init(_ connection: Connection) { self.connection = connection }

  /// Takes the client's preface and sends the server's settings.
  public mutating func begin() throws {
    _ = try connection.read(count: 24)
    try connection.send(frame(type: 4, flags: 0, stream: 0, []))
  }

  /// The next frame of a type; settings are acknowledged on the way, and all others dropped.
  public mutating func next(of type: UInt8) throws -> Frame {
    while true {
      let frame = try next()
      if frame.type == 4, frame.flags & 1 == 0 { try connection.send(self.frame(type: 4, flags: 1, stream: 0, [])) }
      if frame.type == type { return frame }
    }
  }

  /// Answers a stream with 200.
  public mutating func begin(answerTo stream: UInt32) throws {
    // 0x88 is ":status: 200" of the static table.
    try connection.send(frame(type: 1, flags: 4, stream: stream, [0x88]))
  }

  /// Ends the answer with a short body.
  public mutating func end(_ stream: UInt32, _ body: String) throws {
    try connection.send(frame(type: 0, flags: 1, stream: stream, Array(body.utf8)))
  }

  private func next() throws -> Frame {
    let head = try connection.read(count: 9)
    let length = Int(head[0]) << 16 | Int(head[1]) << 8 | Int(head[2])
    let stream = head[5...8].reduce(UInt32(0)) { $0 << 8 | UInt32($1) } & 0x7FFF_FFFF
    return Frame(type: head[3], flags: head[4], stream: stream, payload: try connection.read(count: length))
  }

  private func frame(type: UInt8, flags: UInt8, stream: UInt32, _ payload: [UInt8]) -> [UInt8] {
    let length = payload.count
    let head: [UInt8] = [UInt8(length >> 16 & 255), UInt8(length >> 8 & 255), UInt8(length & 255), type, flags]
    return head + (0..<4).map { UInt8(stream >> (24 - 8 * UInt32($0)) & 255) } + payload
  }
}
