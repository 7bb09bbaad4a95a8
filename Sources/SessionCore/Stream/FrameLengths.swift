/// Follows the frames of a WebSocket (RFC 6455 §5.2) and tells when one is announced that is longer than is allowed,
/// before any of its content has come.
struct FrameLengths {
  private let maximum: UInt64
  /// Such a frame has begun: what follows is not looked at.
  private(set) var isExceeded = false
  /// What has come of a frame's header.
  private var header: [UInt8] = []
  /// How much of the frame's content is still to come.
  private var left: UInt64 = 0

  init(maximum: UInt64) { self.maximum = maximum }

  mutating func follow(_ bytes: UnsafeRawBufferPointer) {
    var rest = bytes[...]
    while !rest.isEmpty, !isExceeded {
      if left > 0 {
        let count = min(left, UInt64(rest.count))
        left -= count
        rest = rest.dropFirst(Int(count))
        continue
      }
      header.append(rest.removeFirst())
      guard let length = announcedLength else { continue }
      header.removeAll(keepingCapacity: true)
      left = length
      isExceeded = length > maximum
    }
  }

  /// nil: the header is not whole.
  private var announcedLength: UInt64? {
    guard header.count >= 2 else { return nil }
    let short = header[1] & 0x7F
    let size = short == 127 ? 8 : short == 126 ? 2 : 0
    let mask = header[1] & 0x80 == 0 ? 0 : 4
    guard header.count == 2 + size + mask else { return nil }
    if size == 0 { return UInt64(short) }
    return header[2..<(2 + size)].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
  }
}
