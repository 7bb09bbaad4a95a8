import Testing

@testable import SessionCore

@Suite("Lengths of WebSocket frames")
struct FrameLengthsTests {
  /// Whether one of the frames is longer than 300 bytes, however they are cut into pieces.
  private static func isExceeded(_ frames: [UInt8], piece: Int) -> Bool {
    var lengths = FrameLengths(maximum: 300)
    var start = 0
    while start < frames.count {
      let end = min(start + piece, frames.count)
      frames[start..<end].withUnsafeBytes { lengths.follow($0) }
      start = end
    }
    return lengths.isExceeded
  }

  @Test("Of the announced length it is the frame's own that counts", arguments: [1, 2, 3, 7, 1000])
  func lengths(_ piece: Int) {
    // What is inside of a frame looks like headers of too long ones.
    let inside = [UInt8](repeating: 0x7F, count: 300)
    let short: [UInt8] = [0x81, 100] + inside.prefix(100)
    let medium: [UInt8] = [0x82, 126, 1, 0x2C] + inside
    let masked: [UInt8] = [0x82, 0x80 | 2, 0x7F, 0x7F, 0x7F, 0x7F, 0x7F, 0x7F]
    let allowed = short + [0x89, 0] + medium + masked + short
    #expect(!Self.isExceeded(allowed, piece: piece))
    #expect(Self.isExceeded(allowed + [0x82, 126, 1, 0x2D], piece: piece))
    #expect(Self.isExceeded(allowed + [0x82, 127, 0x40, 0, 0, 0, 0, 0, 0, 0], piece: piece))
    #expect(!Self.isExceeded(allowed + [0x82, 127, 0x40, 0, 0, 0, 0, 0, 0], piece: piece))
  }
}
