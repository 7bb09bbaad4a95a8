import CLuaShim
import SessionCore
import Stdlib

/// One Lua state and what Swift may do with it: run fibers, dispatch events, open modules.
public final class Interpreter {
  /// How a fiber's turn ended.
  public enum Turn: Equatable {
    case finished
    /// Waits for something the scheduler will be told of.
    case parked
    /// The script's own `coroutine.yield`: resumed at the next turn of the loop.
    case yielded
    /// A server that waits for the next event.
    case idle
    case failed(String)
  }

  /// There was no memory for a Lua state.
  public struct CreationError: Error {}

  private var runtime: OpaquePointer
  private var boxes: [HostFunctionBox] = []
  private var modules: [String: () -> NativeModule]
  /// Called when Lua code made a fiber, with its registry reference.
  var onFiber: (Int32) -> Void = { _ in }
  /// Called when the script ends the process by os.exit.
  var onExit: () -> Void = {}

  /// - Parameter modules: native modules by the name `require` takes; made when first required.
  public init(modules: [String: () -> NativeModule]) throws {
    self.modules = modules
    // The shim keeps the pointer to self only as long as the state, which deinit closes first.
    runtime = OpaquePointer(bitPattern: 1).unsafelyUnwrapped
    var callbacks = clua_callbacks()
    callbacks.context = Unmanaged.passUnretained(self).toOpaque()
    callbacks.fiber_created = { context, reference in
      guard let context else { return }
      Interpreter.at(context).onFiber(reference)
    }
    callbacks.object_released = { _, _, object in
      guard let object else { return }
      Unmanaged<AnyObject>.fromOpaque(object).release()
    }
    callbacks.exiting = { context in
      guard let context else { return }
      Interpreter.at(context).onExit()
    }
    callbacks.find_module = { _, name, chunk, length in
      stdlib_find(name, clua_lua_ident(), chunk, length)
    }
    callbacks.open_native = { context, name, module in
      guard let context, let name else { return false }
      return Interpreter.at(context).openNative(String(cString: name), into: module)
    }
    guard let created = clua_create(callbacks) else { throw CreationError() }
    runtime = created
  }

  deinit { if runtime != OpaquePointer(bitPattern: 1) { clua_destroy(runtime) } }

  /// Adds a native module that the embedding program brings along.
  public func provide(_ name: String, _ make: @escaping () -> NativeModule) { modules[name] = make }

  private static func at(_ context: UnsafeMutableRawPointer) -> Interpreter {
    Unmanaged<Interpreter>.fromOpaque(context).takeUnretainedValue()
  }

  private func openNative(_ name: String, into module: OpaquePointer?) -> Bool {
    guard let make = modules[name] else { return false }
    if let module { make().open(module, interpreter: self) }
    return true
  }

  /// A C context for a host function, kept as long as the interpreter.
  func context(for body: @escaping (HostCall) -> Outcome) -> UnsafeMutableRawPointer {
    let box = HostFunctionBox(body: body, interpreter: self)
    boxes.append(box)
    return Unmanaged.passUnretained(box).toOpaque()
  }

  /// Where results and event values are staged.
  public var outbox: Outbox { Outbox(pointer: clua_outbox_of(runtime)) }

  /// Compiles a chunk and makes it a fiber.
  /// - Throws: `ScriptError` with Lua's message.
  func loadMain(_ text: Bytes, name: String) throws -> Int32 {
    let reference = withExtendedLifetime(text) { clua_load_main(runtime, text.base, text.count, name) }
    guard reference >= 0 else { throw ScriptError(message: errorText) }
    return reference
  }

  /// - Parameter start: the outbox values from there on are what the fiber's wait returns; none by default.
  func resume(_ reference: Int32, valuesFrom start: Int? = nil) -> Turn {
    turn(clua_resume(runtime, reference, start ?? outbox.position))
  }

  private func turn(_ status: Int32) -> Turn {
    switch UInt32(status) {
    case CLUA_PARKED.rawValue: .parked
    case CLUA_YIELDED.rawValue: .yielded
    case CLUA_IDLE.rawValue: .idle
    case CLUA_FAILED.rawValue: .failed(errorText)
    default: .finished
    }
  }

  /// Makes a server: a fiber that events are delivered to, whose handlers may wait. Nil without memory.
  func makeServer() -> Int? {
    let reference = clua_make_server(runtime)
    return reference >= 0 ? Int(reference) : nil
  }

  /// Has an idle server handle the event that was appended to the outbox from `start` on. Nil without memory for it.
  func deliver(to server: Int, from start: Int) -> Turn? {
    var isTaken = false
    let status = clua_deliver(runtime, Int32(truncatingIfNeeded: server), start, &isTaken)
    return isTaken ? turn(status) : nil
  }

  /// The number of the fiber that runs now.
  public var currentFiber: Int { Int(clua_current_fiber(runtime)) }

  func discard(_ reference: Int32) { clua_discard(runtime, reference) }

  /// Calls the dispatcher with what was appended to the outbox from `start` on.
  /// - Throws: `ScriptError` when the dispatcher itself failed.
  func dispatch(from start: Int) throws {
    if UInt32(clua_dispatch(runtime, start)) == CLUA_FAILED.rawValue { throw ScriptError(message: errorText) }
  }

  /// Sets the global `arg`; `arguments` must stay valid as long as the interpreter.
  public func setArguments(_ arguments: UnsafePointer<UnsafePointer<CChar>?>, count: Int, scriptIndex: Int) -> Bool {
    clua_set_arguments(runtime, arguments, Int32(count), Int32(scriptIndex))
  }

  /// Lets `require` look in a directory too, behind all others.
  public func addModules(in directory: String) -> Bool {
    // These bytes mean something in a path's templates.
    guard !directory.utf8.contains(where: { $0 == UInt8(ascii: ";") || $0 == UInt8(ascii: "?") }) else { return true }
    return clua_add_package_path(runtime, "\(directory)/?.lua;\(directory)/?/init.lua")
  }

  private var errorText: String {
    var length = 0
    guard let text = clua_error_text(runtime, &length) else { return "unknown error" }
    return String(decoding: UnsafeRawBufferPointer(start: text, count: length), as: UTF8.self)
  }

  func installSignals(wake descriptor: Int32) { clua_install_signals(runtime, descriptor) }
  /// Ends the process's time after so many seconds, even while Lua code runs: a signal of its own kind.
  public func setAlarm(seconds: Double) { clua_set_alarm(seconds) }
  /// Ends the process after so many seconds, whatever Lua code does.
  func setDeadline(seconds: Double) { clua_set_deadline(seconds) }
  /// The exit status that a signal asks for.
  static func status(ofSignal number: Int32) -> Int32 { clua_signal_status(number) }
  var pendingSignal: Int32 { clua_pending_signal(runtime) }
  /// Forgets the pending signal, so that the next one is a first one again.
  func takeSignal() { _ = clua_take_signal(runtime) }

  /// Bytes that Lua uses.
  public var memory: Int { Int(clua_memory(runtime)) }
  /// Swift objects that Lua holds.
  public var liveObjects: Int { Int(clua_objects(runtime)) }
  /// Registry references that this layer holds.
  public var references: Int { Int(clua_references(runtime)) }
  /// A full collection.
  public func collect() { clua_collect(runtime) }
}

/// A Lua error that reached the host: message and traceback.
public struct ScriptError: Error, Equatable {
  public let message: String
}
