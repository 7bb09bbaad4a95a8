import Testing

@testable import LuaBridge

@Suite struct TextModuleTests {
  private func check(_ code: String) throws {
    let script = try LuaScript(modules: ["httpscript.text": TextModule.make])
    let turn = try script.run("local text = require 'httpscript.text'\n" + code)
    #expect(turn == .finished)
    #expect(script.interpreter.outbox.position == 0)
  }

  @Test func convertsBetweenCharacterSets() throws {
    try check(
      """
      assert(text.convert("K\\xF6ln", "ISO-8859-1", "UTF-8") == "Köln")
      assert(text.convert("Köln", "utf-8", "latin1") == "K\\xF6ln")
      assert(text.convert("\\x93\\xFA\\x96\\x7B", "Shift_JIS", "UTF-8") == "日本")
      assert(text.convert("日本", "UTF-8", "ISO-2022-JP") == "\\27$BF|K\\\\\\27(B")
      assert(text.convert("a\\0b", "UTF-8", "UTF-16LE") == "a\\0\\0\\0b\\0")
      assert(text.convert("", "UTF-8", "UTF-16LE") == "")
      assert(#text.convert(("ä"):rep(1000000), "UTF-8", "UTF-32LE") == 4000000)
      """)
  }

  @Test func replacesWhatIsInvalidWhenAsked() throws {
    try check(
      """
      local converted, message = text.convert("ab\\xFF", "UTF-8", "UTF-16LE")
      assert(converted == nil and message == "byte 3 cannot be converted", message)
      assert(text.convert("a\\xFFb", "UTF-8", "UTF-8", true) == "a\\u{FFFD}b")
      assert(text.convert("a\\xE2\\x82", "utf8", "utf-8", true) == "a\\u{FFFD}")
      assert(text.convert("\\x81\\xFFz", "Shift_JIS", "UTF-8", true) == "\\u{FFFD}\\u{FFFD}z")
      assert(text.convert("€ä", "UTF-8", "ISO-8859-1", true) == "???\\xE4")
      assert(text.convert("a\\xFF", "UTF-8", "UTF-16LE", true) == "a\\0\\xFD\\xFF")
      assert(text.convert("a\\xFF", "UTF-8", "UTF-16", true) == "\\xFF\\xFEa\\0\\xFD\\xFF")
      """)
  }

  @Test func refusesUnknownCharacterSets() throws {
    try check(
      """
      for _, name in ipairs { "nonesuch", "", "ascii//TRANSLIT", "a/../b", "UTF-8\\0x" } do
        local converted, message = text.convert("x", name, "UTF-8")
        assert(converted == nil and message:find("no conversion", 1, true), name)
        assert(text.convert("x", "UTF-8", name) == nil, name)
      end
      assert(not pcall(text.convert, "x", "UTF-8"))
      assert(not pcall(text.convert, 1, "UTF-8", "UTF-8"))
      """)
  }

  @Test func staysQuickOnNothingButInvalidBytes() throws {
    try check(
      """
      local start = os.clock()
      assert(#text.convert(("\\xFF"):rep(200000), "EUC-JP", "UTF-8", true) == 600000)
      assert(os.clock() - start < 5)
      """)
  }

  @Test func knowsUTF8() throws {
    try check(
      """
      for _, good in ipairs { "", "a", "ä€😀", "a\\0" } do assert(text.valid_utf8(good)) end
      for _, bad in ipairs { "\\xFF", "a\\xC3", "\\xED\\xA0\\x80", "\\xC0\\x80", "\\xF4\\x90\\x80\\x80", "\\x80" } do
        assert(not text.valid_utf8(bad))
      end
      """)
  }

  @Test func writesAndReadsBase64() throws {
    try check(
      """
      -- RFC 4648 §10
      local vectors = { [""] = "", f = "Zg==", fo = "Zm8=", foo = "Zm9v", foob = "Zm9vYg==", fooba = "Zm9vYmE=",
        foobar = "Zm9vYmFy" }
      for plain, encoded in pairs(vectors) do
        assert(text.base64(plain) == encoded)
        assert(text.unbase64(encoded) == plain)
        assert(text.unbase64((encoded:gsub("=", ""))) == plain)
      end
      local all = {}
      for byte = 0, 255 do all[#all + 1] = string.char(byte) end
      all = table.concat(all)
      assert(text.unbase64(text.base64(all)) == all)
      assert(text.unbase64(" Zm9v\\r\\nYg == ") == "foob")
      assert(text.unbase64("-_-_") == text.unbase64("+/+/"))
      for _, bad in ipairs { "Z", "Zg=", "Zg===", "=", "Zg==Zg==", "Zm9v!", "Zm9v=", "Zm9vYg=\\0" } do
        local bytes, message = text.unbase64(bad)
        assert(bytes == nil and message, bad)
      end
      """)
  }
}
