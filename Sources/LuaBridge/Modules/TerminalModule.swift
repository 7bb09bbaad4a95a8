import Glibc

/// `httpscript.terminal`: what the standard streams are connected to.
///
/// - `is_tty(descriptor)` → boolean; 0, 1 and 2 are stdin, stdout and stderr
/// - `columns([descriptor])` → the terminal's width: of the descriptor, else of stderr or stdout, else what the
///   environment's `COLUMNS` says, else 80
enum TerminalModule {
  static func make() -> NativeModule {
    NativeModule(
      "httpscript.terminal",
      functions: [
        .init("is_tty", isTerminal),
        .init("columns", columns),
      ])
  }

  private static func isTerminal(_ call: HostCall) -> Outcome {
    guard let descriptor = call.integer(1) else { return call.wrongType(1, "integer") }
    call.results.append(isatty(Int32(clamping: descriptor)) == 1)
    return .returned
  }

  private static func columns(_ call: HostCall) -> Outcome {
    guard call.isNil(1) || call.integer(1) != nil else { return call.wrongType(1, "integer") }
    let descriptors = call.integer(1).map { [Int32(clamping: $0)] } ?? [STDERR_FILENO, STDOUT_FILENO]
    let width = descriptors.lazy.map(columnsOfTerminal).first { $0 > 0 }
    call.results.append(width ?? columnsOfEnvironment() ?? 80)
    return .returned
  }

  /// 0 when the descriptor is no terminal, or the terminal does not say.
  private static func columnsOfTerminal(_ descriptor: Int32) -> Int {
    var size = winsize()
    return ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0 ? Int(size.ws_col) : 0
  }

  private static func columnsOfEnvironment() -> Int? {
    guard let text = getenv("COLUMNS"), let width = Int(String(cString: text)), width > 0 else { return nil }
    return width
  }
}
