import Glibc
import Synchronization

/// A thread that makes the loop turn when something has been typed. It reads nothing: that is for the loop's thread,
/// and only while the dialogue asks; at other times standard input is the script's.
final class InputWatch {
  private let shared: Shared
  private var isArmed = false

  /// - Parameter wake: an eventfd.
  /// - Returns: nil when there is no thread to be had.
  init?(wake: Int32) {
    shared = Shared(wake: wake)
    guard shared.startThread() else { return nil }
  }

  /// The next input writes to the descriptor, once.
  func arm() {
    guard !isArmed else { return }
    isArmed = true
    sem_post(shared.armed)
  }

  /// To be called after the loop was woken.
  func noteFired() {
    if shared.hasFired.exchange(false, ordering: .acquiringAndReleasing) { isArmed = false }
  }

  /// What the thread sees. It lives as long as the process.
  private final class Shared: @unchecked Sendable {
    let armed = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)
    let hasFired = Atomic(false)
    private let wake: Int32

    init(wake: Int32) {
      // Of its own, so that the number means the same when the core has closed its one.
      self.wake = fcntl(wake, F_DUPFD_CLOEXEC, 0)
      sem_init(armed, 0, 0)
    }

    func startThread() -> Bool {
      // Signals are for the thread that runs Lua.
      var all = sigset_t()
      var before = sigset_t()
      sigfillset(&all)
      pthread_sigmask(SIG_SETMASK, &all, &before)
      defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
      var thread = pthread_t()
      let context = Unmanaged.passRetained(self)
      let result = pthread_create(
        &thread, nil,
        { context in
          guard let context else { return nil }
          Unmanaged<Shared>.fromOpaque(context).takeRetainedValue().run()
        }, context.toOpaque())
      guard result == 0 else {
        context.release()
        return false
      }
      pthread_detach(thread)
      return true
    }

    private func run() -> Never {
      while true {
        while sem_wait(armed) != 0 {}
        var entry = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
        while poll(&entry, 1, -1) < 0 {}
        hasFired.store(true, ordering: .releasing)
        var one: UInt64 = 1
        _ = write(wake, &one, 8)
      }
    }
  }
}
