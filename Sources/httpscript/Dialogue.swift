import Glibc
import LuaBridge
import SessionCore

/// `httpscript` without a script on a terminal: the standard library's `http.dialogue` asks, runs and shows; what it
/// needs of the terminal is here.
struct Dialogue {
  let runtime: Runtime

  init(_ runtime: Runtime) { self.runtime = runtime }

  /// - Returns: the exit status.
  func run() -> Int32 {
    let history = History(environment: { name in getenv(name).map { String(cString: $0) } })
    let editor: LineEditor = EditLineEditor() ?? PlainEditor()
    guard let prompt = Prompt(editor: editor, history: history, wake: runtime.scheduler.port.wakeDescriptor) else {
      Program.complain("cannot start a thread")
      return 1
    }
    TerminalSignals.watch()
    connect(prompt)
    Console.write("httpscript \(Version.text), exit with Ctrl-D\n", to: STDOUT_FILENO)
    do {
      return try runtime.run(Bytes("require('http.dialogue')()"), name: "=dialogue").status
    } catch {
      Program.complain((error as? ScriptError)?.message ?? "\(error)")
      return 1
    }
  }

  private func connect(_ prompt: Prompt) {
    let scheduler = runtime.scheduler
    prompt.onEvent = { [unowned scheduler] in scheduler.wake($0) }
    scheduler.interlocutor = prompt
    scheduler.report = { message in
      prompt.makeWay()
      Program.complain(message)
      prompt.takeUp()
    }
    runtime.interpreter.provide(PromptModule.name) { PromptModule.make(prompt, scheduler) }
  }
}
