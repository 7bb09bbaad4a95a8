import CCurlShim
import Glibc

/// epoll, with registrations merged lazily: what libcurl wants of a descriptor is noted, and the kernel is told only
/// before it is asked to wait. A connection that goes idle keeps its registration, so that sequential requests on
/// one connection cost no `epoll_ctl` at all.
///
/// Sockets are opened and closed through it (`CURLOPT_OPENSOCKETFUNCTION`), so that it knows when a number begins to
/// mean another file. Descriptors that libcurl makes by itself (the resolver's pair) are unregistered at once.
final class Poller {
  private struct Watch {
    var owner: Int32 = -1
    var wanted: UInt8 = 0
    var registered: UInt8 = 0
    var isConnection = false
    var isDirty = false
    /// A stream has taken over this connection of libcurl's.
    var isTaken = false
    /// libcurl has had its last word about it.
    var isLeft = false
    /// Which of libcurl's handles it was wanted for last, and when.
    var user: UnsafeMutableRawPointer?
    var stamp = 0
  }

  let wakeDescriptor: Int32
  private let poller: Int32
  private var watches: UnsafeMutablePointer<Watch>
  private var watchCapacity: Int
  private var dirty: [Int32] = []
  private var stamps = 0
  private let ready: UnsafeMutablePointer<hs_ready>
  private static let batch = 256

  init() {
    poller = hs_epoll_create()
    wakeDescriptor = eventfd(0, Int32(EFD_NONBLOCK | EFD_CLOEXEC))
    watchCapacity = 256
    watches = .allocate(capacity: watchCapacity)
    watches.initialize(repeating: Watch(), count: watchCapacity)
    ready = .allocate(capacity: Poller.batch)
    ready.initialize(repeating: hs_ready(), count: Poller.batch)
    hs_epoll_add(poller, wakeDescriptor, HS_READABLE)
  }

  deinit {
    close(poller)
    close(wakeDescriptor)
    watches.deallocate()
    ready.deallocate()
  }

  /// Notes what libcurl wants to hear of a descriptor; `events` 0 is nothing any more. `user`: the handle it is for.
  func want(_ descriptor: Int32, events: UInt8, owner: Int32, user: UnsafeMutableRawPointer?) {
    grow(for: descriptor)
    let watch = watches + Int(descriptor)
    if watch.pointee.isTaken { return }
    if events != 0 {
      stamps += 1
      watch.pointee.user = user
      watch.pointee.stamp = stamps
    }
    want(descriptor, events: events, owner: owner)
  }

  /// The same for who has taken a connection over.
  func want(_ descriptor: Int32, events: UInt8, owner: Int32) {
    grow(for: descriptor)
    let watch = watches + Int(descriptor)
    watch.pointee.owner = owner
    watch.pointee.wanted = events
    if events == 0 && !watch.pointee.isConnection { return unregister(descriptor) }
    if events != 0 && events != watch.pointee.registered && !watch.pointee.isDirty {
      watch.pointee.isDirty = true
      dirty.append(descriptor)
    }
  }

  /// A connection's socket has been opened: whatever its number was registered for is history.
  func opened(_ descriptor: Int32) {
    guard descriptor >= 0 else { return }
    grow(for: descriptor)
    watches[Int(descriptor)].registered = 0
    watches[Int(descriptor)].wanted = 0
    watches[Int(descriptor)].isConnection = true
    watches[Int(descriptor)].user = nil
  }

  /// The connection that one of libcurl's handles uses.
  func descriptor(of user: UnsafeMutableRawPointer) -> Int32? {
    let used = (0..<watchCapacity).filter { watches[$0].isConnection && watches[$0].user == user }
    return used.max { watches[$0].stamp < watches[$1].stamp }.map { Int32($0) }
  }

  /// Takes a connection over: what libcurl wants of it counts no more, and it stays open until it is given back.
  func take(_ descriptor: Int32) {
    grow(for: descriptor)
    unregister(descriptor)
    watches[Int(descriptor)].isTaken = true
  }

