import Glibc
import LuaBridge

/// The prompt of the dialogue: shown or not, and what was typed at it.
final class Prompt: Interlocutor {
  enum Event: Equatable {
    case line([UInt8])
    /// Ctrl-C, at the prompt or while a chunk runs.
    case interrupt
    /// Ctrl-D on an empty line, or the terminal is gone.
    case end
  }

  /// Wakes the fiber that asks.
  var onEvent: (_ fiber: Int) -> Void = { _ in }

  private let editor: LineEditor
  private let history: History
  private let watch: InputWatch
  private var fiber: Int?
  private var isShown = false
  private var event: Event?

  /// - Parameter wake: written to when there is input, so that the loop turns.
  /// - Returns: nil when the thread that watches the input cannot be had.
  init?(editor: LineEditor, history: History, wake: Int32) {
    guard let watch = InputWatch(wake: wake) else { return nil }
    self.editor = editor
    self.history = history
    self.watch = watch
    for line in history.load() { editor.remember(line) }
  }

  // MARK: For http.dialogue

  func ask(_ text: String, fiber: Int) {
    self.fiber = fiber
    // A Ctrl-C that came when the chunk had just ended has nothing to interrupt any more.
    event = nil
    isShown = true
    TerminalSignals.setPatient(true)
    editor.begin(text)
    listen()
  }

  func takeEvent() -> Event? {
    defer { event = nil }
    return event
  }

  /// Output is about to come while a line is being typed.
  func makeWay() {
    if isShown { editor.makeWay() }
  }

  /// The output is complete: shows prompt and line again.
  func takeUp() {
    if isShown { editor.redraw() }
  }

  // MARK: Interlocutor

  func listen() {
    if TerminalSignals.takeChange(), isShown { editor.terminalChanged() }
    watch.noteFired()
    guard isShown else { return }
    switch editor.poll() {
    case nil:
      // What jobs have written without a line end.
      fflush(nil)
      watch.arm()
    case .line(let line):
      if history.add(line) { editor.remember(line) }
      finish(.line(line))
    case .end: finish(.end)
    }
  }

  func interrupt() {
    if isShown { editor.abandon() }
    finish(.interrupt)
  }

  func dismiss() {
    if isShown { editor.abandon() }
    isShown = false
  }

  private func finish(_ event: Event) {
    isShown = false
    TerminalSignals.setPatient(false)
    self.event = event
    if let fiber { onEvent(fiber) }
  }
}
