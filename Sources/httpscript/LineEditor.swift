import Glibc

/// What an editor has to tell.
enum LineEvent: Equatable {
  /// Without its line end.
  case line([UInt8])
  case end
}

/// Lets a person type a line, a bit at a time, without ever waiting.
protocol LineEditor: AnyObject {
  /// Shows a prompt and begins an empty line.
  func begin(_ prompt: String)
  /// Takes what has been typed; nil as long as the line is not complete. The terminal is as it was before `begin`
  /// when there is something to tell.
  func poll() -> LineEvent?
  /// Drops the line and gives the terminal back; the cursor is then on a line of its own.
  func abandon()
  /// Puts the cursor on a line of its own, for output that is not the editor's.
  func makeWay()
  /// Shows prompt and line again.
  func redraw()
  /// The terminal has another size, or was used by others meanwhile (Ctrl-Z).
  func terminalChanged()
  /// Makes a line one that can be called back.
  func remember(_ line: [UInt8])
}

/// Whether a read of standard input would not wait.
func isInputReadable() -> Bool {
  var entry = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
  return poll(&entry, 1, 0) > 0
}

/// Lines as the terminal itself lets them be typed: where there is no libedit.
final class PlainEditor: LineEditor {
  private var prompt = ""
  /// What has been read and is not yet told.
  private var typed: [UInt8] = []

  func begin(_ prompt: String) {
    self.prompt = prompt
    redraw()
  }

  func poll() -> LineEvent? {
    while true {
      if let line = takeLine() { return .line(line) }
      guard isInputReadable() else { return nil }
      guard readSome() else { return ending() }
    }
  }

  func abandon() {
    typed = []
    Console.write("\n", to: STDOUT_FILENO)
  }

  func makeWay() { Console.write("\n", to: STDOUT_FILENO) }
  func redraw() { Console.write(prompt, to: STDOUT_FILENO) }
  func terminalChanged() { redraw() }
  func remember(_ line: [UInt8]) {}

  private func takeLine() -> [UInt8]? {
    guard let end = typed.firstIndex(of: UInt8(ascii: "\n")) else { return nil }
    defer { typed.removeSubrange(...end) }
    return Array(typed[..<end])
  }

  private func readSome() -> Bool {
    var piece = [UInt8](repeating: 0, count: 4096)
    let count = read(STDIN_FILENO, &piece, piece.count)
    if count < 0 { return errno == EINTR }
    typed += piece[..<count]
    return count > 0
  }

  /// A last line that nothing ends is a line.
  private func ending() -> LineEvent {
    guard typed.isEmpty else {
      defer { typed = [] }
      return .line(typed)
    }
    Console.write("\n", to: STDOUT_FILENO)
    return .end
  }
}
