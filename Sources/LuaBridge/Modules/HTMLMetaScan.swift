/// Looks for encoding labels in `<meta>` tags, in bytes of an encoding that is not known yet.
struct HTMLMetaScan {
  private let bytes: UnsafeRawBufferPointer
  private var index = 0

  init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

  /// The next label; nil at the end.
  mutating func nextLabel() -> String? {
    while index < bytes.count {
      if hasPrefix("<!--") {
        skipComment()
      } else if hasPrefix("<meta"), index + 5 < bytes.count, Self.isSpace(bytes[index + 5]) || bytes[index + 5] == 0x2F
      {
        index += 6
        if let label = metaLabel() { return label }
      } else if isTagStart {
        index += bytes[index + 1] == 0x2F ? 2 : 1
        while index < bytes.count, !Self.isSpace(bytes[index]), bytes[index] != 0x3E { index += 1 }
        while nextAttribute() != nil {}
      } else if bytes[index] == 0x3C, index + 1 < bytes.count, [0x21, 0x2F, 0x3F].contains(bytes[index + 1]) {
        while index < bytes.count, bytes[index] != 0x3E { index += 1 }
      } else {
        index += 1
      }
    }
    return nil
  }

  private var isTagStart: Bool {
    guard bytes[index] == 0x3C, index + 1 < bytes.count else { return false }
    let name = bytes[index + 1] == 0x2F && index + 2 < bytes.count ? bytes[index + 2] : bytes[index + 1]
    return (name | 0x20) >= 0x61 && (name | 0x20) <= 0x7A
  }

  /// `<!-->` is a whole comment.
  private mutating func skipComment() {
    index += 2
    while index < bytes.count, !hasPrefix("-->") { index += 1 }
  }

  /// After `<meta`: what its attributes say.
  private mutating func metaLabel() -> String? {
    var charset: String?
    var content: String?
    var isContentType = false
    while let (name, value) = nextAttribute() {
      switch name {
      case "charset": charset = charset ?? value
      case "content": content = content ?? value
      case "http-equiv": isContentType = value.lowercased() == "content-type"
      default: break
      }
    }
    return charset ?? (isContentType ? content.flatMap(HTMLMetaScan.charset(in:)) : nil)
  }

  /// The `charset=` of a content type.
  static func charset(in content: String) -> String? {
    var rest = Substring(content.lowercased())
    while let found = rest.firstIndex(of: "c") {
      rest = rest[found...]
      guard rest.hasPrefix("charset") else {
        rest = rest.dropFirst()
        continue
      }
      rest = rest.dropFirst(7).drop { $0.isWhitespace }
      guard rest.first == "=" else { continue }
      rest = rest.dropFirst().drop { $0.isWhitespace }
      if let quote = rest.first, quote == "\"" || quote == "'" {
        let inside = rest.dropFirst()
        return inside.firstIndex(of: quote).map { String(inside[..<$0]) }
      }
      return String(rest.prefix { !$0.isWhitespace && $0 != ";" })
    }
    return nil
  }

  /// Name in lower case and value of the next attribute; nil after the tag's `>`, which is passed over.
  private mutating func nextAttribute() -> (name: String, value: String)? {
    while index < bytes.count, Self.isSpace(bytes[index]) || bytes[index] == 0x2F { index += 1 }
    guard index < bytes.count else { return nil }
    if bytes[index] == 0x3E {
      index += 1
      return nil
    }
    let name = take { !Self.isSpace($0) && $0 != 0x2F && $0 != 0x3E && $0 != 0x3D }
    while index < bytes.count, Self.isSpace(bytes[index]) { index += 1 }
    guard index < bytes.count, bytes[index] == 0x3D else { return (name.lowercased(), "") }
    index += 1
    while index < bytes.count, Self.isSpace(bytes[index]) { index += 1 }
    guard index < bytes.count else { return nil }
    let quote = bytes[index]
    guard quote == 0x22 || quote == 0x27 else {
      return (name.lowercased(), take { !Self.isSpace($0) && $0 != 0x3E })
    }
    index += 1
    let value = take { $0 != quote }
    index += 1
    return (name.lowercased(), value)
  }

  private mutating func take(while belongs: (UInt8) -> Bool) -> String {
    let start = index
    while index < bytes.count, belongs(bytes[index]) { index += 1 }
    return String(decoding: bytes[start..<index], as: UTF8.self)
  }

  private func hasPrefix(_ text: StaticString) -> Bool {
    guard bytes.count - index >= text.utf8CodeUnitCount else { return false }
    for offset in 0..<text.utf8CodeUnitCount {
      let byte = bytes[index + offset]
      let small = byte >= 0x41 && byte <= 0x5A ? byte | 0x20 : byte
      guard small == text.utf8Start[offset] else { return false }
    }
    return true
  }

  private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (byte >= 9 && byte <= 13 && byte != 11) }
}
