import CLuaShim

/// Somebody outside the core whom a fiber may wait for: the person at the terminal of a dialogue.
///
/// Called by the scheduler's loop only. What is said is passed on by waking fibers; input has to make the loop turn
/// by a write to `Port.wakeDescriptor`.
public protocol Interlocutor: AnyObject {
  /// The loop came round: takes what was typed meanwhile.
  func listen()
  /// SIGINT arrived; nothing else has been done about it.
  func interrupt()
  /// The process is to end: gives the terminal back.
  func dismiss()
}

/// Standard output as the script's `print` writes to it.
public enum Output {
  /// Writes out what is buffered.
  /// - Returns: nil, or the exit status when that or an earlier write failed: 1, or 128 + n of SIGPIPE where nobody
  ///   reads any more.
  public static func flush() -> Int32? {
    let status = clua_flush_output()
    return status == 0 ? nil : status
  }
}

/// What the terminal tells by signals.
public enum TerminalSignals {
  /// From now on SIGCONT (the process goes on after Ctrl-Z) and SIGWINCH (another size) make the loop turn.
  public static func watch() { clua_watch_terminal() }
  /// Whether one of these came since the last call: what is shown has to be drawn again.
  public static func takeChange() -> Bool { clua_take_terminal_change() }
  /// Whether pressing Ctrl-C twice quickly is the same as once, and not the end of the process.
  public static func setPatient(_ isPatient: Bool) { clua_be_patient(isPatient) }
}
