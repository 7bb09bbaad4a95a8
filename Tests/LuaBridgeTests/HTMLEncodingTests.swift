import Testing

@testable import LuaBridge

@Suite struct HTMLEncodingTests {
  private func decode(_ bytes: [UInt8], label: String? = nil) -> (String, String) {
    bytes.withUnsafeBytes {
      let (text, encoding) = HTMLDecoder.decode($0, label: label)
      return (text, encoding.name)
    }
  }

  @Test(arguments: [
    ("<meta charset=utf-8>", "UTF-8"), ("<META CHARSET = 'Shift_JIS'>", "CP932"),
    ("<meta http-equiv=Content-Type content=\"text/html; charset=iso-8859-2\">", "ISO-8859-2"),
    ("<meta content='text/html;charset=koi8-r' http-equiv='content-type'>", "KOI8-R"),
    ("<!-- <meta charset=utf-16> --><meta charset=latin1>", "WINDOWS-1252"),
    ("<!--><meta charset=gbk>", "GB18030"), ("<a title='<meta charset=big5>'><meta charset=euc-kr>", "CP949"),
    ("<meta charset=utf-16>", "UTF-8"), ("<meta charset=nonsense><meta charset=euc-jp>", "EUC-JP"),
    ("<meta name=x content='charset=koi8-r'>", "UTF-8"), ("<metadata charset=koi8-r>", "UTF-8"),
    ("<meta charset='", "UTF-8"), ("<meta charset", "UTF-8"), ("<", "UTF-8"), ("", "UTF-8"),
    ("<meta charset=", "UTF-8"),
  ])
  func declarations(_ page: String, _ name: String) {
    #expect(decode(Array(page.utf8)).1 == name)
  }

  @Test func order() {
    #expect(decode([0xE9]) == ("é", "WINDOWS-1252"))
    #expect(decode([0xC3, 0xA9]) == ("é", "UTF-8"))
    #expect(decode([0xC3, 0xA9], label: "latin1") == ("Ã©", "WINDOWS-1252"))
    #expect(decode([0xC3, 0xA9], label: "no-such-thing") == ("é", "UTF-8"))
    #expect(decode(Array("<meta charset=koi8-r>".utf8), label: "utf-8").1 == "UTF-8")
    #expect(decode([0xEF, 0xBB, 0xBF, 0x61], label: "latin1") == ("a", "UTF-8"))
    #expect(decode([0xFF, 0xFE, 0x61, 0x00, 0xE9, 0x00]) == ("aé", "UTF-16LE"))
    #expect(decode([0xFE, 0xFF, 0x00, 0x61, 0x00, 0xE9]) == ("aé", "UTF-16BE"))
  }

  @Test func faultsCostOneCharacter() {
    #expect(decode([0x61, 0xFF, 0x62], label: "utf-8").0 == "a\u{FFFD}b")
    #expect(decode([0x82, 0xA0, 0x80, 0x61], label: "shift_jis").0.hasPrefix("あ"))
    #expect(decode([0x82], label: "shift_jis").0 == "\u{FFFD}")
    #expect(decode([0x81, 0x80, 0x9F], label: "windows-1252").0 == "\u{81}€Ÿ")
    #expect(decode([0x61, 0x00, 0x62], label: "utf-16le").0 == "a\u{FFFD}")
  }

  @Test func longTextsAreConvertedWhole() {
    let page = [UInt8](repeating: 0xC1, count: 100_000)
    #expect(decode(page, label: "koi8-r").0 == String(repeating: "а", count: 100_000))
  }

  @Test func lineEndsAndNul() {
    var text = "a\r\nb\rc\0d\r"
    let input = HTMLDecoder.withInput(&text) { String(decoding: $0, as: UTF8.self) }
    #expect(input == "a\nb\ncd\n")
  }

  @Test(arguments: ["utf-7", "UTF-32LE", "", "a/b", "utf-8//IGNORE", "x\u{0}y", "iso-2022-kr"])
  func refused(_ label: String) {
    #expect(HTMLEncoding.named(label) == nil)
  }

  @Test(arguments: [
    ("a.png", ["a.png"]), (" a.png 1x , b.png 2x", ["a.png", "b.png"]), ("a.png,b.png 100w", ["a.png,b.png"]),
    ("a.png, b.png", ["a.png", "b.png"]), ("data:,x 1x, y", ["data:,x", "y"]), (",,", []), ("", []),
  ])
  func sourceSets(_ set: String, _ urls: [String]) {
    #expect(HTMLLinkRules.candidates(set) == urls)
  }
}
