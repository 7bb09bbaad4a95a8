import Glibc
import SessionCore

@testable import LuaBridge

/// Runs Lua code in an interpreter that has only the modules named, without a scheduler.
struct LuaScript {
  let interpreter: Interpreter

  init(modules: [String: () -> NativeModule]) throws { interpreter = try Interpreter(modules: modules) }

  func run(_ code: String, name: String = "=test") throws -> Interpreter.Turn {
    interpreter.resume(try interpreter.loadMain(Bytes(code), name: name))
  }

  /// Runs a file of `Tests/Lua`.
  func run(spec: String, testFile: String = #filePath) throws -> Interpreter.Turn {
    let tests = testFile.split(separator: "/", omittingEmptySubsequences: false).dropLast(2).joined(separator: "/")
    let path = "\(tests)/Lua/\(spec)"
    return try run(try contents(of: path), name: "@\(path)")
  }

  private struct UnreadableFile: Error {
    let path: String
  }

  private func contents(of path: String) throws -> String {
    guard let file = fopen(path, "rb") else { throw UnreadableFile(path: path) }
    defer { fclose(file) }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65536)
    while case let count = fread(&buffer, 1, buffer.count, file), count > 0 { bytes += buffer[..<count] }
    return String(decoding: bytes, as: UTF8.self)
  }
}
