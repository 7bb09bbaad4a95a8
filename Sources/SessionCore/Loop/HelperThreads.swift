import Glibc

/// Something that takes long and touches nothing of anybody else's until it is done.
public protocol HelperWork: AnyObject, Sendable {
  /// Called once, on a helper thread.
  func run()
}

/// A few threads for what blocks or takes long: making files durable, reading them, asking programs and the resolver,
/// reading pages. Jobs go out with a number, mostly a task's, and come back with errno or what was asked for.
final class HelperThreads {
  struct Job: Sendable {
    let task: Int
    /// What to do, given as values, so that nothing of the loop's is touched from the thread.
    let work: Work
    var result: Int32 = 0
    /// What the resolver answered.
    var records: [UInt8] = []
    /// What a program answered.
    var answer: Result<Credential, CredentialCommand.Failure>?
    /// What the keyring had; nil where it would not.
    var entries: [CredentialStorage.Entry]?
  }

  enum Work: Sendable {
    /// fsync of a descriptor that stays open until the job is back.
    case sync(descriptor: Int32)
    /// fsync of the directory that holds a path.
    case syncDirectory(path: String)
    /// The DNS answer about a service.
    case findService(name: String)
    /// Reads the first bytes of a file into digests, which nobody else uses until the job is back.
    case read(descriptor: Int32, length: Int, into: [Digester])
    /// Runs a program that knows credentials.
    case ask(CredentialCommand, ProtectionSpace)
    /// What the layer above wants done.
    case perform(any HelperWork)
    /// Asks the keyring, or tells it something.
    case keyring(Keyring.Work)
  }

  private let shared: Shared
  private var threadCount = 0
  private var outstanding = 0
  private let threadLimit: Int

  /// - Parameter limit: How many threads; with one, jobs are done in order.
  init(poller: Poller, limit: Int = 4) {
    threadLimit = limit
    shared = Shared(wakeDescriptor: poller.wakeDescriptor)
  }

  deinit { shared.stop() }

  func submit(_ job: Job) {
    outstanding += 1
    if threadCount < min(outstanding, threadLimit), shared.startThread() { threadCount += 1 }
    guard threadCount > 0 else {
      // No thread is to be had: better late than never.
      shared.finish(Shared.perform(job))
      return
    }
    shared.push(job)
  }

  /// What has been done since the last call.
  func finished() -> [Job] {
    guard outstanding > 0 else { return [] }
    let jobs = shared.takeFinished()
    outstanding -= jobs.count
    return jobs
  }

  /// What the threads see; everything in it is under the mutex.
  private final class Shared: @unchecked Sendable {
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    private var waiting: [Job] = []
    private var done: [Job] = []
    private var isStopping = false
    private let wakeDescriptor: Int32

    init(wakeDescriptor: Int32) {
      self.wakeDescriptor = dup(wakeDescriptor)
      pthread_mutex_init(mutex, nil)
      pthread_cond_init(condition, nil)
    }

    deinit {
      close(wakeDescriptor)
      pthread_mutex_destroy(mutex)
      pthread_cond_destroy(condition)
      mutex.deallocate()
      condition.deallocate()
    }

    func startThread() -> Bool {
      var thread = pthread_t()
      let context = Unmanaged.passRetained(self)
      let result = pthread_create(
        &thread, nil,
        { context in
          guard let context else { return nil }
          Unmanaged<Shared>.fromOpaque(context).takeRetainedValue().run()
          return nil
        }, context.toOpaque())
      guard result == 0 else {
        context.release()
        return false
      }
      pthread_detach(thread)
      return true
    }

    func push(_ job: Job) {
      locked { waiting.append(job) }
      pthread_cond_signal(condition)
    }

    func finish(_ job: Job) {
      locked { done.append(job) }
      var one: UInt64 = 1
      _ = write(wakeDescriptor, &one, 8)
    }

    func takeFinished() -> [Job] {
      locked {
        defer { done.removeAll(keepingCapacity: true) }
        return done
      }
    }

    func stop() {
      locked { isStopping = true }
      pthread_cond_broadcast(condition)
    }

    private func run() {
      while let job = next() { finish(Self.perform(job)) }
    }

    private func next() -> Job? {
      locked {
        while waiting.isEmpty, !isStopping { pthread_cond_wait(condition, mutex) }
        return waiting.isEmpty ? nil : waiting.removeFirst()
      }
    }

    static func perform(_ job: Job) -> Job {
      var job = job
      switch job.work {
      case .sync(let descriptor): job.result = fsync(descriptor) == 0 ? 0 : errno
      case .syncDirectory(let path): FileSink.syncDirectory(of: path)
      case .findService(let name): job.records = ServiceLookup.query(name)
      case .read(let descriptor, let length, let digesters): job.result = read(descriptor, length, digesters)
      case .ask(let command, let space): job.answer = command.run(for: space)
      case .perform(let work): work.run()
      case .keyring(let work): job.entries = Keyring.perform(work)
      }
      return job
    }

    /// errno; EIO for a file that is too short.
    private static func read(_ descriptor: Int32, _ length: Int, _ digesters: [Digester]) -> Int32 {
      let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 256 * 1024, alignment: 64)
      defer { buffer.deallocate() }
      var offset = 0
      while offset < length {
        let count = pread(descriptor, buffer.baseAddress, min(buffer.count, length - offset), off_t(offset))
        if count < 0, errno == EINTR { continue }
        guard count > 0 else { return count < 0 ? errno : EIO }
        for digester in digesters { digester.update(UnsafeRawBufferPointer(rebasing: buffer[..<count])) }
        offset += count
      }
      return 0
    }

    private func locked<Result>(_ body: () -> Result) -> Result {
      pthread_mutex_lock(mutex)
      defer { pthread_mutex_unlock(mutex) }
      return body()
    }
  }
}
