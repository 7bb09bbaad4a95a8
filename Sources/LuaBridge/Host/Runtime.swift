import CLuaShim
import SessionCore

/// Interpreter, scheduler and the native modules, put together.
public final class Runtime {
  public let interpreter: Interpreter
  public let scheduler: Scheduler

  /// - Parameter port: the core, or a fake in tests.
  public init(port: Port) throws {
    let owner = SchedulerReference()
    interpreter = try Interpreter(modules: NativeModules.all(owner))
    scheduler = Scheduler(interpreter: interpreter, port: port)
    owner.scheduler = scheduler
    interpreter.installSignals(wake: port.wakeDescriptor)
  }

  /// Runs a chunk to the end of everything it began.
  /// - Throws: `ScriptError` when it does not compile.
  public func run(_ text: Bytes, name: String) throws -> Scheduler.Ending {
    try scheduler.run(text, name: name)
  }
}

/// Lets modules be listed before the scheduler, which needs the interpreter, exists.
final class SchedulerReference {
  weak var scheduler: Scheduler?
}

/// Every module of the standard library that is written in Swift, by its name for `require`.
enum NativeModules {
  static func all(_ owner: SchedulerReference) -> [String: () -> NativeModule] {
    let stores = StoreRegistry()
    return [
      CoreModule.name: {
        guard let scheduler = owner.scheduler else { return NativeModule(CoreModule.name, functions: []) }
        return CoreModule.make(scheduler, stores)
      },
      PageModule.name: {
        guard let scheduler = owner.scheduler else { return NativeModule(PageModule.name, functions: []) }
        return PageModule.make(scheduler)
      },
      CookieModule.name: CookieModule(stores: stores).make,
      CredentialModule.name: CredentialModule(stores: stores).make,
      URLModule.name: URLModule.make,
      DateModule.name: DateModule.make,
      FileModule.name: FileModule.make,
      PartModule.name: PartModule.make,
      BackgroundModule.name: BackgroundModule.make,
      "httpscript.json": JSONModule.make,
      "httpscript.text": TextModule.make,
      "httpscript.digest": DigestModule.make,
      "httpscript.cache": { CacheModule.make(stores) },
      CertificateModule.name: CertificateModule.make,
      "httpscript.terminal": TerminalModule.make,
      HTMLModule.name: {
        let resolver = ReferenceResolver()
        return HTMLModule.make { resolver.resolve($0, against: $1) }
      },
    ]
  }
}
