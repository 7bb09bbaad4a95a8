/// The door between the core and the layer above: commands and tasks down, events up, values both ways.
///
/// The bridge is written against this protocol, so that it can be tested with a fake; `SessionCore` is the real one.
public protocol Port: AnyObject {
  /// Hands a command down. Returns at once; never calls back.
  func submit(_ command: Command)

  /// Begins a task: it is queued for its host and starts as soon as the session's limits allow. As with `submit`, what
  /// goes wrong is an event. (It is no `Command`, as tasks are many, and a command is as large as the largest.)
  func start(_ task: TaskID, in session: SessionID, _ request: TaskRequest)

  /// Runs transfers until there are events, the deadline (seconds of `MonotonicClock`) has passed, or the wake
  /// descriptor was written to. Appends to `events`, and leaves it as it was when there is nothing to tell.
  /// A deadline in the past polls once. `nil` waits for ever, and must only be given while tasks are outstanding
  /// or a wake can come.
  func wait(until deadline: Double?, into events: inout [Event])

  /// There is something under way that no task waits for and that ends soon by itself: a stored response that is being
  /// brought up to date.
  var isBusyInBackground: Bool { get }

  /// An eventfd. Writing eight bytes to it (which a signal handler may) makes `wait` return.
  var wakeDescriptor: Int32 { get }

  /// Ends all transfers without a word and removes their partial files and the downloads that nobody has moved: the
  /// process is about to end.
  func abandon()
}
