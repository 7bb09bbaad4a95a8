import Glibc

/// A character encoding by one of the names that the Encoding standard gives it.
struct HTMLEncoding: Equatable {
  /// Name for scripts, and for iconv.
  let name: String

  static let utf8 = HTMLEncoding(name: "UTF-8")
  static let windows1252 = HTMLEncoding(name: "WINDOWS-1252")
  static let utf16le = HTMLEncoding(name: "UTF-16LE")
  static let utf16be = HTMLEncoding(name: "UTF-16BE")

  /// Labels whose meaning on the web is another than the name says (WHATWG Encoding, 4.2).
  private static let aliases: [String: String] = [
    "utf8": "UTF-8", "unicode-1-1-utf-8": "UTF-8", "unicode11utf8": "UTF-8", "x-unicode20utf8": "UTF-8",
    "ascii": "WINDOWS-1252", "us-ascii": "WINDOWS-1252", "ansi_x3.4-1968": "WINDOWS-1252",
    "iso-8859-1": "WINDOWS-1252", "iso8859-1": "WINDOWS-1252", "iso88591": "WINDOWS-1252",
    "iso_8859-1": "WINDOWS-1252", "iso_8859-1:1987": "WINDOWS-1252", "iso-ir-100": "WINDOWS-1252",
    "latin1": "WINDOWS-1252", "l1": "WINDOWS-1252", "cp819": "WINDOWS-1252", "ibm819": "WINDOWS-1252",
    "csisolatin1": "WINDOWS-1252", "cp1252": "WINDOWS-1252", "x-cp1252": "WINDOWS-1252",
    "iso-8859-9": "WINDOWS-1254", "iso8859-9": "WINDOWS-1254", "latin5": "WINDOWS-1254", "l5": "WINDOWS-1254",
    "iso-8859-11": "CP874", "tis-620": "CP874", "windows-874": "CP874", "dos-874": "CP874",
    "shift_jis": "CP932", "shift-jis": "CP932", "sjis": "CP932", "x-sjis": "CP932", "ms_kanji": "CP932",
    "windows-31j": "CP932", "csshiftjis": "CP932", "ms932": "CP932",
    "euc-kr": "CP949", "ks_c_5601-1987": "CP949", "ks_c_5601-1989": "CP949", "ksc5601": "CP949", "ksc_5601": "CP949",
    "korean": "CP949", "windows-949": "CP949", "cseuckr": "CP949",
    "gb2312": "GB18030", "gbk": "GB18030", "x-gbk": "GB18030", "gb_2312-80": "GB18030", "chinese": "GB18030",
    "csgb2312": "GB18030", "big5": "BIG5-HKSCS", "big5-hkscs": "BIG5-HKSCS", "cn-big5": "BIG5-HKSCS",
    "x-x-big5": "BIG5-HKSCS", "csbig5": "BIG5-HKSCS",
    "utf-16": "UTF-16LE", "utf16": "UTF-16LE", "unicode": "UTF-16LE", "ucs-2": "UTF-16LE",
    "iso-10646-ucs-2": "UTF-16LE",
    "unicodefeff": "UTF-16LE", "unicodefffe": "UTF-16BE", "x-mac-roman": "MACINTOSH", "mac": "MACINTOSH",
    "x-euc-jp": "EUC-JP", "logical": "ISO-8859-8", "visual": "ISO-8859-8", "iso-8859-8-i": "ISO-8859-8",
    "x-mac-cyrillic": "MAC-CYRILLIC", "x-mac-ukrainian": "MAC-CYRILLIC",
  ]

  /// Encodings that the standard forbids, because their bytes mean something else to those who do not know them.
  private static let forbidden = ["utf-7", "utf-32", "utf7", "utf32", "hz-gb-2312", "iso-2022-kr", "iso-2022-cn"]

  /// Nil when nobody here knows the label.
  static func named(_ label: String) -> HTMLEncoding? {
    let plain = label.filter { !$0.isWhitespace }.lowercased()
    if let alias = aliases[plain] { return HTMLEncoding(name: alias) }
    let isName = plain.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != 0x2F }
    guard !plain.isEmpty, plain.utf8.count < 40, isName, !forbidden.contains(where: plain.hasPrefix) else { return nil }
    let name = plain.uppercased()
    return IconvConverter(from: name) == nil ? nil : HTMLEncoding(name: name)
  }

  /// The bytes as text, with replacement characters where they are not in this encoding.
  func decode(_ bytes: UnsafeRawBufferPointer) -> String {
    if self == .utf8 { return String(decoding: bytes, as: UTF8.self) }
    if self == .windows1252 { return HTMLEncoding.decodeWindows1252(bytes) }
    guard let converter = IconvConverter(from: name) else { return String(decoding: bytes, as: UTF8.self) }
    return converter.convert(bytes)
  }

  private static let windows1252Upper: [UInt16] = [
    0x20AC, 0x81, 0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160, 0x2039, 0x0152, 0x8D, 0x017D,
    0x8F, 0x90, 0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014, 0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0x9D,
    0x017E, 0x0178,
  ]

  /// By hand, because iconv refuses the five bytes that the standard maps to control characters.
  private static func decodeWindows1252(_ bytes: UnsafeRawBufferPointer) -> String {
    var units: [UInt16] = []
    units.reserveCapacity(bytes.count)
    for byte in bytes { units.append(byte & 0xE0 == 0x80 ? windows1252Upper[Int(byte - 0x80)] : UInt16(byte)) }
    return String(decoding: units, as: UTF16.self)
  }
}

/// iconv to UTF-8, of which a fault costs one character and not the text.
final class IconvConverter {
  private let handle: iconv_t

  /// Nil when iconv does not know the encoding.
  init?(from name: String) {
    guard let handle = iconv_open("UTF-8", name), Int(bitPattern: handle) != -1 else { return nil }
    self.handle = handle
  }

  deinit { iconv_close(handle) }

  func convert(_ bytes: UnsafeRawBufferPointer) -> String {
    var result: [UInt8] = []
    result.reserveCapacity(bytes.count * 2)
    let chunk = UnsafeMutableRawBufferPointer.allocate(byteCount: 16384, alignment: 1)
    defer { chunk.deallocate() }
    var input = UnsafeMutablePointer(mutating: bytes.baseAddress?.assumingMemoryBound(to: CChar.self))
    var left = bytes.count
    while left > 0 {
      var output = chunk.baseAddress?.assumingMemoryBound(to: CChar.self)
      var room = chunk.count
      let status = iconv(handle, &input, &left, &output, &room)
      let reason = errno
      result.append(contentsOf: chunk[..<(chunk.count - room)])
      if left == 0 || status != -1 { break }
      if reason == E2BIG { continue }
      result.append(contentsOf: [0xEF, 0xBF, 0xBD])
      if reason == EINVAL { break }
      input = input?.advanced(by: 1)
      left -= 1
    }
    return String(decoding: result, as: UTF8.self)
  }
}
