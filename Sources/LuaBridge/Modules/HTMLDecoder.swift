import Glibc

/// From a page's bytes to the text that the parser gets.
enum HTMLDecoder {
  /// How far a `<meta charset>` is looked for. The standard asks for 1024 bytes; pages exist that need more.
  private static let prescanLimit = 4096

  /// The encoding: a byte order mark (which the Encoding standard puts before all else), the given one, `<meta>`, UTF-8
  /// if it is that, windows-1252. A label that nobody knows counts as none, as in browsers.
  static func decode(_ bytes: UnsafeRawBufferPointer, label: String?) -> (text: String, encoding: HTMLEncoding) {
    if let mark = byteOrderMark(bytes) {
      return (mark.encoding.decode(UnsafeRawBufferPointer(rebasing: bytes[mark.length...])), mark.encoding)
    }
    if let declared = label.flatMap(HTMLEncoding.named) ?? declaredEncoding(bytes) {
      return (declared.decode(bytes), declared)
    }
    if let text = String(validating: bytes, as: UTF8.self) { return (text, .utf8) }
    return (HTMLEncoding.windows1252.decode(bytes), .windows1252)
  }

  /// Calls `body` with the text as the HTML standard's input stream has it: line ends are LF; NUL, which the parser
  /// takes for the end, is left out.
  static func withInput<Result>(_ text: inout String, _ body: (UnsafeRawBufferPointer) -> Result) -> Result {
    text.withUTF8 { utf8 in
      let bytes = UnsafeRawBufferPointer(utf8)
      guard let start = bytes.baseAddress, memchr(start, 13, bytes.count) != nil || memchr(start, 0, bytes.count) != nil
      else { return body(bytes) }
      return normalized(bytes).withUnsafeBytes(body)
    }
  }

  private static func normalized(_ bytes: UnsafeRawBufferPointer) -> [UInt8] {
    var result: [UInt8] = []
    result.reserveCapacity(bytes.count)
    for (index, byte) in bytes.enumerated() {
      switch byte {
      case 0: continue
      case 13: if index + 1 >= bytes.count || bytes[index + 1] != 10 { result.append(UInt8(ascii: "\n")) }
      default: result.append(byte)
      }
    }
    return result
  }

  private static func byteOrderMark(_ bytes: UnsafeRawBufferPointer) -> (encoding: HTMLEncoding, length: Int)? {
    if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { return (.utf8, 3) }
    if bytes.starts(with: [0xFF, 0xFE]) { return (.utf16le, 2) }
    if bytes.starts(with: [0xFE, 0xFF]) { return (.utf16be, 2) }
    return nil
  }

  /// HTML standard, "prescan a byte stream to determine its encoding". A page that could be read this far is not in
  /// UTF-16, whatever it says.
  static func declaredEncoding(_ bytes: UnsafeRawBufferPointer) -> HTMLEncoding? {
    var scan = HTMLMetaScan(UnsafeRawBufferPointer(rebasing: bytes.prefix(prescanLimit)))
    while let label = scan.nextLabel() {
      guard let encoding = HTMLEncoding.named(label) else { continue }
      return encoding.name.hasPrefix("UTF-16") ? .utf8 : encoding
    }
    return nil
  }
}
