import SessionCore

@testable import LuaBridge

/// Runs Lua code that needs documents, without a scheduler.
struct HTMLScript {
  let interpreter: Interpreter

  init() throws {
    interpreter = try Interpreter(modules: [
      HTMLModule.name: { HTMLModule.make { try? URLParts.resolve($0, against: $1).get() } }
    ])
  }

  /// How the chunk ended; a failure carries Lua's message.
  func run(_ code: String, name: String = "=test") throws -> Interpreter.Turn {
    let reference = try interpreter.loadMain(Bytes(code), name: name)
    return interpreter.resume(reference)
  }

  /// Runs a file of `Tests/Lua`, which gets the folder of fixtures as its argument.
  func run(spec: String, testFile: String = #filePath) throws -> Interpreter.Turn {
    let tests = testFile.split(separator: "/", omittingEmptySubsequences: false).dropLast(2).joined(separator: "/")
    return try run(
      """
      local spec = assert(loadfile("\(tests)/Lua/\(spec)"))
      return spec("\(tests)/Fixtures/")
      """)
  }
}
