import Glibc

/// Line editing and history by libedit.
///
/// libedit is given whole keys only (`KeyBuffer`), so that it never waits where the loop could go on.
final class EditLineEditor: LineEditor {
  /// What libedit's callbacks, which have no context, reach. One thread runs the editor.
  private struct Exchange {
    var keys = KeyBuffer()
    var event: LineEvent?
    /// Reading a key was broken off by a signal: what libedit makes of that is not what was typed.
    var wasInterrupted = false
    var release: EditLine.Action = {}
  }

  nonisolated(unsafe) private static var exchange = Exchange()
  private let library: EditLine

  /// - Returns: nil without libedit, or on a terminal that it can do nothing with.
  init?() {
    guard isatty(STDOUT_FILENO) == 1, let name = getenv("TERM"), strcmp(name, "dumb") != 0, name.pointee != 0 else {
      return nil
    }
    Self.chooseCharacters()
    guard let library = EditLine(keys: { _ in EditLineEditor.nextKey() }) else { return nil }
    self.library = library
    Self.exchange.release = library.releaseTerminal
    // os.exit in a job ends the process while a line is being typed.
    atexit { EditLineEditor.exchange.release() }
  }

  func begin(_ prompt: String) {
    Self.exchange.keys.removeAll()
    Self.exchange.event = nil
    library.resizeTerminal()
    library.installHandler(prompt) { EditLineEditor.lineEnded($0) }
    fflush(nil)
  }

  func poll() -> LineEvent? {
    while isInputReadable() {
      guard let byte = Self.readByte() else { return takeEnd() }
      Self.exchange.keys.append(byte)
      guard Self.exchange.keys.isComplete else { continue }
      if let event = passKeys() { return event }
    }
    return nil
  }

  func abandon() {
    library.removeHandler()
    Console.write("^C\n", to: STDOUT_FILENO)
  }

  func makeWay() { Console.write("\n", to: STDOUT_FILENO) }

  func redraw() {
    fflush(nil)
    _ = library.forceUpdate()
    fflush(nil)
  }

  func terminalChanged() {
    library.releaseTerminal()
    library.prepareTerminal(1)
    library.resizeTerminal()
    redraw()
  }

  func remember(_ line: [UInt8]) {
    _ = String(decoding: line, as: UTF8.self).withCString { library.addHistory($0) }
  }

  /// Gives libedit the keys there are. nil: the line is not complete.
  private func passKeys() -> LineEvent? {
    Self.exchange.wasInterrupted = false
    while !Self.exchange.keys.isEmpty, Self.exchange.event == nil { library.readKey() }
    guard let event = Self.exchange.event, !Self.exchange.wasInterrupted else { return nil }
    library.removeHandler()
    if event == .end { Console.write("\n", to: STDOUT_FILENO) }
    fflush(nil)
    return event
  }

  private func takeEnd() -> LineEvent? {
    guard errno != EINTR else { return nil }
    library.removeHandler()
    return .end
  }

  // MARK: What libedit calls

  private static func nextKey() -> Int32 {
    while true {
      if let key = exchange.keys.next() { return Int32(truncatingIfNeeded: key) }
      // Only after a key that asks for more, such as a search: then nothing else goes on.
      guard let byte = readByte() else {
        exchange.wasInterrupted = true
        return -1
      }
      exchange.keys.append(byte)
    }
  }

  private static func lineEnded(_ line: UnsafeMutablePointer<CChar>?) {
    guard let line else { return exchange.event = .end }
    exchange.event = .line(Array(UnsafeRawBufferPointer(start: line, count: strlen(line))))
    free(line)
  }

  /// nil at the end of the input (errno 0) or on an error.
  private static func readByte() -> UInt8? {
    var byte: UInt8 = 0
    errno = 0
    return read(STDIN_FILENO, &byte, 1) == 1 ? byte : nil
  }

  /// libedit follows the locale; without one, text is still UTF-8.
  private static func chooseCharacters() {
    guard setlocale(LC_CTYPE, "") == nil || strcmp(nl_langinfo(nl_item(CODESET)), "UTF-8") != 0 else { return }
    setlocale(LC_CTYPE, "C.UTF-8")
  }
}
