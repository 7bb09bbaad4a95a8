import Glibc

/// libedit's readline-compatible interface, loaded when a dialogue begins: no other run needs it, and without it a
/// dialogue is only less comfortable.
struct EditLine {
  typealias LineHandler = @convention(c) (UnsafeMutablePointer<CChar>?) -> Void
  typealias KeySource = @convention(c) (OpaquePointer?) -> Int32
  typealias Action = @convention(c) () -> Void

  let installHandler: @convention(c) (UnsafePointer<CChar>, LineHandler) -> Void
  let removeHandler: Action
  let readKey: Action
  let addHistory: @convention(c) (UnsafePointer<CChar>) -> Int32
  let forceUpdate: @convention(c) () -> Int32
  let prepareTerminal: @convention(c) (Int32) -> Void
  let releaseTerminal: Action
  let resizeTerminal: Action

  /// - Parameter keys: called for each character; answers its code point, or -1.
  /// - Returns: nil when the library is not there, or not as expected.
  init?(keys: KeySource) {
    guard let library = dlopen("libedit.so.2", RTLD_NOW | RTLD_LOCAL),
      let installHandler = dlsym(library, "rl_callback_handler_install"),
      let removeHandler = dlsym(library, "rl_callback_handler_remove"),
      let readKey = dlsym(library, "rl_callback_read_char"),
      let addHistory = dlsym(library, "add_history"),
      let forceUpdate = dlsym(library, "rl_forced_update_display"),
      let prepareTerminal = dlsym(library, "rl_prep_terminal"),
      let releaseTerminal = dlsym(library, "rl_deprep_terminal"),
      let resizeTerminal = dlsym(library, "rl_resize_terminal"),
      let catchSignals = dlsym(library, "rl_catch_signals"),
      let keySource = dlsym(library, "rl_getc_function"),
      let initialize = dlsym(library, "rl_initialize"),
      let bindKey = dlsym(library, "rl_bind_key"),
      let insert = dlsym(library, "rl_insert")
    else { return nil }
    self.installHandler = Self.function(installHandler)
    self.removeHandler = Self.function(removeHandler)
    self.readKey = Self.function(readKey)
    self.addHistory = Self.function(addHistory)
    self.forceUpdate = Self.function(forceUpdate)
    self.prepareTerminal = Self.function(prepareTerminal)
    self.releaseTerminal = Self.function(releaseTerminal)
    self.resizeTerminal = Self.function(resizeTerminal)
    catchSignals.storeBytes(of: 0, as: Int32.self)
    keySource.storeBytes(of: unsafeBitCast(keys, to: UnsafeRawPointer.self), as: UnsafeRawPointer.self)
    let start: @convention(c) () -> Int32 = Self.function(initialize)
    guard start() == 0 else { return nil }
    // A tab is text here: by default it would complete file names.
    let bind: @convention(c) (Int32, UnsafeRawPointer) -> Int32 = Self.function(bindKey)
    _ = bind(Int32(UInt8(ascii: "\t")), insert)
  }

  private static func function<Function>(_ symbol: UnsafeMutableRawPointer) -> Function {
    unsafeBitCast(symbol, to: Function.self)
  }
}