  /// Ends that: libcurl may close the connection. If it has wanted to already, it is closed now.
  func giveBack(_ descriptor: Int32) {
    let watch = watches + Int(descriptor)
    watch.pointee.isTaken = false
    watch.pointee.wanted = 0
    unregister(descriptor)
    guard watch.pointee.isLeft else { return }
    watch.pointee.isLeft = false
    _ = closeSocket(descriptor)
  }

  /// Closes a connection's socket; the kernel forgets its registration with it.
  func closeSocket(_ descriptor: Int32) -> Int32 {
    grow(for: descriptor)
    if watches[Int(descriptor)].isTaken {
      watches[Int(descriptor)].isLeft = true
      return 0
    }
    watches[Int(descriptor)].user = nil
    watches[Int(descriptor)].registered = 0
    watches[Int(descriptor)].wanted = 0
    watches[Int(descriptor)].isConnection = false
    return close(descriptor)
  }

  /// Waits at most `timeout` milliseconds (-1: for ever) and tells each ready descriptor with its owner.
  /// True when the wake descriptor was written to.
  func wait(timeout: Int32, _ report: (_ descriptor: Int32, _ owner: Int32, _ events: UInt8) -> Void) -> Bool {
    flush()
    var woken = false
    let count = hs_epoll_wait(poller, ready, Int32(Poller.batch), timeout)
    guard count > 0 else { return false }
    for index in 0..<Int(count) {
      let descriptor = ready[index].descriptor
      if descriptor == wakeDescriptor {
        drainWake()
        woken = true
        continue
      }
      let watch = watches[Int(descriptor)]
      if watch.wanted == 0 {
        unregister(descriptor)
      } else {
        report(descriptor, watch.owner, UInt8(truncatingIfNeeded: ready[index].events))
      }
    }
    return woken
  }

  /// Makes `wait` return, from any thread.
  func wake() {
    var one: UInt64 = 1
    _ = write(wakeDescriptor, &one, 8)
  }

  private func drainWake() {
    var value: UInt64 = 0
    _ = read(wakeDescriptor, &value, 8)
  }

  private func flush() {
    for descriptor in dirty {
      let watch = watches + Int(descriptor)
      watch.pointee.isDirty = false
      let wanted = watch.pointee.wanted
      guard wanted != 0, wanted != watch.pointee.registered else { continue }
      register(descriptor, wanted, isNew: watch.pointee.registered == 0)
      watch.pointee.registered = wanted
    }
    dirty.removeAll(keepingCapacity: true)
  }

  private func register(_ descriptor: Int32, _ events: UInt8, isNew: Bool) {
    let result =
      isNew
      ? hs_epoll_add(poller, descriptor, UInt32(events)) : hs_epoll_modify(poller, descriptor, UInt32(events))
    guard result != 0 else { return }
    if errno == EEXIST {
      hs_epoll_modify(poller, descriptor, UInt32(events))
    } else if errno == ENOENT {
      hs_epoll_add(poller, descriptor, UInt32(events))
    }
  }

  private func unregister(_ descriptor: Int32) {
    let watch = watches + Int(descriptor)
    guard watch.pointee.registered != 0 else { return }
    watch.pointee.registered = 0
    hs_epoll_remove(poller, descriptor)
  }

  private func grow(for descriptor: Int32) {
    guard Int(descriptor) >= watchCapacity else { return }
    let capacity = max(Int(descriptor) + 1, watchCapacity * 2)
    let grown = UnsafeMutablePointer<Watch>.allocate(capacity: capacity)
    grown.moveInitialize(from: watches, count: watchCapacity)
    (grown + watchCapacity).initialize(repeating: Watch(), count: capacity - watchCapacity)
    watches.deallocate()
    watches = grown
    watchCapacity = capacity
  }
}
