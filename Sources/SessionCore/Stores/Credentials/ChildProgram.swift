import CCurlShim
import Glibc
import Synchronization

/// A program that is given a text and writes one, with a limit on its time.
enum ChildProgram {
  /// Those that have not ended.
  private static let running = Mutex<Set<pid_t>>([])

  /// The process is about to end: so must they.
  static func killAll() {
    running.withLock { running in for process in running { kill(-process, SIGKILL) } }
  }

  /// A program that writes more gives no credential, and may have no end.
  private static let outputLimit = 64 << 10

  /// Runs it to its end. It and what it starts are a process group of their own, which is killed when time is up, and
  /// when it writes too much.
  static func run(
    _ arguments: [String], input: [UInt8], timeout: Double
  ) -> Result<[UInt8], CredentialCommand.Failure> {
    guard let channel = Channel() else { return .failure(.cannotStart(EMFILE)) }
    var process: pid_t = 0
    let problem = spawn(arguments, channel, &process)
    channel.closeTheirs()
    guard problem == 0 else { return .failure(.cannotStart(problem)) }
    running.withLock { _ = $0.insert(process) }
    let deadline = MonotonicClock.now + timeout
    channel.write(input)
    switch channel.readAll(limit: outputLimit, until: deadline) {
    case .success(let output):
      guard let status = wait(for: process, until: deadline) else { return end(process, .timedOut) }
      return status == 0 ? .success(output) : .failure(.status(status))
    case .failure(let failure): return end(process, failure)
    }
  }

  private static func end(
    _ process: pid_t, _ failure: CredentialCommand.Failure
  ) -> Result<[UInt8], CredentialCommand.Failure> {
    kill(-process, SIGKILL)
    _ = wait(for: process, until: .infinity)
    return .failure(failure)
  }

  private static func spawn(_ arguments: [String], _ channel: Channel, _ process: inout pid_t) -> Int32 {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_adddup2(&actions, channel.theirs, 0)
    posix_spawn_file_actions_adddup2(&actions, channel.theirs, 1)
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    // Signals as a program expects them at its start, whatever this process does with them.
    var none = sigset_t()
    var all = sigset_t()
    sigemptyset(&none)
    sigfillset(&all)
    posix_spawnattr_setsigmask(&attributes, &none)
    posix_spawnattr_setsigdefault(&attributes, &all)
    posix_spawnattr_setpgroup(&attributes, 0)
    posix_spawnattr_setflags(
      &attributes, Int16(POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
    var words: [UnsafeMutablePointer<CChar>?] = arguments.map { strdup($0) } + [nil]
    defer { words.forEach { free($0) } }
    guard let program = words.first ?? nil else { return ENOENT }
    return posix_spawnp(&process, program, &actions, &attributes, &words, hs_environment())
  }

  /// The exit status (128 and the signal's number for one that was killed); nil when it is still running then.
  private static func wait(for process: pid_t, until deadline: Double) -> Int32? {
    var status: Int32 = 0
    while true {
      // A number is free for another process as soon as its end has been seen.
      let ended = running.withLock { running in
        let ended = waitpid(process, &status, WNOHANG)
        if ended == process { running.remove(process) }
        return ended
      }
      if ended == process { break }
      if ended < 0, errno != EINTR { return 127 }
      if ended == 0 {
        guard MonotonicClock.now < deadline else { return nil }
        usleep(2000)
      }
    }
    return status & 0x7F == 0 ? (status >> 8) & 0xFF : 128 + (status & 0x7F)
  }
}

/// A pair of connected sockets that other programs do not inherit: a pipe, but writing where nobody reads raises no
/// signal.
private final class Channel {
  private(set) var ours: Int32
  private(set) var theirs: Int32

  init?() {
    var ends: [Int32] = [-1, -1]
    // SOCK_STREAM and SOCK_CLOEXEC
    guard socketpair(AF_UNIX, 1 | 0o2000000, 0, &ends) == 0 else { return nil }
    ours = ends[0]
    theirs = ends[1]
  }

  deinit {
    closeTheirs()
    close(ours)
  }

  func closeTheirs() {
    if theirs >= 0 { close(theirs) }
    theirs = -1
  }

  /// Writes what fits; a question does.
  func write(_ bytes: [UInt8]) {
    _ = send(ours, bytes, bytes.count, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT))
    shutdown(ours, Int32(SHUT_WR))
  }

  /// Everything up to the end of the text, which has to come in time and within the limit.
  func readAll(limit: Int, until deadline: Double) -> Result<[UInt8], CredentialCommand.Failure> {
    var bytes: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 4096)
    while true {
      let left = deadline - MonotonicClock.now
      guard left > 0 else { return .failure(.timedOut) }
      var entry = pollfd(fd: ours, events: Int16(POLLIN), revents: 0)
      guard poll(&entry, 1, Int32(min(left * 1000 + 1, 60_000))) > 0 else { continue }
      let count = read(ours, &piece, piece.count)
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return .success(bytes) }
      guard bytes.count + count <= limit else { return .failure(.tooMuch) }
      bytes += piece[..<count]
    }
  }
}
