import CTestShim
import Foundation
import Glibc

/// A child process whose standard streams are a pseudo-terminal, as for a person who types. It leads a session of its
/// own, so that Ctrl-C reaches it as SIGINT.
///
/// For one thread at a time: everything waits, until the deadline at most.
public final class TerminalProcess: @unchecked Sendable {
  private let master: Int32
  private let process: pid_t
  private let end: Double
  /// What it has written and `read` has not yet given out, without carriage returns.
  private var unread: [UInt8] = []
  private var ending: Ending?

  /// Starts the program.
  ///
  /// - Parameter deadline: seconds after which it is killed.
  public init(_ launch: Launch, deadline: Double) throws {
    var name = [CChar](repeating: 0, count: 128)
    // Wide, so that an editor does not break the lines that tests look for.
    master = ctest_open_terminal(250, &name, name.count)
    guard master >= 0 else { throw SystemError("pseudo-terminal") }
    process = try Self.spawn(launch, terminal: name)
    end = ProcessInfo.processInfo.systemUptime + deadline
  }

  deinit {
    if ending == nil {
      kill(process, SIGKILL)
      waitpid(process, nil, 0)
    }
    close(master)
  }

  /// Types.
  public func type(_ text: String) {
    var rest = Array(text.utf8)[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { write(master, $0.baseAddress, $0.count) }
      guard count > 0 else { return }
      rest.removeFirst(count)
    }
  }

  /// Sends a signal, unless the process has ended.
  public func signal(_ number: Int32) {
    if ending == nil { kill(process, number) }
  }

  /// Waits until it has written one of the texts, and takes what it has written up to there.
  ///
  /// - Returns: with carriage returns left out; nil when the process ended, or the time, without it.
  public func read(until texts: String...) -> String? {
    let wanted = texts.map { Array($0.utf8) }
    while true {
      let ends = wanted.compactMap { unread.firstRange(of: $0)?.upperBound }
      if let end = ends.min() {
        defer { unread.removeSubrange(..<end) }
        return String(decoding: unread[..<end], as: UTF8.self)
      }
      guard readSome() else { return nil }
    }
  }

  /// Waits for the end.
  ///
  /// - Returns: what it has written since the last `read`, and how it ended.
  public func finish() -> (output: String, ending: Ending) {
    while readSome() {}
    return (String(decoding: unread, as: UTF8.self), reap())
  }

  /// Whether the terminal edits lines and echoes by itself, as a shell leaves it.
  public var isCooked: Bool {
    var modes = termios()
    guard tcgetattr(master, &modes) == 0 else { return false }
    return modes.c_lflag & tcflag_t(ICANON) != 0 && modes.c_lflag & tcflag_t(ECHO) != 0
  }

  private static func spawn(_ launch: Launch, terminal name: [CChar]) throws -> pid_t {
    // The first terminal that a session's leader opens becomes the session's.
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    ctest_spawn_in_directory(&actions, launch.directory)
    for number in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO] {
      posix_spawn_file_actions_addopen(&actions, number, name, O_RDWR, 0)
    }
    return try SpawnedChild.spawn(launch, &actions, flags: Int32(ctest_spawn_new_session()))
  }

  private var secondsLeft: Double { end - ProcessInfo.processInfo.systemUptime }

  /// False at the end: nobody has the terminal open any more, or the time is over.
  private func readSome() -> Bool {
    while secondsLeft > 0 {
      var entry = pollfd(fd: master, events: Int16(POLLIN), revents: 0)
      guard poll(&entry, 1, 50) > 0 else { continue }
      var chunk = [UInt8](repeating: 0, count: 65_536)
      let count = Glibc.read(master, &chunk, chunk.count)
      guard count > 0 else { return false }
      unread += chunk[..<count].filter { $0 != 0x0D }
      return true
    }
    return false
  }

  private func reap() -> Ending {
    if let ending { return ending }
    let ending = SpawnedChild.reap(process, until: end)
    self.ending = ending
    return ending
  }
}
