import Glibc
import Synchronization

/// What the user should know and no script can be told: one line on standard error, once for each subject.
enum Warnings {
  private static let told = Mutex<Set<String>>([])

  /// - Parameter subject: what has been told about is not told about again.
  static func tell(_ subject: String, _ text: @autoclosure () -> String) {
    guard told.withLock({ $0.insert(subject).inserted }) else { return }
    var line = "httpscript: warning: \(text())\n"
    line.withUTF8 { _ = write(STDERR_FILENO, $0.baseAddress, $0.count) }
  }
}
