import SessionCore

/// Work for a helper thread that a fiber waits for.
protocol ScriptWork: HelperWork {
  /// What the wait returns behind `true`; called once the work is done.
  func appendResults(to outbox: Outbox)
}
