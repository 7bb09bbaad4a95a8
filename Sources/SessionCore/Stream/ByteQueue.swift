/// Bytes that come in at the end and are taken from the start, without moving the rest each time.
struct ByteQueue {
  private var bytes = Bytes()
  private var start = 0

  var count: Int { bytes.count - start }

  var buffer: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: bytes.buffer[start...]) }

  /// False when there is no memory for them.
  mutating func append(_ source: UnsafeRawBufferPointer) -> Bool {
    if start > 0, start >= bytes.count / 2 {
      bytes.removeFirst(start)
      start = 0
    }
    return bytes.append(source)
  }

  /// Takes so many bytes, which must be there.
  mutating func take(_ number: Int) -> Bytes {
    if start == 0, number == bytes.count {
      let all = bytes
      bytes = Bytes()
      return all
    }
    let taken = Bytes(copying: UnsafeRawBufferPointer(rebasing: buffer[..<number]))
    start += number
    return taken
  }

  mutating func removeAll() {
    bytes = Bytes()
    start = 0
  }
}
