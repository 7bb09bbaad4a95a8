import CTestShim
import Foundation
import Glibc

/// How a process ended.
public enum Ending: Sendable, Equatable, CustomStringConvertible {
  /// It exited with this status.
  case exited(Int32)
  /// It was ended by this signal.
  case signalled(Int32)
  /// It was still running at the deadline and was killed.
  case deadline

  /// The form test failures print.
  public var description: String {
    switch self {
    case .exited(let status): "exit status \(status)"
    case .signalled(let signal): "signal \(signal)"
    case .deadline: "killed at the deadline"
    }
  }
}

/// Where one of the three standard streams of a child leads.
public enum StandardStream: Sendable {
  /// Written or read by the test.
  case pipe
  /// /dev/null.
  case null
  /// Not open at all, as some daemons leave it.
  case closed
}

/// A program, its arguments and surroundings.
public struct Launch: Sendable {
  /// Path of the program.
  public var program: String
  /// Arguments after the program's name.
  public var arguments: [String]
  /// The whole environment.
  public var environment: [String: String]
  /// Working directory.
  public var directory: String
  /// Bytes for standard input, which is closed after them.
  public var input: [UInt8] = []
  /// Standard input, output and error.
  public var streams: [StandardStream] = [.pipe, .pipe, .pipe]

  /// A program with everything else as the defaults say.
  public init(program: String, arguments: [String], environment: [String: String], directory: String) {
    self.program = program
    self.arguments = arguments
    self.environment = environment
    self.directory = directory
  }
}

/// The kernel's side of a running child: its id and the test's ends of its pipes.
struct SpawnedChild {
  let process: pid_t
  /// Write end of standard input, read ends of output and error; -1 where there is no pipe.
  let ends: [Int32]

  init(_ launch: Launch) throws {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    ctest_spawn_in_directory(&actions, launch.directory)
    var ours: [Int32] = []
    var theirs: [Int32] = []
    for (number, stream) in launch.streams.enumerated() {
      let pair = try SpawnedChild.prepare(stream, Int32(number), &actions)
      ours.append(pair.ours)
      if pair.theirs >= 0 { theirs.append(pair.theirs) }
    }
    defer { theirs.forEach { close($0) } }
    process = try SpawnedChild.spawn(launch, &actions)
    ends = ours
  }

  private static func prepare(
    _ stream: StandardStream, _ number: Int32, _ actions: inout posix_spawn_file_actions_t
  ) throws -> (ours: Int32, theirs: Int32) {
    switch stream {
    case .closed:
      posix_spawn_file_actions_addopen(&actions, number, "/dev/null", O_RDWR, 0)
      posix_spawn_file_actions_addclose(&actions, number)
      return (-1, -1)
    case .null:
      posix_spawn_file_actions_addopen(&actions, number, "/dev/null", O_RDWR, 0)
      return (-1, -1)
    case .pipe:
      var pair: [Int32] = [-1, -1]
      guard ctest_pipe(&pair) == 0 else { throw SystemError("pipe") }
      let (ours, theirs) = number == 0 ? (pair[1], pair[0]) : (pair[0], pair[1])
      posix_spawn_file_actions_adddup2(&actions, theirs, number)
      return (ours, theirs)
    }
  }

  /// - Parameter flags: of posix_spawn, added to those that reset signals.
  static func spawn(
    _ launch: Launch, _ actions: inout posix_spawn_file_actions_t, flags: Int32 = 0
  ) throws -> pid_t {
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var none = sigset_t()
    sigemptyset(&none)
    posix_spawnattr_setsigmask(&attributes, &none)
    var all = sigset_t()
    sigfillset(&all)
    posix_spawnattr_setsigdefault(&attributes, &all)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | flags))
    let arguments = ([launch.program] + launch.arguments).map { strdup($0) } + [nil]
    let environment = launch.environment.map { strdup("\($0.key)=\($0.value)") } + [nil]
    defer { (arguments + environment).forEach { free($0) } }
    var process: pid_t = 0
    let result = posix_spawn(&process, launch.program, &actions, &attributes, arguments, environment)
    guard result == 0 else {
      errno = result
      throw SystemError("posix_spawn \(launch.program)")
    }
    return process
  }
  /// Waits for a process until a time (system uptime), and kills it then.
  static func reap(_ process: pid_t, until end: Double) -> Ending {
    var status: Int32 = 0
    while ProcessInfo.processInfo.systemUptime < end {
      if waitpid(process, &status, WNOHANG) == process { return ending(status) }
      poll(nil, 0, 5)
    }
    kill(process, SIGKILL)
    waitpid(process, &status, 0)
    return .deadline
  }

  private static func ending(_ status: Int32) -> Ending {
    let signal = status & 0x7f
    return signal == 0 ? .exited((status >> 8) & 0xff) : .signalled(signal)
  }
}
