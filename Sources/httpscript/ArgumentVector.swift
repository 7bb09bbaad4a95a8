import Glibc
import LuaBridge

/// The script's `arg` as C strings that live as long as the process: program and options at negative indices, the
/// script's name at 0, its arguments behind.
struct ArgumentVector {
  private let strings: UnsafeMutablePointer<UnsafePointer<CChar>?>
  private let count: Int
  private let scriptIndex: Int
  private let directory: String?

  init(program: [String], script: String, arguments: [String]) {
    let words = program + [script] + arguments
    strings = .allocate(capacity: words.count)
    for (index, word) in words.enumerated() { strings[index] = UnsafePointer(strdup(word)) }
    count = words.count
    scriptIndex = program.count
    directory = script.utf8.lastIndex(of: UInt8(ascii: "/")).map {
      $0 == script.startIndex ? "/" : String(script[..<$0])
    }
  }

  /// Also lets modules be found beside a script that is not in the current directory.
  func install(in runtime: Runtime) -> Bool {
    let interpreter = runtime.interpreter
    guard interpreter.setArguments(UnsafePointer(strings), count: count, scriptIndex: scriptIndex) else { return false }
    return directory.map { interpreter.addModules(in: $0) } ?? true
  }
}
