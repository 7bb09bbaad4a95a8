/// The fields of a message, in order, as the cache looks at them.
struct MessageFields: Equatable, Sendable {
  var lines: [HeaderField]

  init(_ lines: [HeaderField] = []) { self.lines = lines }

  /// From lines that are each ended by CRLF.
  init(block: UnsafeRawBufferPointer) {
    lines = []
    HeaderText.forEachLine(block) { line in
      guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { return }
      let name = String(decoding: UnsafeRawBufferPointer(rebasing: line[..<colon]), as: UTF8.self)
      let value = HeaderText.trimmed(UnsafeRawBufferPointer(rebasing: line[(colon + 1)...]))
      lines.append(HeaderField(name, bytes: Array(value)))
    }
  }

  /// The lines as they are received, each ended by CRLF.
  var block: Bytes {
    let block = Bytes(capacity: lines.reduce(0) { $0 + $1.name.utf8.count + $1.value.count + 4 })
    let separator: StaticString = ": "
    for line in lines {
      var name = line.name
      name.withUTF8 { _ = block.append(UnsafeRawBufferPointer($0)) }
      block.append(UnsafeRawBufferPointer(start: separator.utf8Start, count: 2))
      line.value.withUnsafeBytes { _ = block.append($0) }
      block.appendLineEnd()
    }
    return block
  }

  func has(_ name: String) -> Bool { lines.contains { HeaderText.equalNames($0.name, name) } }

  /// The value of the first line of this name, byte for byte.
  func bytes(_ name: String) -> [UInt8]? { lines.first { HeaderText.equalNames($0.name, name) }?.value }

  /// The value of the first line of this name.
  func first(_ name: String) -> String? { bytes(name).map { String(decoding: $0, as: UTF8.self) } }

  /// The values of all lines of this name, in order.
  func all(_ name: String) -> [String] {
    lines.filter { HeaderText.equalNames($0.name, name) }.map { String(decoding: $0.value, as: UTF8.self) }
  }

  /// The members of a list of tokens, in lower case (Connection, Vary); all lines of the name together.
  func tokens(_ name: String) -> [String] {
    all(name).flatMap { $0.split(separator: ",") }.map { Self.trimmed($0).lowercased() }.filter { !$0.isEmpty }
  }

  mutating func remove(_ name: String) { lines.removeAll { HeaderText.equalNames($0.name, name) } }

  /// Puts one line in the place of all there are of its name.
  mutating func set(_ name: String, _ value: String) {
    remove(name)
    lines.append(HeaderField(name, value))
  }

  static func trimmed(_ text: Substring) -> String {
    var text = String(text)
    return text.withUTF8 { String(decoding: HeaderText.trimmed(UnsafeRawBufferPointer($0)), as: UTF8.self) }
  }
}
