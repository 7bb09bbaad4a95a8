import Glibc
import Testing

@testable import LuaBridge

// Swift does not see the macros TIOCSPTLCK and TIOCGPTN.
private let unlockTerminal: UInt = 0x4004_5431
private let terminalNumber: UInt = 0x8004_5430

@Suite struct TerminalModuleTests {
  private func check(_ code: String) throws {
    let script = try LuaScript(modules: ["httpscript.terminal": TerminalModule.make])
    let turn = try script.run("local terminal = require 'http.terminal'\n" + code)
    #expect(turn == .finished)
  }

  @Test func knowsATerminalAndItsWidth() throws {
    let main = open("/dev/ptmx", O_RDWR | O_NOCTTY)
    try #require(main >= 0)
    defer { close(main) }
    var locked: Int32 = 0
    var number: UInt32 = 0
    let isReady = ioctl(main, unlockTerminal, &locked) == 0 && ioctl(main, terminalNumber, &number) == 0
    try #require(isReady)
    let terminal = open("/dev/pts/\(number)", O_RDWR | O_NOCTTY)
    try #require(terminal >= 0)
    defer { close(terminal) }
    var size = winsize()
    size.ws_col = 132
    let isSized = ioctl(terminal, UInt(TIOCSWINSZ), &size) == 0
    try #require(isSized)
    try check(
      """
      assert(terminal.is_tty(\(terminal)))
      assert(terminal.columns(\(terminal)) == 132)
      """)
  }

  @Test func hasAnAnswerWithoutATerminal() throws {
    let null = open("/dev/null", O_RDONLY)
    defer { close(null) }
    try check(
      """
      assert(not terminal.is_tty(\(null)) and not terminal.is_tty(-1))
      assert(terminal.columns(\(null)) == tonumber(os.getenv("COLUMNS") or 80))
      assert(math.type(terminal.columns()) == "integer")
      assert(not pcall(terminal.is_tty) and not pcall(terminal.columns, "x"))
      """)
  }
}
