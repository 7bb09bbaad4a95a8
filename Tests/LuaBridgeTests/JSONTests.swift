import Glibc
import Testing

@testable import LuaBridge

@Suite struct JSONTests {
  private func script() throws -> LuaScript { try LuaScript(modules: ["httpscript.json": JSONModule.make]) }

  @Test(arguments: ["json_spec.lua", "json_input_spec.lua"])
  func spec(name: String) throws {
    let turn = try script().run(spec: name)
    #expect(turn == .finished)
  }

  @Test func nothingIsLost() throws {
    let script = try script()
    let code = """
      local json = require "json"
      for i = 1, 200 do
        assert(json.encode(assert(json.decode('{"a":[1,2.5,"x",null,{"b":[]}],"\\\\u0000":1}')), { sort_keys = true }))
        assert(not json.decode('{"a":[1,2,{"b":'))
        assert(not json.encode { a = { print } })
        assert(not pcall(json.encode, {}, { indents = 1 }))
      end
      """
    #expect(try script.run(code) == .finished)
    script.interpreter.collect()
    let before = script.interpreter.memory
    for _ in 0..<20 { #expect(try script.run(code) == .finished) }
    script.interpreter.collect()
    #expect(script.interpreter.memory < before + 20_000)
    #expect(script.interpreter.references == 0)
    #expect(script.interpreter.outbox.position == 0)
  }
}

@Suite struct JSONRewriterTests {
  private func rewriter(_ text: String) -> JSONRewriter {
    Array(text.utf8).withUnsafeBytes { JSONRewriter($0[...]) }
  }

  private func text(_ rewriter: JSONRewriter) -> String { String(decoding: rewriter.bytes, as: UTF8.self) }

  @Test(arguments: [
    ("[1,9223372036854775807]", "[1,9223372036854775807]"),
    ("[9223372036854775808]", "[\"9223372036854775808\"]"),
    ("[-9223372036854775808,-9223372036854775809]", "[-9223372036854775808,\"-9223372036854775809\"]"),
    ("[\"\\\"9223372036854775808\", 9223372036854775808]", "[\"\\\"9223372036854775808\", \"9223372036854775808\"]"),
    ("[1e99999999999999999999, 99999999999999999999.5]", "[1e99999999999999999999, 99999999999999999999.5]"),
    ("{99999999999999999999 : 1}", "{99999999999999999999 : 1}"),
    ("99999999999999999999", "\"99999999999999999999\""),
    ("-", "-"),
    ("\"\\", "\"\\"),
  ])
  func quotesBigIntegersOnly(original: String, expected: String) {
    var rewriter = rewriter(original)
    let first = rewriter.rewriteBigIntegers(as: .string)
    #expect(first)
    #expect(text(rewriter) == expected)
    let second = rewriter.rewriteBigIntegers(as: .string)
    #expect(!second)
  }

  @Test func findsTheWayBack() {
    var rewriter = rewriter("[99999999999999999999,\n99999999999999999999]")
    _ = rewriter.rewriteBigIntegers(as: .string)
    let place = JSONFailure.Place(line: 2, column: 23, position: 48)
    #expect(rewriter.original(place) == JSONFailure.Place(line: 2, column: 21, position: 44))
  }

  @Test func givesUpWhenEveryStandInIsTaken() {
    let taken = (0..<32).map { "\\ufd" + String(0xD0 + $0, radix: 16) }.joined()
    var rewriter = rewriter("{\"\\u0000\":\"\(taken)\"}")
    let done = rewriter.replaceEscapedNul()
    #expect(!done)
  }
}
