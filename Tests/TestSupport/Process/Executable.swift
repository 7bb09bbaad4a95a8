import Foundation

/// The product under test, started as a user would start it.
public struct Executable: Sendable {
  /// The program text.
  public enum Script: Sendable {
    /// Written to a file in the run's own directory and named on the command line.
    case file(String)
    /// Given with -e.
    case text(String)
    /// No script: the arguments are the whole command line.
    case none
  }

  /// What to run.
  public var script: Script
  /// Options in front of the script.
  public var options: [String] = []
  /// Arguments after the script.
  public var arguments: [String] = []
  /// Variables added to, or replacing those of, the default environment.
  public var environment: [String: String] = [:]
  /// The default environment: nothing but a path, a home and a UTF-8 locale.
  public var usesBareEnvironment = false
  /// Standard input.
  public var input: [UInt8] = []
  /// Standard input, output and error.
  public var streams: [StandardStream] = [.pipe, .pipe, .pipe]
  /// Working directory; nil is the run's own temporary one.
  public var directory: String?
  /// Seconds after which the process is killed and the run counts as hung.
  public var deadline: Double = 30
  /// How many of the shared process slots it takes.
  public var weight = 1

  /// A run of a script with everything else as the defaults say.
  public init(_ script: Script, arguments: [String] = []) {
    self.script = script
    self.arguments = arguments
  }

  /// Path of the executable: HTTPSCRIPT_BIN, else the one built beside the tests.
  public static let path: String = {
    if let path = ProcessInfo.processInfo.environment["HTTPSCRIPT_BIN"], !path.isEmpty { return path }
    let tests = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
    return URL(fileURLWithPath: tests).deletingLastPathComponent().appendingPathComponent("httpscript").path
  }()

  /// Starts the process; the caller holds no process slot.
  public func start() throws -> RunningScript {
    let home = try TemporaryDirectory()
    var launch = Launch(
      program: Executable.path, arguments: try commandLine(home), environment: surroundings(home),
      directory: directory ?? home.path)
    launch.input = input
    launch.streams = streams
    return RunningScript(process: try RunningProcess(launch, deadline: deadline), home: home)
  }

  /// Runs to the end, within the shared process slots.
  public func run() async throws -> RunResult {
    await ProcessSlots.shared.take(weight)
    do {
      let running = try start()
      let result = await running.finish()
      await ProcessSlots.shared.give(weight)
      return result
    } catch {
      await ProcessSlots.shared.give(weight)
      throw error
    }
  }

  /// Runs it on a terminal, within the shared process slots, and lets `body` be the person there, on a thread of its
  /// own. What is still running then is killed.
  public func onTerminal<Value: Sendable>(
    _ body: @escaping @Sendable (TerminalProcess, TemporaryDirectory) throws -> Value
  ) async throws -> Value {
    await ProcessSlots.shared.take(weight)
    let result = await withCheckedContinuation { continuation in
      Thread.detachNewThread { continuation.resume(returning: Result { try typeOnTerminal(body) }) }
    }
    await ProcessSlots.shared.give(weight)
    return try result.get()
  }

  private func typeOnTerminal<Value>(
    _ body: (TerminalProcess, TemporaryDirectory) throws -> Value
  ) throws -> Value {
    let home = try TemporaryDirectory()
    let launch = Launch(
      program: Executable.path, arguments: try commandLine(home), environment: surroundings(home),
      directory: directory ?? home.path)
    return try body(TerminalProcess(launch, deadline: deadline), home)
  }

  private func commandLine(_ home: TemporaryDirectory) throws -> [String] {
    switch script {
    case .file(let text): options + [try home.write("script.lua", Array(text.utf8))] + arguments
    case .text(let text): options + ["-e", text] + arguments
    case .none: options + arguments
    }
  }

  private func surroundings(_ home: TemporaryDirectory) -> [String: String] {
    if usesBareEnvironment { return environment }
    let standard = [
      "PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": home.path, "LANG": "C.UTF-8", "LC_ALL": "C.UTF-8",
      "TMPDIR": home.path, "XDG_STATE_HOME": home.path + "/state", "XDG_CACHE_HOME": home.path + "/cache",
    ]
    return standard.merging(environment) { $1 }
  }
}

/// A script in flight, with the directory that goes when it is forgotten.
public struct RunningScript: Sendable {
  /// The process.
  public let process: RunningProcess
  /// Its home, temporary and default working directory.
  public let home: TemporaryDirectory

  /// Sends a signal.
  public func signal(_ number: Int32) { process.signal(number) }

  /// Waits until it has written `text`.
  public func wrote(_ text: String, toErrors: Bool = false) async -> Bool {
    await process.wrote(text, toErrors: toErrors)
  }

  /// Waits for the end.
  public func finish() async -> RunResult {
    let result = await process.finish()
    return withExtendedLifetime(home) { result }
  }
}
