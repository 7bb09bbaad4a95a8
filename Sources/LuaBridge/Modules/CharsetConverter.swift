import Glibc

/// iconv from one character set to another. glibc loads a set's code when it is first used.
struct CharsetConverter: ~Copyable {
  struct Failure: Error {
    let message: String
  }

  private let descriptor: iconv_t
  /// What stands for input that cannot be converted, in the target's encoding.
  private let replacement: [UInt8]

  /// - Throws: `Failure` for a character set that glibc does not know, or a pair it cannot convert.
  init(from source: String, to target: String) throws(Failure) {
    descriptor = try CharsetConverter.open(from: source, to: target)
    replacement = CharsetConverter.replacement(in: target)
  }

  deinit { iconv_close(descriptor) }

  private static func open(from source: String, to target: String) throws(Failure) -> iconv_t {
    let descriptor = isName(source) && isName(target) ? iconv_open(target, source) : nil
    guard let descriptor, descriptor != iconv_t(bitPattern: -1) else {
      throw Failure(message: "no conversion from '\(source)' to '\(target)'")
    }
    return descriptor
  }

  /// The suffixes `//TRANSLIT` and `//IGNORE` are glibc's own; a name from the network must not switch them on.
  private static func isName(_ text: String) -> Bool {
    !text.isEmpty && text.utf8.allSatisfy { (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "/") }
  }

  private static func replacement(in target: String) -> [UInt8] {
    guard let descriptor = try? open(from: "UTF-8", to: target) else { return [] }
    defer { iconv_close(descriptor) }
    for candidate in ["\u{FFFD}", "?"] {
      // Twice, so that a byte order mark, which comes only before the first, can be told apart.
      var once = Step(input: Array(candidate.utf8))
      var twice = Step(input: Array((candidate + candidate).utf8))
      guard once.advance(descriptor) == .finished, twice.advance(descriptor) == .finished else { continue }
      return Array(twice.output.dropFirst(once.output.count))
    }
    return []
  }

  /// - Parameter replacing: put a replacement character in place of what is invalid, and go on with the next byte.
  /// - Throws: `Failure` that names the byte, unless `replacing`.
  func convert(_ bytes: UnsafeRawBufferPointer, replacing: Bool) throws(Failure) -> [UInt8] {
    var step = Step(input: Array(bytes))
    while true {
      switch step.advance(descriptor) {
      case .finished: return step.output
      case .stopped where replacing: step.skip(writing: replacement)
      case .stopped:
        throw Failure(message: "byte \(step.position + 1) cannot be converted")
      }
    }
  }
}

/// A conversion on its way.
private struct Step {
  enum Progress {
    case finished
    /// The bytes at `position` are invalid, cut off, or have no counterpart.
    case stopped
  }

  private(set) var output: [UInt8] = []
  private(set) var position = 0
  private var input: [UInt8]

  init(input: [UInt8]) {
    self.input = input
    output.reserveCapacity(input.count + input.count / 2)
  }

  mutating func advance(_ descriptor: iconv_t) -> Progress {
    // Much room at the start; little after a stop, as the next one may be near.
    var room = position == 0 ? max(64, input.count) : 64
    while true {
      switch convertChunk(descriptor, room: room) {
      case 0: return flush(descriptor)
      case E2BIG: room *= 2
      default: return .stopped
      }
    }
  }

  /// Leaves out one byte: what follows may be valid again.
  mutating func skip(writing replacement: [UInt8]) {
    output += replacement
    position += 1
  }

  /// Some sets end in a shift sequence.
  private mutating func flush(_ descriptor: iconv_t) -> Progress {
    var room = [CChar](repeating: 0, count: 32)
    let written = room.withUnsafeMutableBufferPointer { buffer in
      var out = buffer.baseAddress
      var left = buffer.count
      iconv(descriptor, nil, nil, &out, &left)
      return buffer.count - left
    }
    output += room[..<written].map { UInt8(bitPattern: $0) }
    return .finished
  }

  /// - Returns: 0, or iconv's errno.
  private mutating func convertChunk(_ descriptor: iconv_t, room: Int) -> Int32 {
    let begun = position
    var failure: Int32 = 0
    var consumed = 0
    let input = input
    let chunk = [UInt8](unsafeUninitializedCapacity: room) { buffer, count in
      input.withUnsafeBytes { source in
        let start = source.baseAddress?.assumingMemoryBound(to: CChar.self)
        var from = start.map { UnsafeMutablePointer(mutating: $0) + begun }
        var fromLeft = source.count - begun
        var to = UnsafeMutableRawPointer(buffer.baseAddress)?.assumingMemoryBound(to: CChar.self)
        var toLeft = room
        if iconv(descriptor, &from, &fromLeft, &to, &toLeft) == -1 { failure = errno }
        consumed = source.count - begun - fromLeft
        count = room - toLeft
      }
    }
    output += chunk
    position += consumed
    return failure
  }
}
