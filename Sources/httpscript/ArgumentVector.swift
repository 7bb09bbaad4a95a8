import Glibc
import LuaBridge

/// The script's `arg` as C strings that live as long as the process: program and options at negative indices, the
/// script's name at 0, its arguments behind.
struct ArgumentVector {
  private let strings: UnsafeMutablePointer<UnsafePointer<CChar>?>
  private let count: Int
  private let scriptIndex: Int

  init(program: [String], script: String, arguments: [String]) {
    let words = program + [script] + arguments
    strings = .allocate(capacity: words.count)
    for (index, word) in words.enumerated() { strings[index] = UnsafePointer(strdup(word)) }
    count = words.count
    scriptIndex = program.count
  }

  func install(in runtime: Runtime) -> Bool {
    runtime.interpreter.setArguments(UnsafePointer(strings), count: count, scriptIndex: scriptIndex)
  }
}
