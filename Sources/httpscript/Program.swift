import Glibc
import LuaBridge
import SessionCore

/// From arguments to exit status.
enum Program {
  /// Something is left to be done by `exit`: a dialogue gives the terminal back there.
  private(set) nonisolated(unsafe) static var hasExitFunctions = false

  static func run(_ words: [String]) -> Int32 {
    let options: Options
    do {
      options = try Options.parse(Array(words.dropFirst()), isTerminal: isatty(STDIN_FILENO) == 1)
    } catch {
      complain(error.message)
      return 2
    }
    switch options.source {
    case .help:
      Console.write(Usage.help, to: STDOUT_FILENO)
      return 0
    case .version:
      Console.write(Usage.version, to: STDOUT_FILENO)
      return 0
    case .file(let path):
      return runScript(SourceText.file(path), chunkName: "@" + path, name: path, options, words)
    case .standardInput:
      return runScript(SourceText.standardInput(), chunkName: "=stdin", name: "-", options, words)
    case .code(let code):
      return runScript(.success(SourceText(code)), chunkName: "=(command line)", name: "-e", options, words)
    case .interactive:
      hasExitFunctions = true
      return withRuntime(options, ArgumentVector(program: words, script: "-", arguments: [])) { Dialogue($0).run() }
    }
  }

  private static func runScript(
    _ source: Result<SourceText, SourceText.ReadError>, chunkName: String, name: String, _ options: Options,
    _ words: [String]
  ) -> Int32 {
    switch source {
    case .failure(let error):
      complain(error.message)
      return 1
    case .success(let text):
      let before = words.count - options.arguments.count - 1
      let vector = ArgumentVector(
        program: Array(words.prefix(max(1, before))), script: name, arguments: options.arguments)
      return withRuntime(options, vector) { runtime in
        do {
          return StandardStreams.finish(try runtime.run(text.bytes, name: chunkName).status)
        } catch {
          complain((error as? ScriptError)?.message ?? "\(error)")
          return 1
        }
      }
    }
  }

  private static func withRuntime(_ options: Options, _ vector: ArgumentVector, _ body: (Runtime) -> Int32) -> Int32 {
    do {
      let runtime = try Runtime(port: SessionCore())
      runtime.scheduler.report = { complain($0) }
      runtime.scheduler.trace = options.verbose
      if let timeout = options.timeout { runtime.interpreter.setAlarm(seconds: timeout) }
      guard vector.install(in: runtime) else {
        complain("not enough memory")
        return 1
      }
      return body(runtime)
    } catch {
      complain("cannot start: \(error)")
      return 1
    }
  }

  /// One line (or a message with its traceback) on standard error.
  static func complain(_ message: String) {
    fflush(nil)
    Console.write("httpscript: \(message)\n", to: STDERR_FILENO)
  }
}
