import Foundation
import Glibc

/// What a finished process left behind.
public struct RunResult: Sendable, CustomStringConvertible {
  /// Bytes of standard output.
  public let output: [UInt8]
  /// Bytes of standard error.
  public let errors: [UInt8]
  /// How it ended.
  public let ending: Ending
  /// Wall time in seconds.
  public let seconds: Double

  /// Standard output as text.
  public var stdout: String { String(decoding: output, as: UTF8.self) }
  /// Standard error as text.
  public var stderr: String { String(decoding: errors, as: UTF8.self) }
  /// The exit status; nil when a signal or the deadline ended it.
  public var status: Int32? {
    if case .exited(let status) = ending { status } else { nil }
  }
  /// Standard output by line, without the last line's newline.
  public var lines: [String] {
    var lines = stdout.components(separatedBy: "\n")
    if lines.last?.isEmpty == true { lines.removeLast() }
    return lines
  }
  /// The form test failures print.
  public var description: String { "\(ending)\n--- stdout\n\(stdout)\n--- stderr\n\(stderr)" }
}

/// A child process with a hard deadline, whose streams one thread moves.
public final class RunningProcess: @unchecked Sendable {
  private let condition = NSCondition()
  private let launch: Launch
  private let deadline: Double
  private let child: SpawnedChild
  private let begun = ProcessInfo.processInfo.systemUptime
  private var output: [UInt8] = []
  private var errors: [UInt8] = []
  private var result: RunResult?

  /// Starts the program.
  ///
  /// - Parameter deadline: seconds after which it is killed.
  public init(_ launch: Launch, deadline: Double) throws {
    self.launch = launch
    self.deadline = deadline
    child = try SpawnedChild(launch)
    Thread.detachNewThread { self.move() }
  }

  /// The process id.
  public var process: Int32 { child.process }

  /// Sends a signal, unless the process has ended.
  public func signal(_ number: Int32) {
    condition.lock()
    defer { condition.unlock() }
    if result == nil { kill(child.process, number) }
  }

  /// Waits until standard output (or, if told so, standard error) holds `text`.
  ///
  /// - Returns: false when the process ended without having written it.
  public func wrote(_ text: String, toErrors: Bool = false) async -> Bool {
    await onThread {
      let wanted = Array(text.utf8)
      self.condition.lock()
      defer { self.condition.unlock() }
      while true {
        let written = toErrors ? self.errors : self.output
        if written.firstRange(of: wanted) != nil { return true }
        if self.result != nil { return false }
        self.condition.wait()
      }
    }
  }

  /// Waits for the end.
  public func finish() async -> RunResult {
    await onThread {
      self.condition.lock()
      defer { self.condition.unlock() }
      while true {
        if let result = self.result { return result }
        self.condition.wait()
      }
    }
  }

  private func onThread<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
    await withCheckedContinuation { continuation in
      Thread.detachNewThread { continuation.resume(returning: body()) }
    }
  }

  private var secondsLeft: Double { begun + deadline - ProcessInfo.processInfo.systemUptime }

  /// Feeds standard input, collects the other two and reaps; runs on its own thread.
  private func move() {
    var ends = child.ends
    var input = launch.input[...]
    if input.isEmpty { drop(&ends[0]) }
    while ends.contains(where: { $0 >= 0 }), secondsLeft > 0, !hasEnded(ends) {
      var entries = ends.enumerated().map { pollfd(descriptor: $1, events: Int16($0 == 0 ? POLLOUT : POLLIN)) }
      poll(&entries, nfds_t(entries.count), 50)
      if entries[0].revents != 0 { feed(&ends[0], &input) }
      for number in 1...2 where entries[number].revents != 0 { collect(number, &ends[number]) }
    }
    finish(SpawnedChild.reap(child.process, until: begun + deadline), &ends)
  }

  /// Whether the child has ended although someone it left behind holds its pipes open.
  private func hasEnded(_ ends: [Int32]) -> Bool {
    var information = siginfo_t()
    let options = WEXITED | WNOHANG | WNOWAIT
    guard waitid(P_PID, id_t(child.process), &information, options) == 0, information.si_signo != 0 else {
      return false
    }
    var entries = ends[1...].map { pollfd(descriptor: $0, events: Int16(POLLIN)) }
    return poll(&entries, nfds_t(entries.count), 0) == 0
  }

  private func feed(_ end: inout Int32, _ input: inout ArraySlice<UInt8>) {
    let count = input.prefix(4096).withUnsafeBytes { write(end, $0.baseAddress, $0.count) }
    if count > 0 { input.removeFirst(count) }
    if count <= 0 || input.isEmpty { drop(&end) }
  }

  private func collect(_ number: Int, _ end: inout Int32) {
    var chunk = [UInt8](repeating: 0, count: 65_536)
    let count = read(end, &chunk, chunk.count)
    if count <= 0 { return drop(&end) }
    condition.lock()
    if number == 1 { output += chunk[..<count] } else { errors += chunk[..<count] }
    condition.broadcast()
    condition.unlock()
  }

  private func drop(_ end: inout Int32) {
    if end >= 0 { close(end) }
    end = -1
  }

  private func finish(_ ending: Ending, _ ends: inout [Int32]) {
    for number in ends.indices { drop(&ends[number]) }
    condition.lock()
    let seconds = ProcessInfo.processInfo.systemUptime - begun
    result = RunResult(output: output, errors: errors, ending: ending, seconds: seconds)
    condition.broadcast()
    condition.unlock()
  }
}
