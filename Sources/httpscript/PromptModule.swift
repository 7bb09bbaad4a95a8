import LuaBridge

/// `httpscript.prompt`: the terminal, for `http.dialogue`.
///
/// - `ask(prompt)` shows a prompt; the calling fiber is woken when there is an event
/// - `event()` → nothing, `"line"` and the line, `"interrupt"` (Ctrl-C) or `"end"` (Ctrl-D)
/// - `make_way()`, `take_up()`: around output that comes while a line is being typed
/// - `quit()` ends the run; what is under way is cancelled
enum PromptModule {
  static let name = "httpscript.prompt"

  static func make(_ prompt: Prompt, _ scheduler: Scheduler) -> NativeModule {
    NativeModule(
      name,
      functions: [
        .init("ask") { call in
          guard let text = call.string(1) else { return call.wrongType(1, "string") }
          prompt.ask(text, fiber: call.interpreter.currentFiber)
          return .returned
        },
        .init("event") { call in
          if let event = prompt.takeEvent() { push(event, on: call.results) }
          return .returned
        },
        .init("make_way") { _ in
          prompt.makeWay()
          return .returned
        },
        .init("take_up") { _ in
          prompt.takeUp()
          return .returned
        },
        .init("quit") { [unowned scheduler] _ in
          scheduler.quit()
          return .returned
        },
      ])
  }

  private static func push(_ event: Prompt.Event, on results: Outbox) {
    switch event {
    case .line(let bytes):
      results.append("line")
      bytes.withUnsafeBytes { results.append(copying: $0) }
    case .interrupt: results.append("interrupt")
    case .end: results.append("end")
    }
  }
}
